"""What goes wrong on our side, for real: tables that lost a column or answer too slowly. And bad credentials."""

import logging

import pytest
from django.db import ProgrammingError, connection
from hypothesis import given, settings
from hypothesis import strategies as st

from contentapi.core.identity import Role
from tests.conftest import GraphQL, api_key_of
from tests.factories import make_actor, make_author, make_post
from tests.graphql_requests import Post, error_entry, post_to_graphql

HELLO = {"query": "{ __typename }"}
POSTS = {"query": "{ __typename posts { title } }"}
CHALLENGE = 'ApiKey realm="contentapi", Bearer realm="contentapi"'
UNKNOWN_KEY = f"capi_00000000_{'0' * 64}"
LATIN = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"))


def execute(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def lose_a_column() -> None:
    execute("ALTER TABLE blog_post RENAME COLUMN title TO lost_title")


def answer_slowly() -> None:
    """Make every read of posts take longer than a statement may; there is a post, so that there is one to read."""
    make_post()
    execute(
        "ALTER TABLE blog_post RENAME TO quick_post",
        "CREATE VIEW blog_post AS SELECT quick_post.* FROM quick_post WHERE pg_sleep(30) IS NOT NULL",
        "SET LOCAL statement_timeout = 50",
    )


def test_an_unknown_failure_is_masked(post: Post) -> None:
    lose_a_column()

    answer = post(POSTS)

    error = error_entry(
        answer, "INTERNAL", 500, "Internal server error", path=["posts"], locations=[{"line": 1, "column": 14}]
    )
    assert (answer.status, answer.body) == (500, {"errors": [error], "data": None})


def test_an_unknown_failures_traceback_is_in_the_log_under_the_requests_id(
    post: Post, caplog: pytest.LogCaptureFixture
) -> None:
    lose_a_column()

    answer = post(POSTS)

    [record] = caplog.records
    assert record.levelno == logging.ERROR
    assert record.exc_info
    assert record.exc_info[0] is ProgrammingError
    assert vars(record)["request_id"] == answer.body["errors"][0]["extensions"]["requestId"]


def test_an_unknown_failure_outside_execution_is_masked_and_has_no_data(post: Post) -> None:
    key = api_key_of(make_actor(Role.READER))
    execute("ALTER TABLE users_apikey RENAME TO lost_keys")

    answer = post(HELLO, X_API_Key=key)

    error = error_entry(answer, "INTERNAL", 500, "Internal server error")
    assert (answer.status, answer.body) == (500, {"errors": [error]})


def test_a_statement_over_its_time_is_503_with_retry_after(post: Post, caplog: pytest.LogCaptureFixture) -> None:
    answer_slowly()

    answer = post(POSTS)

    error = error_entry(
        answer,
        "UNAVAILABLE",
        503,
        "The service is temporarily unavailable. Try again shortly.",
        path=["posts"],
        locations=[{"line": 1, "column": 14}],
    )
    assert (answer.status, answer.body) == (503, {"errors": [error], "data": None})
    assert answer.headers["Retry-After"] == "5"
    [record] = caplog.records
    assert record.getMessage() == (
        "POST /graphql 503 UNAVAILABLE QueryCanceled: canceling statement due to statement timeout"
    )
    assert (record.levelno, record.exc_info) == (logging.ERROR, None)


def test_a_failure_beside_data_is_294_and_masked_all_the_same(post: Post) -> None:
    author = make_author(name="Ines")
    execute("ALTER TABLE blog_comment RENAME COLUMN body TO lost_body")
    written = make_post(author=author)

    answer = post(
        {
            "query": "query ($a: ID!, $p: ID!) { author(id: $a) { name } post(id: $p) { comments { body } } }",
            "variables": {"a": author.pk, "p": written.pk},
        }
    )

    assert (answer.status, answer.codes) == (294, ["INTERNAL"])
    assert answer.body["data"] == {"author": {"name": "Ines"}, "post": None}
    assert answer.body["errors"][0]["message"] == "Internal server error"


@pytest.mark.parametrize("key", ["", "x", "é", UNKNOWN_KEY, f"{UNKNOWN_KEY} ", UNKNOWN_KEY.upper(), "k" * 8000])
def test_a_key_that_is_not_good_is_401_whatever_is_asked(post: Post, key: str) -> None:
    answer = post(HELLO, X_API_Key=key)

    error = error_entry(answer, "UNAUTHENTICATED", 401, "The API key is unknown, expired or revoked.")
    assert (answer.status, answer.body) == (401, {"errors": [error]})
    assert answer.headers["WWW-Authenticate"] == CHALLENGE


@pytest.mark.parametrize("value", ["", "Basic YTpi", "Negotiate", f"ApiKey {UNKNOWN_KEY}", "Bearerx a.b.c"])
def test_another_scheme_than_bearer_is_401(post: Post, value: str) -> None:
    answer = post(HELLO, Authorization=value)

    error = error_entry(answer, "UNAUTHENTICATED", 401, "Authorization must be Bearer and a token.")
    assert (answer.status, answer.body) == (401, {"errors": [error]})
    assert answer.headers["WWW-Authenticate"] == CHALLENGE


@pytest.mark.parametrize("value", ["Bearer", "Bearer a.b.c", "bearer x y", "Bearer é", "Bearer " + "x" * 9000])
def test_a_bearer_token_that_is_not_good_is_401_and_told_so(post: Post, value: str) -> None:
    answer = post(HELLO, Authorization=value)

    error = error_entry(answer, "UNAUTHENTICATED", 401, "This bearer token is not valid.")
    assert (answer.status, answer.body) == (401, {"errors": [error]})
    assert answer.headers["WWW-Authenticate"] == f'{CHALLENGE}, error="invalid_token"'


def test_two_credentials_are_400_even_when_one_is_good(post: Post) -> None:
    key = api_key_of(make_actor(Role.READER))

    answer = post(HELLO, X_API_Key=key, Authorization="Bearer a.b.c")

    message = "Send one credential: X-API-Key or Authorization, not both."
    assert (answer.status, answer.body) == (400, {"errors": [error_entry(answer, "BAD_REQUEST", 400, message)]})


def test_a_write_without_a_credential_is_401_with_the_challenge(gql: GraphQL) -> None:
    answer = gql('mutation { createPost(input: {title: "t", body: "b"}) { id } }')

    assert (answer.status, answer.codes) == (401, ["UNAUTHENTICATED"])
    assert answer.body["data"] == {"createPost": None}
    assert answer.headers["WWW-Authenticate"] == CHALLENGE


def test_a_write_that_the_role_does_not_allow_is_403_without_a_challenge(gql: GraphQL) -> None:
    answer = gql('mutation { createPost(input: {title: "t", body: "b"}) { id } }', actor=make_actor(Role.READER))

    assert (answer.status, answer.codes) == (403, ["FORBIDDEN"])
    assert "WWW-Authenticate" not in answer.headers


@pytest.mark.django_db
@settings(deadline=None)
@given(st.sampled_from(["Accept", "Content_Type", "X_API_Key", "Authorization", "Origin"]), LATIN)
def test_any_header_is_answered_without_a_fault_of_ours(name: str, value: str) -> None:
    answer = post_to_graphql(HELLO, **{name: value})

    assert answer.status in (200, 400, 401, 406, 415)
