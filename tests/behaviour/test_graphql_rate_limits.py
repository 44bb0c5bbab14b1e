"""Rate limits of /graphql and of every other path of the API."""

import json
from io import BytesIO
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from contentapi.core.identity import Role
from contentapi.rate_limits import account as account_module
from contentapi.rate_limits.account import COUNTERS
from contentapi.urls import endpoint
from tests.behaviour.rate_limits import HELLO, WRITE, read_remaining_units, set_limits
from tests.conftest import GraphQL, make_api_key
from tests.factories import get_user, make_actor
from tests.graphql_requests import GraphQLResponse, PostToGraphQL, build_error_entry
from users.tokens import issue_token

pytestmark = pytest.mark.django_db


def test_response_states_the_remaining_limit(gql: GraphQL) -> None:
    responses = [gql("{ __typename }") for _ in range(2)]

    assert [read_remaining_units(response) for response in responses] == [{"anonymous": 299}, {"anonymous": 298}]
    assert responses[0].headers["RateLimit-Policy"] == '"anonymous";q=300;w=60'
    assert "Retry-After" not in responses[0].headers


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        ({"query": "{"}, {}, 400),
        ({"query": "{ nothing }"}, {}, 400),
        (HELLO, {"Accept": "text/html"}, 406),
        (HELLO, {"X_API_Key": "no key"}, 401),
        (HELLO, {"X_API_Key": "no key", "Authorization": "Bearer x"}, 400),
        ({"query": WRITE}, {}, 401),
    ],
)
def test_failed_request_is_charged_to_the_address(post: PostToGraphQL, body: Any, headers: Any, status: int) -> None:
    response = post(body, **headers)

    assert response.status == status
    assert read_remaining_units(response) == {"anonymous": 299}


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_other_method_is_charged(client: Client, method: str) -> None:
    assert read_remaining_units(GraphQLResponse(client.generic(method, "/graphql"))) == {"anonymous": 299}


def test_options_is_charged(client: Client) -> None:
    assert client.options("/graphql").headers["RateLimit"].startswith('"anonymous";r=299;')


def test_query_by_get_is_charged_by_its_cost(client: Client) -> None:
    query = "{ posts(limit: 100) { comments { id } } }"  # costs 10,100

    response = GraphQLResponse(client.get("/graphql", {"query": query}))

    assert read_remaining_units(response) == {"anonymous": 289}


def test_500_states_the_remaining_limit(post: PostToGraphQL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contentapi.graphql.endpoint.read_body", lambda _: 1 / 0)

    response = post(HELLO)

    assert (response.status, read_remaining_units(response)) == (500, {"anonymous": 299})


def test_request_over_the_limit_is_429_with_retry_after(post: PostToGraphQL, settings: Settings) -> None:
    set_limits(settings, anonymous="2/minute")
    assert [post(HELLO).status for _ in range(2)] == [200, 200]

    response = post(HELLO)

    message = 'The limit "anonymous" of 2/minute (CONTENTAPI_RATE_ANONYMOUS) is used up. Try again in 60 seconds.'
    assert (response.status, response.body) == (
        429,
        {"errors": [build_error_entry(response, "RATE_LIMITED", 429, message)]},
    )
    assert response.headers["Retry-After"] == "60"
    assert response.headers["RateLimit"] == '"anonymous";r=0;t=60'


def test_body_over_the_rate_limit_is_not_read(post: PostToGraphQL, settings: Settings) -> None:
    set_limits(settings, anonymous="1/minute")
    post(HELLO)

    assert [post(b"{").status, post({"query": "{"}).status, post(HELLO, "text/plain").status] == [429] * 3


def test_request_is_charged_by_its_cost(gql: GraphQL) -> None:
    responses = [
        gql("{ posts(limit: 9) { comments { id } } }"),  # 909
        gql("{ posts(limit: 10) { comments { id } } }"),  # 1010
        gql("{ posts(limit: 100) { comments { author { id } } author { id } } }"),  # 20200
    ]

    assert [read_remaining_units(response)["anonymous"] for response in responses] == [299, 297, 276]


def test_operation_over_the_cost_limit_is_charged_one_unit(gql: GraphQL) -> None:
    response = gql("{ posts(limit: 100) { comments { author { posts { id } } } } }")

    assert (response.codes, read_remaining_units(response)) == (["LIMIT_EXCEEDED"], {"anonymous": 299})


def test_expensive_request_is_refused_while_a_cheap_one_is_accepted(gql: GraphQL, settings: Settings) -> None:
    set_limits(settings, anonymous="5/minute")
    gql("{ __typename }")

    dear = gql("{ posts(limit: 50) { comments { id } } }")  # 5050, which takes 6 and is cut to the whole limit

    assert (dear.status, dear.codes) == (429, ["RATE_LIMITED"])
    assert "data" not in dear.body
    assert gql("{ __typename }").status == 200


def test_invalid_credential_over_the_address_limit_is_429(post: PostToGraphQL, settings: Settings) -> None:
    set_limits(settings, anonymous="2/minute")

    statuses = [post(HELLO, X_API_Key=f"wrong {number}").status for number in range(3)]

    assert statuses == [401, 401, 429]
    assert post(HELLO).status == 429


def test_valid_credential_is_not_limited_by_its_address(post: PostToGraphQL, settings: Settings) -> None:
    set_limits(settings, anonymous="1/minute")
    post(HELLO)

    assert post(HELLO, X_API_Key=make_api_key(make_actor(Role.READER))).status == 200


def test_keys_and_tokens_of_a_user_share_the_limit_in_graphql_and_rest(post: PostToGraphQL, client: Client) -> None:
    actor = make_actor(Role.READER)
    keys = [make_api_key(actor) for _ in range(2)]
    token = issue_token(user=get_user(actor))

    by_graphql = [*(post(HELLO, X_API_Key=key) for key in keys), post(HELLO, Authorization=f"Bearer {token}")]
    by_rest = client.get("/posts", headers={"X-API-Key": keys[0]})

    assert [read_remaining_units(response) for response in by_graphql] == [
        {"authenticated": remaining} for remaining in (2999, 2998, 2997)
    ]
    assert by_rest.headers["RateLimit"] == '"authenticated";r=2996;t=60'


def test_forwarded_has_an_effect_only_behind_a_proxy(post: PostToGraphQL, settings: Settings) -> None:
    set_limits(settings, anonymous="1/minute")

    ignored = [post(HELLO, Forwarded=f"for=198.51.100.{number}").status for number in range(2)]
    set_limits(settings, trusted_proxies=1)
    behind_proxy = [post(HELLO, Forwarded=f"for=198.51.100.{number}").status for number in (1, 2, 1)]

    assert (ignored, behind_proxy) == ([200, 429], [200, 200, 429])


def test_unknown_path_is_charged(client: Client, settings: Settings) -> None:
    set_limits(settings, anonymous="2/minute")

    responses = [client.get("/nowhere") for _ in range(3)]

    assert [response.status_code for response in responses] == [404, 404, 429]
    assert [response.headers["RateLimit"] for response in responses] == [
        '"anonymous";r=1;t=60',
        '"anonymous";r=0;t=60',
        '"anonymous";r=0;t=60',
    ]
    assert responses[2].headers["X-Error-Code"] == "RATE_LIMITED"
    assert responses[2].headers["Retry-After"] == "60"
    assert responses[2].json() == {
        "error": 'The limit "anonymous" of 2/minute (CONTENTAPI_RATE_ANONYMOUS) is used up. Try again in 60 seconds.'
    }


@pytest.mark.parametrize("path", ["/admin/login/", "/static/admin/css/base.css", "/static/nothing"])
def test_admin_pages_and_static_files_are_not_charged(client: Client, settings: Settings, path: str) -> None:
    set_limits(settings, anonymous="1/minute")

    responses = [client.get(path) for _ in range(3)]

    for response in responses:
        response.close()
    assert {response.status_code for response in responses} <= {200, 404}
    assert not any("RateLimit" in response.headers for response in responses)


def test_allowed_origins_may_read_the_headers(client: Client, settings: Settings) -> None:
    settings.CORS_ALLOWED_ORIGINS = ["https://www.invalid"]

    response = client.post(
        "/graphql", HELLO, content_type="application/json", headers={"Origin": "https://www.invalid"}
    )

    exposed = response.headers["Access-Control-Expose-Headers"].split(", ")
    assert {"ratelimit", "ratelimit-policy", "retry-after"} <= set(exposed)


@pytest.mark.parametrize("known", [False, True])
def test_operation_refused_for_its_cost_is_charged(
    post: PostToGraphQL,
    settings: Settings,
    known: bool,  # noqa: FBT001
) -> None:
    dear = {"query": "{ posts(limit: 50) { comments { id } } }"}
    if known:
        assert post(dear).status == 200
    COUNTERS.clear()
    set_limits(settings, anonymous="8/minute")
    post({"query": "{ posts(limit: 30) { comments { id } } }"})  # 3030, which takes 4

    responses = [post(dear), post(dear), post(HELLO)]

    assert [response.status for response in responses] == [429, 429, 200]
    assert [read_remaining_units(response) for response in responses] == [
        {"anonymous": 3},
        {"anonymous": 2},
        {"anonymous": 1},
    ]


@pytest.mark.parametrize("content", [b'{"query": "{ __typename }"}', b"{"])
def test_counter_that_fails_is_500(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    class Failing:
        def take(self, *_: Any) -> Any:
            raise RuntimeError("no counter")

    monkeypatch.setattr(account_module, "get_counter", Failing)

    response = endpoint.handle(
        {
            "REQUEST_METHOD": "POST",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(content)),
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.input": BytesIO(content),
        }
    )

    assert response.status == 500
    assert [error["extensions"]["code"] for error in json.loads(response.body)["errors"]] == ["INTERNAL"]
