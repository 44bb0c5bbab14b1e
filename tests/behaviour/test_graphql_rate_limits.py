"""Rate limits at the endpoint, and at every other address of the API."""

import json
import re
from io import BytesIO
from typing import Any

import msgspec
import pytest
from django.test import Client
from pytest_django import Settings

from blog.models import Post as BlogPost
from contentapi.core.identity import Role
from contentapi.rate_limits import account as account_module
from contentapi.rate_limits.account import reset_counters
from contentapi.urls import endpoint
from tests.conftest import GraphQL, api_key_of
from tests.factories import make_actor, make_author
from tests.graphql_requests import Answer, Post, error_entry

pytestmark = pytest.mark.django_db

HELLO = {"query": "{ __typename }"}
RATE = re.compile(r'"(\w+)";r=(\d+);t=(\d+)')
WRITE = 'mutation { createPost(input: {title: "t", body: "b"}) { id } }'


def limited(settings: Settings, **limits: Any) -> None:
    named = {name if name == "trusted_proxies" else f"rate_{name}": value for name, value in limits.items()}
    variables = {f"contentapi_{name}": value for name, value in named.items()}
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, **variables)


def left(answer: Answer) -> dict[str, int]:
    return {name: int(remaining) for name, remaining, _ in RATE.findall(answer.headers["RateLimit"])}


def test_an_answer_tells_what_is_left(gql: GraphQL) -> None:
    answers = [gql("{ __typename }") for _ in range(2)]

    assert [left(answer) for answer in answers] == [{"anonymous": 299}, {"anonymous": 298}]
    assert answers[0].headers["RateLimit-Policy"] == '"anonymous";q=300;w=60'
    assert "Retry-After" not in answers[0].headers


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
def test_what_fails_is_charged_to_the_address_and_told_too(post: Post, body: Any, headers: Any, status: int) -> None:
    answer = post(body, **headers)

    assert answer.status == status
    assert left(answer) == {"anonymous": 299}


@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS"])
def test_another_method_is_charged_and_told(client: Client, method: str) -> None:
    assert left(Answer(client.generic(method, "/graphql"))) == {"anonymous": 299}


def test_a_failure_of_the_server_is_told_too(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contentapi.graphql.endpoint.read_body", lambda _: 1 / 0)

    answer = post(HELLO)

    assert (answer.status, left(answer)) == (500, {"anonymous": 299})


def test_over_the_limit_is_429_with_a_time_to_come_back(post: Post, settings: Settings) -> None:
    limited(settings, anonymous="2/minute")
    assert [post(HELLO).status for _ in range(2)] == [200, 200]

    answer = post(HELLO)

    message = 'The limit "anonymous" of 2/minute (CONTENTAPI_RATE_ANONYMOUS) is used up. Try again in 60 seconds.'
    assert (answer.status, answer.body) == (429, {"errors": [error_entry(answer, "RATE_LIMITED", 429, message)]})
    assert answer.headers["Retry-After"] == "60"
    assert answer.headers["RateLimit"] == '"anonymous";r=0;t=60'


def test_what_is_over_the_limit_is_not_even_read(post: Post, settings: Settings) -> None:
    limited(settings, anonymous="1/minute")
    post(HELLO)

    assert [post(b"{").status, post({"query": "{"}).status, post(HELLO, "text/plain").status] == [429] * 3


def test_a_request_is_charged_by_its_cost(gql: GraphQL) -> None:
    answers = [
        gql("{ posts(limit: 9) { comments { id } } }"),  # 909
        gql("{ posts(limit: 10) { comments { id } } }"),  # 1010
        gql("{ posts(limit: 100) { comments { author { id } } author { id } } }"),  # 20200
    ]

    assert [left(answer)["anonymous"] for answer in answers] == [299, 297, 276]


def test_what_costs_too_much_is_charged_for_being_read_alone(gql: GraphQL) -> None:
    answer = gql("{ posts(limit: 100) { comments { author { posts { id } } } } }")

    assert (answer.codes, left(answer)) == (["LIMIT_EXCEEDED"], {"anonymous": 299})


def test_a_dear_request_is_refused_where_a_cheap_one_still_has_room(gql: GraphQL, settings: Settings) -> None:
    limited(settings, anonymous="5/minute")
    gql("{ __typename }")

    dear = gql("{ posts(limit: 50) { comments { id } } }")  # 5050, which takes 6 and is cut to the whole limit

    assert (dear.status, dear.codes) == (429, ["RATE_LIMITED"])
    assert "data" not in dear.body
    assert gql("{ __typename }").status == 200


def test_a_write_takes_from_the_writes_too_and_a_read_does_not(post: Post, settings: Settings) -> None:
    limited(settings, writes="2/minute")
    key = api_key_of(make_actor(Role.AUTHOR, author=make_author()))

    answers = [post({"query": WRITE}, X_API_Key=key) for _ in range(3)]
    read = post(HELLO, X_API_Key=key)

    assert [answer.status for answer in answers] == [200, 200, 429]
    assert [left(answer) for answer in answers] == [
        {"authenticated": 2999, "writes": 1},
        {"authenticated": 2998, "writes": 0},
        {"authenticated": 2997, "writes": 0},  # the request was read, to know that it is a write
    ]
    assert '"writes" of 2/minute (CONTENTAPI_RATE_WRITES)' in answers[2].body["errors"][0]["message"]
    assert (read.status, left(read)) == (200, {"authenticated": 2996})


def test_each_mutation_of_a_request_takes_one_write(post: Post) -> None:
    key = api_key_of(make_actor(Role.AUTHOR, author=make_author()))
    ten = " ".join(f'a{number}: createPost(input: {{title: "t", body: "b"}}) {{ id }}' for number in range(10))

    answers = [post({"query": f"mutation {{ {fields} }}"}, X_API_Key=key) for fields in (ten, "__typename")]

    assert left(answers[0]) == {"authenticated": 2999, "writes": 590}
    assert left(answers[1]) == {"authenticated": 2998}


def test_mutations_beyond_the_write_limit_are_refused_together(post: Post, settings: Settings) -> None:
    limited(settings, writes="5/minute")
    key = api_key_of(make_actor(Role.AUTHOR, author=make_author()))
    three = " ".join(f'a{number}: createPost(input: {{title: "t", body: "b"}}) {{ id }}' for number in range(3))

    answers = [post({"query": f"mutation {{ {three} }}"}, X_API_Key=key) for _ in range(2)]
    again = post({"query": WRITE}, X_API_Key=key)

    assert [answer.status for answer in answers] == [200, 429]
    assert answers[1].headers["Retry-After"] == "60"
    assert BlogPost.objects.count() == 4
    assert left(again)["writes"] == 1


def test_the_operation_that_is_chosen_says_whether_it_is_a_write(post: Post) -> None:
    key = api_key_of(make_actor(Role.AUTHOR, author=make_author()))
    document = f"query Read {{ __typename }} {WRITE.replace('mutation', 'mutation Write')}"

    answers = [
        post({"query": document, "operationName": name}, X_API_Key=key) for name in ("Read", "Write", "Nothing", None)
    ]

    assert [set(left(answer)) for answer in answers] == [
        {"authenticated"},
        {"authenticated", "writes"},
        {"authenticated"},
        {"authenticated"},
    ]


def test_a_bad_credential_counts_by_address_and_is_429_when_that_is_over(post: Post, settings: Settings) -> None:
    limited(settings, anonymous="2/minute")

    statuses = [post(HELLO, X_API_Key=f"wrong {number}").status for number in range(3)]

    assert statuses == [401, 401, 429]
    assert post(HELLO).status == 429


def test_a_good_credential_is_not_held_up_by_its_address(post: Post, settings: Settings) -> None:
    limited(settings, anonymous="1/minute")
    post(HELLO)

    assert post(HELLO, X_API_Key=api_key_of(make_actor(Role.READER))).status == 200


def test_x_forwarded_for_is_heeded_behind_a_proxy_alone(post: Post, settings: Settings) -> None:
    limited(settings, anonymous="1/minute")

    ignored = [post(HELLO, X_Forwarded_For=f"198.51.100.{number}").status for number in range(2)]
    limited(settings, trusted_proxies=1)
    heeded = [post(HELLO, X_Forwarded_For=f"198.51.100.{number}").status for number in (1, 2, 1)]

    assert (ignored, heeded) == ([200, 429], [200, 200, 429])


def test_an_address_without_anything_is_charged_and_told(client: Client, settings: Settings) -> None:
    limited(settings, anonymous="2/minute")

    answers = [client.get("/nowhere") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [404, 404, 429]
    assert [answer.headers["RateLimit"] for answer in answers] == [
        '"anonymous";r=1;t=60',
        '"anonymous";r=0;t=60',
        '"anonymous";r=0;t=60',
    ]
    assert answers[2].headers["X-Error-Code"] == "RATE_LIMITED"
    assert answers[2].headers["Retry-After"] == "60"
    assert answers[2].json() == {
        "error": 'The limit "anonymous" of 2/minute (CONTENTAPI_RATE_ANONYMOUS) is used up. Try again in 60 seconds.'
    }


@pytest.mark.parametrize("path", ["/admin/login/", "/static/admin/css/base.css", "/static/nothing"])
def test_pages_for_people_and_files_are_not_counted(client: Client, settings: Settings, path: str) -> None:
    limited(settings, anonymous="1/minute")

    answers = [client.get(path) for _ in range(3)]

    for answer in answers:
        answer.close()
    assert {answer.status_code for answer in answers} <= {200, 404}
    assert not any("RateLimit" in answer.headers for answer in answers)


def test_scripts_of_other_origins_may_read_the_headers(client: Client, settings: Settings) -> None:
    settings.CORS_ALLOWED_ORIGINS = ["https://www.invalid"]

    answer = client.post("/graphql", HELLO, content_type="application/json", headers={"Origin": "https://www.invalid"})

    exposed = answer.headers["Access-Control-Expose-Headers"].split(", ")
    assert {"ratelimit", "ratelimit-policy", "retry-after"} <= set(exposed)


@pytest.mark.parametrize("known", [False, True])
def test_what_is_refused_for_its_cost_is_charged_for_asking(
    post: Post,
    settings: Settings,
    known: bool,  # noqa: FBT001
) -> None:
    dear = {"query": "{ posts(limit: 50) { comments { id } } }"}
    if known:
        assert post(dear).status == 200
    reset_counters()
    limited(settings, anonymous="8/minute")
    post({"query": "{ posts(limit: 30) { comments { id } } }"})  # 3030, which takes 4

    answers = [post(dear), post(dear), post(HELLO)]

    assert [answer.status for answer in answers] == [429, 429, 200]
    assert [left(answer) for answer in answers] == [{"anonymous": 3}, {"anonymous": 2}, {"anonymous": 1}]


@pytest.mark.parametrize("content", [b'{"query": "{ __typename }"}', b"{"])
def test_a_counter_that_fails_is_a_failure_of_ours(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    class Failing:
        def take(self, *_: Any) -> Any:
            raise RuntimeError("no counter")

    monkeypatch.setattr(account_module, "get_counter", Failing)

    reply = endpoint.handle(
        {
            "REQUEST_METHOD": "POST",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(content)),
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.input": BytesIO(content),
        }
    )

    assert reply.status == 500
    assert [error["extensions"]["code"] for error in json.loads(reply.body)["errors"]] == ["INTERNAL"]
