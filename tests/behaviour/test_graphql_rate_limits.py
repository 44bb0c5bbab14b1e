"""Rate limits of /graphql and of every other path of the API."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from contentapi.rate_limits.account import COUNTERS
from tests.behaviour.rate_limits import HELLO, WRITE, read_remaining_units, set_limits
from tests.conftest import GraphQL
from tests.graphql_requests import GraphQLResponse, PostToGraphQL, build_error_entry


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


def test_request_is_charged_by_its_cost(gql: GraphQL) -> None:
    responses = [
        gql("{ posts(limit: 9) { comments { id } } }"),  # 909
        gql("{ posts(limit: 10) { comments { id } } }"),  # 1010
        gql("{ posts(limit: 100) { comments { author { id } } author { id } } }"),  # 20200
    ]

    assert [read_remaining_units(response)["anonymous"] for response in responses] == [299, 297, 276]


def test_expensive_request_is_refused_while_a_cheap_one_is_accepted(gql: GraphQL, settings: Settings) -> None:
    set_limits(settings, anonymous="5/minute")
    gql("{ __typename }")

    dear = gql("{ posts(limit: 50) { comments { id } } }")  # 5050, which takes 6 and is cut to the whole limit

    assert (dear.status, dear.codes) == (429, ["RATE_LIMITED"])
    assert "data" not in dear.body
    assert gql("{ __typename }").status == 200


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
