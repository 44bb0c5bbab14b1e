"""The resource view: methods, media types, bodies, failures, and what a request is charged."""

import re
from typing import Any

import msgspec
import pytest
from django.db import connection
from pytest_django import Settings

from blog.models import Post
from contentapi.identity import Role
from tests.conftest import api_key_of
from tests.factories import make_actor, make_author, make_post, make_user
from tests.resources import ask

pytestmark = pytest.mark.django_db

RATE = re.compile(r'"(\w+)";r=(\d+);t=(\d+)')
NEW = {"title": "Hello", "body": "A first post."}


def left(reply: Any) -> dict[str, int]:
    return {name: int(remaining) for name, remaining, _ in RATE.findall(reply.headers["RateLimit"])}


@pytest.mark.parametrize(
    ("path", "allow"),
    [
        ("/posts", "GET, HEAD, POST, OPTIONS"),
        ("/posts/1", "GET, HEAD, PATCH, DELETE, OPTIONS"),
        ("/posts/1/publish", "POST, OPTIONS"),
        ("/posts/1/comments", "GET, HEAD, POST, OPTIONS"),
        ("/posts/1/comments/1", "GET, HEAD, DELETE, OPTIONS"),
        ("/authors", "GET, HEAD, OPTIONS"),
        ("/authors/1", "GET, HEAD, OPTIONS"),
        ("/authors/1/posts", "GET, HEAD, OPTIONS"),
        ("/orders", "GET, HEAD, POST, OPTIONS"),
        ("/orders/1", "GET, HEAD, DELETE, OPTIONS"),
        ("/orders/1/payment", "POST, OPTIONS"),
        ("/orders/1/tracking", "GET, HEAD, OPTIONS"),
        ("/users", "GET, HEAD, POST, OPTIONS"),
        ("/users/1", "GET, HEAD, DELETE, OPTIONS"),
    ],
)
def test_other_methods_are_told_which_are_allowed(path: str, allow: str) -> None:
    refused, options = ask("PUT", path), ask("OPTIONS", path)

    assert refused.failure == (405, "METHOD_NOT_ALLOWED", f"PUT is not allowed here; allowed: {allow}.")
    assert refused.headers["Allow"] == allow
    assert (options.status, options.content, options.headers["Allow"]) == (204, b"", allow)


@pytest.mark.parametrize("method", ["RESPOND", "ANSWER", "METHODS", "__CLASS__", "TRACE"])
def test_no_other_attribute_is_a_method(method: str) -> None:
    assert ask(method, "/posts").failure[:2] == (405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize("path", ["/posts/", "/posts/1/", "/users/1/x", "/orders//payment"])
def test_there_is_nothing_beside_the_paths(path: str) -> None:
    assert ask("GET", path).failure == (404, "NOT_FOUND", "There is nothing at this address.")


def test_head_is_get_without_the_body() -> None:
    path = f"/posts/{make_post().pk}"

    got, head = ask("GET", path), ask("HEAD", path)

    assert (head.status, head.content) == (200, b"")
    assert head.headers["Content-Length"] == got.headers["Content-Length"] == str(len(got.content))
    assert head.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "Input data was truncated"),
        (b"not JSON", "JSON is malformed: invalid character (byte 4)"),
        (b"[]", "Expected `object`, got `array`"),
        (b"null", "Expected `object`, got `null`"),
        (b'{"title": "t"}', "Object missing required field `body`"),
        (b'{"title": 1, "body": "b"}', "Expected `str`, got `int` - at `$.title`"),
        (b'{"title": null, "body": "b"}', "Expected `str`, got `null` - at `$.title`"),
        (b'{"title": "t", "body": "b", "tags": ["x", 1]}', "Expected `str`, got `int` - at `$.tags[1]`"),
        (b'{"title": "t", "body": "b", "status": "gone"}', "Invalid enum value 'gone' - at `$.status`"),
        (b'{"title": "t", "body": "b", "publishAt": "soon"}', "Invalid RFC3339 encoded datetime - at `$.publishAt`"),
        (b'{"title": "t", "body": "b", "extra": 1}', "Object contains unknown field `extra`"),
        (b'{"title": "t", "body": "b", "author_id": "1"}', "Object contains unknown field `author_id`"),
        (b'{"title": "t", "title": "u", "body": "b"}', "Object contains field `title` twice"),
    ],
)
def test_a_body_that_is_not_as_expected_is_malformed_and_says_where(body: bytes, reason: str) -> None:
    reply = ask("POST", "/posts", body, actor=make_actor(Role.AUTHOR))

    assert reply.failure == (400, "BAD_REQUEST", f"The body is not what is expected: {reason}.")


@pytest.mark.parametrize(
    "body",
    [
        b"\xff",
        b'{"title": "\xff", "body": "b"}',
        b'{"title": "\\u0000", "body": "b"}',
        b'{"title": "\\ud800", "body": "b"}',
        b'{"title": "t", "body": "b", "tags": ["\\u0000"]}',
        b'{"title": NaN, "body": "b"}',
        b'{"title": "t", "body": "b", "publishAt": "2100-01-01T00:00:00"}',
        b'{"title": "t", "body": "b", "publishAt": "9999-12-31T23:59:59-14:00"}',
        b'{"title": "t", "body": "b", "publishAt": "0001-01-01T00:00:00+14:00"}',
        b"[" * 100_000,
        b'{"title":' * 100_000,
    ],
)
def test_what_cannot_be_stored_or_read_is_malformed(body: bytes) -> None:
    reply = ask("POST", "/posts", body, actor=make_actor(Role.AUTHOR))

    assert reply.failure[:2] == (400, "BAD_REQUEST")


@pytest.mark.parametrize("total", [b"NaN", b"Infinity", b"1e400", b'"1"', b"true", b"null", b"[1]"])
def test_what_is_no_number_is_malformed(total: bytes) -> None:
    reply = ask("POST", "/orders", b'{"total": ' + total + b"}", actor=make_actor(Role.READER))

    assert reply.failure[:2] == (400, "BAD_REQUEST")


@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded",
     "application/merge-patch+json", "application/json; charset=latin-1"],
)  # fmt: skip
def test_a_body_of_another_type_is_refused(content_type: str) -> None:
    reply = ask("POST", "/posts", NEW, actor=make_actor(Role.AUTHOR), content_type=content_type)

    assert reply.failure == (415, "UNSUPPORTED_MEDIA_TYPE", "Send the body as application/json in UTF-8.")


@pytest.mark.parametrize("content_type", ["application/json", "application/merge-patch+json; charset=utf-8"])
def test_a_change_may_be_sent_as_a_merge_patch(content_type: str) -> None:
    author = make_author()
    path = f"/posts/{make_post(author=author).pk}"

    reply = ask(
        "PATCH", path, {"title": "New"}, actor=make_actor(Role.AUTHOR, author=author), content_type=content_type
    )

    assert (reply.status, reply.body["title"]) == (200, "New")


def test_a_body_that_is_too_large_is_refused(settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_body=100)

    reply = ask("POST", "/posts", {**NEW, "body": "x" * 100}, actor=make_actor(Role.AUTHOR))

    assert reply.failure[:2] == (413, "TOO_LARGE")
    assert "CONTENTAPI_MAX_BODY" in reply.body["error"]


@pytest.mark.parametrize("accept", ["text/html", "application/json;q=0", "image/*"])
def test_who_takes_no_json_is_told_so(accept: str) -> None:
    reply = ask("GET", "/posts", Accept=accept)

    assert reply.failure[:2] == (406, "NOT_ACCEPTABLE")


@pytest.mark.parametrize("accept", ["", "*/*", "application/*", "application/json", "text/html, */*;q=0.1"])
def test_who_takes_json_gets_it(accept: str) -> None:
    assert ask("GET", "/posts", Accept=accept).headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    "accept",
    ["application/problem+json", "application/json, application/problem+json", "*/*, Application/Problem+JSON"],
)
def test_who_asks_for_problem_details_gets_them(accept: str) -> None:
    reply = ask("POST", "/posts", {"title": " ", "body": "b"}, actor=make_actor(Role.AUTHOR), Accept=accept)

    assert (reply.status, reply.headers["Content-Type"]) == (422, "application/problem+json")
    assert reply.headers["X-Error-Code"] == "INVALID"
    assert reply.body == {
        "type": "about:blank",
        "title": "Unprocessable Content",
        "status": 422,
        "detail": "title: This must not be empty.",
        "requestId": reply.headers["X-Request-ID"],
        "errors": {"title": ["This must not be empty."]},
    }


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/nowhere", 404), ("PUT", "/posts", 405), ("GET", "/posts?x=1", 400)]
)
def test_problem_details_are_for_every_failure(method: str, path: str, status: int) -> None:
    reply = ask(method, path, Accept="application/problem+json")

    assert (reply.status, reply.body["status"], reply.headers["Content-Type"]) == (
        status,
        status,
        "application/problem+json",
    )


@pytest.mark.parametrize("accept", ["*/*", "application/problem+json;q=0, application/json"])
def test_who_does_not_ask_for_problem_details_gets_none(accept: str) -> None:
    assert ask("GET", "/posts/0", Accept=accept).failure == (404, "NOT_FOUND", "There is no post with this id.")


def test_a_fault_of_our_own_is_logged_and_says_nothing_of_itself(caplog: pytest.LogCaptureFixture) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE blog_post RENAME TO lost")

    reply = ask("GET", "/posts")

    assert reply.failure == (500, "INTERNAL", "Internal server error")
    assert len(reply.headers["X-Request-ID"]) == 32
    [record] = caplog.records
    assert (record.name, record.exc_info is not None) == ("contentapi.requests", True)


@pytest.mark.parametrize("header", ["X_API_Key", "Authorization"])
def test_a_bad_credential_is_refused_and_counted_by_address(header: str) -> None:
    reply = ask("GET", "/posts", actor=None, **{header: "Bearer x"})

    assert reply.failure[:2] == (401, "UNAUTHENTICATED")
    assert "WWW-Authenticate" in reply.headers
    assert left(reply) == {"anonymous": 299}


def test_two_credentials_are_malformed() -> None:
    assert ask("GET", "/posts", X_API_Key="x", Authorization="Bearer x").failure[:2] == (400, "BAD_REQUEST")


def test_a_read_takes_one_and_a_write_also_one_of_the_writes() -> None:
    author = make_actor(Role.AUTHOR)

    assert [left(ask("GET", "/posts")), left(ask("HEAD", "/posts/0"))] == [{"anonymous": 299}, {"anonymous": 298}]
    read, write = ask("GET", "/posts", actor=author), ask("POST", "/posts", NEW, actor=author)
    assert left(read) == {"authenticated": 2999}
    assert left(write) == {"authenticated": 2999, "writes": 599}  # a key of its own


def test_over_the_limit_is_429_with_a_time_to_come_back(settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_rate_anonymous="1/minute")
    ask("GET", "/posts")

    reply = ask("POST", "/posts", NEW)

    assert reply.failure[:2] == (429, "RATE_LIMITED")
    assert reply.headers["Retry-After"] == "60"
    assert left(reply) == {"anonymous": 0}


def test_a_write_over_the_limit_does_nothing(settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_rate_writes="1/minute")
    key = api_key_of(make_actor(Role.AUTHOR))

    replies = [ask("POST", "/posts", NEW, X_API_Key=key) for _ in range(2)]

    assert [reply.status for reply in replies] == [201, 429]
    assert Post.objects.count() == 1


def test_what_depends_on_the_asker_is_not_kept_by_caches() -> None:
    path, reader = f"/posts/{make_post().pk}", make_actor(Role.READER)

    replies = [ask("GET", path), ask("GET", path, actor=reader), ask("DELETE", path), ask("GET", path, X_API_Key="x")]

    assert [reply.headers["Cache-Control"] for reply in replies] == ["no-cache", "no-store", "no-store", "no-store"]
    for reply in replies:
        assert {"Accept", "X-API-Key", "Authorization"} <= set(re.split(", ?", reply.headers["Vary"]))


def test_a_cookie_is_no_credential(client: Any) -> None:
    client.force_login(make_user(Role.ADMIN))

    assert client.get("/users").status_code == 401
    assert client.post("/posts", NEW, content_type="application/json").status_code == 401
