"""Server errors, caused by a lost column or a slow table, and invalid credentials."""

import logging

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from contentapi.core.identity import Role
from tests.challenges import build_challenge
from tests.conftest import make_api_key
from tests.factories import make_actor, make_author, make_post
from tests.graphql_requests import PostToGraphQL, build_error_entry, post_to_graphql

HELLO = {"query": "{ __typename }"}
POSTS = {"query": "{ __typename posts { title } }"}
CHALLENGE = build_challenge()
UNKNOWN_KEY = f"capi_00000000_{'0' * 64}"
LATIN = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"))


def execute(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def rename_title_column() -> None:
    execute("ALTER TABLE blog_post RENAME COLUMN title TO lost_title")


def slow_down_post_queries() -> None:
    """Make each query of posts exceed the statement timeout. An empty table would cause no wait, so create a post."""
    make_post()
    execute(
        "ALTER TABLE blog_post RENAME TO quick_post",
        "CREATE VIEW blog_post AS SELECT quick_post.* FROM quick_post WHERE pg_sleep(30) IS NOT NULL",
        "SET LOCAL statement_timeout = 50",
    )


def test_unknown_exception_is_masked(post: PostToGraphQL) -> None:
    rename_title_column()

    response = post(POSTS)

    error = build_error_entry(
        response, "INTERNAL", 500, "Internal server error", path=["posts"], locations=[{"line": 1, "column": 14}]
    )
    assert (response.status, response.body) == (500, {"errors": [error], "data": None})


def test_unknown_exception_outside_execution_is_masked(post: PostToGraphQL) -> None:
    key = make_api_key(make_actor(Role.READER))
    execute("ALTER TABLE users_apikey RENAME TO lost_keys")

    response = post(HELLO, X_API_Key=key)

    error = build_error_entry(response, "INTERNAL", 500, "Internal server error")
    assert (response.status, response.body) == (500, {"errors": [error]})


def test_statement_over_its_time_limit_is_503_with_retry_after(
    post: PostToGraphQL, caplog: pytest.LogCaptureFixture
) -> None:
    slow_down_post_queries()

    response = post(POSTS)

    error = build_error_entry(
        response,
        "UNAVAILABLE",
        503,
        "The service is temporarily unavailable. Try again shortly.",
        path=["posts"],
        locations=[{"line": 1, "column": 14}],
    )
    assert (response.status, response.body) == (503, {"errors": [error], "data": None})
    assert response.headers["Retry-After"] == "5"
    [record] = caplog.records
    assert record.getMessage() == (
        "POST /graphql 503 UNAVAILABLE QueryCanceled: canceling statement due to statement timeout"
    )
    assert (record.levelno, record.exc_info) == (logging.ERROR, None)


def test_error_beside_data_is_294_and_masked(post: PostToGraphQL) -> None:
    author = make_author(name="Ines")
    execute("ALTER TABLE blog_comment RENAME COLUMN body TO lost_body")
    written = make_post(author=author)

    response = post(
        {
            "query": "query ($a: ID!, $p: ID!) { author(id: $a) { name } post(id: $p) { comments { body } } }",
            "variables": {"a": author.pk, "p": written.pk},
        }
    )

    assert (response.status, response.codes) == (294, ["INTERNAL"])
    assert response.body["data"] == {"author": {"name": "Ines"}, "post": None}
    assert response.body["errors"][0]["message"] == "Internal server error"


@pytest.mark.parametrize("key", ["", "x", "é", UNKNOWN_KEY, f"{UNKNOWN_KEY} ", UNKNOWN_KEY.upper(), "k" * 8000])
def test_invalid_api_key_is_401_for_every_operation(post: PostToGraphQL, key: str) -> None:
    response = post(HELLO, X_API_Key=key)

    error = build_error_entry(response, "UNAUTHENTICATED", 401, "The API key is unknown, expired or revoked.")
    assert (response.status, response.body) == (401, {"errors": [error]})
    assert response.headers["WWW-Authenticate"] == CHALLENGE


@pytest.mark.property
@settings(deadline=None)
@given(st.sampled_from(["Accept", "Content_Type", "X_API_Key", "Authorization", "Origin"]), LATIN)
def test_no_header_causes_a_500(name: str, value: str) -> None:
    response = post_to_graphql(HELLO, **{name: value})

    assert response.status in (200, 400, 401, 406, 415)
