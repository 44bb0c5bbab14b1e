"""The resource view: methods, media types, bodies, errors and rate limits."""

import re
from typing import Any

import pytest

from contentapi.core.identity import Role
from tests.behaviour.rate_limits import read_remaining_units
from tests.factories import make_actor, make_author, make_post, make_user
from tests.resources import send_request

NEW = {"title": "Hello", "body": "A first post."}


@pytest.mark.parametrize("method", ["RESPOND", "ANSWER", "METHODS", "__CLASS__", "TRACE"])
def test_other_attributes_are_no_methods(method: str) -> None:
    assert send_request(method, "/posts").error[:2] == (405, "METHOD_NOT_ALLOWED")


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
def test_wrong_body_is_400_with_the_position(body: bytes, reason: str) -> None:
    response = send_request("POST", "/posts", body, actor=make_actor(Role.AUTHOR))

    assert response.error == (400, "BAD_REQUEST", f"Invalid body: {reason}.")


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
def test_text_that_cannot_be_stored_is_400(body: bytes) -> None:
    response = send_request("POST", "/posts", body, actor=make_actor(Role.AUTHOR))

    assert response.error[:2] == (400, "BAD_REQUEST")


@pytest.mark.parametrize("total", [b"NaN", b"Infinity", b"1e400", b'"1"', b"true", b"null", b"[1]"])
def test_invalid_number_is_400(total: bytes) -> None:
    response = send_request("POST", "/orders", b'{"total": ' + total + b"}", actor=make_actor(Role.READER))

    assert response.error[:2] == (400, "BAD_REQUEST")


@pytest.mark.parametrize("content_type", ["", "application/merge-patch+json"])
def test_body_of_another_media_type_is_415(content_type: str) -> None:
    response = send_request("POST", "/posts", NEW, actor=make_actor(Role.AUTHOR), content_type=content_type)

    assert response.error == (415, "UNSUPPORTED_MEDIA_TYPE", "Send the body as application/json in UTF-8.")


@pytest.mark.parametrize("content_type", ["application/json", "application/merge-patch+json; charset=utf-8"])
def test_patch_accepts_a_merge_patch(content_type: str) -> None:
    author = make_author()
    path = f"/posts/{make_post(author=author).pk}"

    response = send_request(
        "PATCH", path, {"title": "New"}, actor=make_actor(Role.AUTHOR, author=author), content_type=content_type
    )

    assert (response.status, response.body["title"]) == (200, "New")


@pytest.mark.parametrize("accept", ["*/*", "application/problem+json;q=0, application/json"])
def test_accept_that_does_not_name_problem_details_gets_none(accept: str) -> None:
    assert send_request("GET", "/posts/0", Accept=accept).error == (404, "NOT_FOUND", "There is no post with this id.")


@pytest.mark.parametrize("header", ["X_API_Key", "Authorization"])
def test_invalid_credential_is_charged_to_the_address(header: str) -> None:
    response = send_request("GET", "/posts", actor=None, **{header: "Bearer x"})

    assert response.error[:2] == (401, "UNAUTHENTICATED")
    assert "WWW-Authenticate" in response.headers
    assert read_remaining_units(response) == {"anonymous": 299}


def test_write_also_counts_against_the_write_limit() -> None:
    author = make_actor(Role.AUTHOR)

    assert read_remaining_units(send_request("GET", "/posts")) == {"anonymous": 299}
    assert read_remaining_units(send_request("HEAD", "/posts/0")) == {"anonymous": 298}
    read, write = send_request("GET", "/posts", actor=author), send_request("POST", "/posts", NEW, actor=author)
    assert read_remaining_units(read) == {"authenticated": 2999}
    assert read_remaining_units(write) == {"authenticated": 2998, "writes": 599}  # with another key of the user


def test_response_to_an_authenticated_caller_is_not_cached() -> None:
    path, reader = f"/posts/{make_post().pk}", make_actor(Role.READER)

    responses = [
        send_request("GET", path),
        send_request("GET", path, actor=reader),
        send_request("DELETE", path),
        send_request("GET", path, X_API_Key="x"),
    ]

    assert [response.headers["Cache-Control"] for response in responses] == ["no-cache", *["no-store"] * 3]
    for response in responses:
        assert {"Accept", "X-API-Key", "Authorization"} <= set(re.split(", ?", response.headers["Vary"]))


def test_cookie_is_no_credential(client: Any) -> None:
    client.force_login(make_user(Role.ADMIN))

    assert client.get("/users").status_code == 401
    assert client.post("/posts", NEW, content_type="application/json").status_code == 401
