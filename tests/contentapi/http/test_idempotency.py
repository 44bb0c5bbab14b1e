"""Idempotency-Key: one effect, and a replay of the first response."""

from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from blog.models import Comment, Post
from contentapi.auth.people import get_user_by_email
from contentapi.core.errors import Conflict, RateLimited, Unavailable
from contentapi.core.identity import Role, Scope
from contentapi.http.idempotency import replay_or_execute
from contentapi.http.response import Response
from contentapi.models import IdempotencyRecord
from contentapi.rest.resource import render_refusal
from orders.models import Order
from tests.conftest import make_api_key
from tests.contentapi.http.idempotent_requests import NEW, REPLAYED, send_post, send_with_key
from tests.factories import make_actor, make_order, make_post, make_user
from tests.resources import RestResponse, send_request
from users.models import User
from users.tokens import issue_token


def test_repeated_post_has_one_effect_and_the_same_response(key: str) -> None:
    first, again = send_post("/posts", NEW, key), send_post("/posts", NEW, key)

    assert (first.status, first.headers.get(REPLAYED)) == (201, None)
    assert (again.status, again.headers[REPLAYED]) == (201, "true")
    assert again.content == first.content
    same = ("Location", "ETag", "Content-Type", "Content-Length", "Vary", "Cache-Control")
    assert [again.headers[name] for name in same] == [first.headers[name] for name in same]
    assert again.headers["X-Request-ID"] != first.headers["X-Request-ID"]
    assert again.headers["RateLimit"] != first.headers["RateLimit"]
    assert Post.objects.count() == 1


def test_every_write_accepts_an_idempotency_key(key: str) -> None:
    draft, order, pending, user = make_post(status="draft"), make_order(), make_order(), make_user()
    post, comments = f"/posts/{draft.pk}", f"/posts/{draft.pk}/comments"
    actions: list[tuple[str, str, Any, int]] = [
        ("POST", "/posts", NEW, 201),
        ("PATCH", post, {"title": "New"}, 200),
        ("POST", f"{post}/publish", None, 200),
        ("POST", comments, {"body": "Hear!"}, 201),
        ("POST", "/orders", {"total": 1}, 201),
        ("POST", f"/orders/{order.pk}/payment", None, 200),
        ("DELETE", f"/orders/{pending.pk}", None, 204),
        ("POST", "/users", {"name": "Ines", "email": "ines@example.invalid"}, 201),
        ("DELETE", f"/users/{user.pk}", None, 204),
    ]

    for number, (method, path, body, status) in enumerate(actions):
        first, again = [send_with_key(method, path, body, key, str(number)) for _ in range(2)]

        assert (first.status, again.status, again.headers.get(REPLAYED)) == (status, status, "true")
        assert (again.content, again.headers.get("ETag")) == (first.content, first.headers.get("ETag"))
    assert (Post.objects.count(), Comment.objects.count(), Order.objects.count()) == (2, 1, 3)
    assert User.objects.filter(name="Ines").count() == 1
    assert not User.objects.filter(pk=user.pk).exists()


def test_repeated_deletion_is_204_and_with_another_key_404(key: str) -> None:
    path = f"/posts/{make_post().pk}"

    responses = [send_with_key("DELETE", path, None, key, name) for name in ("one", "one", "two", "two")]

    assert [response.status for response in responses] == [204, 204, 404, 404]
    assert [response.headers.get(REPLAYED) for response in responses] == [None, "true", None, "true"]


def test_repeated_change_keeps_a_later_change(key: str) -> None:
    path = f"/posts/{make_post().pk}"
    first = send_with_key("PATCH", path, {"title": "One"}, key)
    send_with_key("PATCH", path, {"title": "Two"}, key, "two", If_Match=first.headers["ETag"])

    again = send_with_key("PATCH", path, {"title": "One"}, key)

    assert (again.content, again.headers[REPLAYED]) == (first.content, "true")
    assert Post.objects.get().title == "Two"


@pytest.mark.parametrize(
    ("path", "body", "query"),
    [
        ("/posts", {**NEW, "title": "Other"}, ""),
        ("/v1/posts", NEW, ""),
        ("/orders", {"total": 1}, ""),
        ("/posts", NEW, "?x"),
    ],
)
def test_key_of_another_request_is_422(key: str, path: str, body: Any, query: str) -> None:
    send_post("/posts", NEW, key)

    response = send_post(path + query, body, key)

    message = "Idempotency-Key: This key was sent with another request. Send a new key with each new request."
    assert response.error == (422, "INVALID", message)
    assert REPLAYED not in response.headers
    assert (Post.objects.count(), Order.objects.count()) == (1, 0)


def test_key_belongs_to_one_credential(key: str) -> None:
    other = make_api_key(make_actor(Role.AUTHOR))

    responses = [send_post("/posts", NEW, key), send_post("/posts", NEW, other)]

    assert [response.status for response in responses] == [201, 201]
    assert Post.objects.count() == 2


def test_key_is_shared_by_tokens_of_a_user_with_equal_scopes(db: None) -> None:  # noqa: ARG001
    user = make_user(Role.AUTHOR, email="ines@example.invalid")
    read, write = Scope.POSTS_READ, Scope.POSTS_WRITE

    def post_with_token(*scopes: Scope) -> RestResponse:
        token = issue_token(user=get_user_by_email(user.email), scopes=scopes, ttl=600)
        return send_request("POST", "/posts", NEW, Authorization=f"Bearer {token}", Idempotency_Key="one")

    responses = [post_with_token(write, read), post_with_token(read, write), post_with_token(write)]

    assert [response.headers.get(REPLAYED) for response in responses] == [None, "true", None]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"title": " ", "body": "b"}, 422),
        ({"title": "t"}, 400),
        (b"{", 400),
    ],
)
def test_refusal_is_replayed(key: str, body: Any, status: int) -> None:
    first, again = send_post("/posts", body, key), send_post("/posts", body, key)

    assert (first.error[0], first.headers.get(REPLAYED)) == (status, None)
    assert again.error == first.error
    assert again.headers[REPLAYED] == "true"
    assert send_post("/posts", NEW, key).error[0] == 422


def test_replayed_refusal_keeps_its_format(key: str) -> None:
    accept = {"Accept": "application/problem+json"}

    first, again = send_post("/posts", {"title": "t"}, key, **accept), send_post("/posts", {"title": "t"}, key)

    assert again.headers["Content-Type"] == "application/problem+json"
    assert again.content == first.content


@pytest.mark.parametrize(
    ("refusal", "kept"), [(Conflict("No."), 1), (Unavailable(), 0), (RateLimited("No."), 0), (RuntimeError("x"), 0)]
)
def test_refused_request_leaves_no_effect(refusal: Exception, kept: int) -> None:
    def action() -> Response:
        make_post()
        raise refusal

    with suppress(Unavailable, RateLimited, RuntimeError):
        render = partial(render_refusal, accept="")
        assert replay_or_execute(make_actor(Role.ADMIN), "one", "request", action, render).status == 409

    assert (Post.objects.count(), IdempotencyRecord.objects.count()) == (0, kept)


@pytest.mark.parametrize("bad", ["", " ", "a b", "é", "x" * 256, "a\tb"])
def test_invalid_key_is_400(key: str, bad: str) -> None:
    response = send_post("/posts", NEW, key, bad)

    message = "Idempotency-Key must be 1 to 255 visible ASCII characters."
    assert response.error == (400, "BAD_REQUEST", message)
    assert not Post.objects.exists()
