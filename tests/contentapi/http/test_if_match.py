"""Conditional writes: If-Match and expectedVersion."""

from typing import Any

import pytest

from blog.models import Comment, CommentState, Post
from contentapi.core.entity_tags import require_version
from contentapi.core.errors import Malformed, VersionConflict
from contentapi.core.identity import Role
from contentapi.http.conditional import resolve_expected_version
from orders.models import Order
from tests.contentapi.http.entity_tags import MINE, get_etag, make_own_post
from tests.factories import make_actor, make_comment, make_order, make_post, make_user
from tests.resources import RestResponse, send_request
from users.models import User

WRITES = [("PATCH", ""), ("POST", "/publish"), ("DELETE", "")]


@pytest.mark.parametrize(("method", "way"), WRITES)
def test_write_needs_the_expected_version(method: str, way: str) -> None:
    actor, path = make_own_post(status="draft", title="Old")
    body = {"title": "New"} if method == "PATCH" else None

    late = send_request(method, path + way, body, actor=actor, If_Match='"2-c0ffee"')
    contradictory = send_request(method, path + way, {"expectedVersion": "2"}, actor=actor, If_Match=MINE)
    before = Post.objects.get()
    response = send_request(method, path + way, body, actor=actor, If_Match=get_etag(path, actor))

    assert late.error == (409, "CONFLICT", "Version conflict: the post is at version 1.")
    assert contradictory.error[:2] == (400, "BAD_REQUEST")
    assert (before.title, before.status) == ("Old", "draft")
    assert response.status == (204 if method == "DELETE" else 200)


@pytest.mark.parametrize("if_match", [MINE, "1-c0ffee", "1", '"1"', '"1-other"', f'"0-x", {MINE}', "*", " 1 , ,2"])
def test_expected_version_is_accepted(if_match: str) -> None:
    require_version("post", 1, resolve_expected_version(if_match, None))


@pytest.mark.parametrize("if_match", ["2", '"2-c0ffee"', '"2", "3"', 'W/"1-c0ffee"', '"other"', '""'])
def test_another_version_is_a_conflict(if_match: str) -> None:
    with pytest.raises(VersionConflict, match=r"^Version conflict: the post is at version 1\.$"):
        require_version("post", 1, resolve_expected_version(if_match, None))


@pytest.mark.parametrize("if_match", ["", ",", '"1', "1 2", '*, "1"', '"1""2"', "c0ffee", "1-c0ffee x", "é", "W/1"])
def test_invalid_if_match_is_malformed(if_match: str) -> None:
    with pytest.raises(Malformed, match="If-Match must be"):
        resolve_expected_version(if_match, None)


@pytest.mark.parametrize(("if_match", "sent"), [(MINE, "1"), (MINE, MINE), ('"1", "2"', "1"), ("*", "1"), ('"2"', "2")])
def test_if_match_and_expected_version_that_agree_are_that_version(if_match: str, sent: str) -> None:
    assert resolve_expected_version(if_match, sent) == sent


@pytest.mark.parametrize(("if_match", "sent"), [(MINE, "2"), ('"2"', "1"), (MINE, "x")])
def test_if_match_and_expected_version_must_agree(if_match: str, sent: str) -> None:
    with pytest.raises(Malformed, match="different versions"):
        resolve_expected_version(if_match, sent)


def test_new_comment_does_not_block_an_edit_of_the_post() -> None:
    actor, path = make_own_post()
    before = get_etag(path, actor)
    make_comment(Post.objects.get())

    response = send_request("PATCH", path, {"title": "New"}, actor=actor, If_Match=before)

    assert get_etag(path, actor) != before
    assert response.status == 200
    assert send_request("PATCH", path, {"title": "Newer"}, actor=actor, If_Match=before).error[:2] == (409, "CONFLICT")


def test_resource_without_a_version_is_at_version_1() -> None:
    admin, post = make_actor(Role.ADMIN), make_post()
    paths = [f"/posts/{post.pk}/comments/{make_comment(post).pk}", f"/users/{make_user().pk}"]

    for path in paths:
        seen = get_etag(path, admin)
        assert send_request("DELETE", path, actor=admin, If_Match='"2-c0ffee"').error[:2] == (409, "CONFLICT")
        assert send_request("DELETE", path, actor=admin, If_Match=seen).status == 204
    assert not Comment.objects.filter(state=CommentState.VISIBLE).exists()
    assert User.objects.count() == 1


def test_each_state_of_an_order_has_its_own_version() -> None:
    actor = make_actor(Role.READER)
    path = f"/orders/{make_order(user_id=actor.user_id).pk}"
    pending = get_etag(path, actor)

    paid = send_request("POST", f"{path}/payment", actor=actor, If_Match=pending)
    late = [
        send_request("DELETE", path, actor=actor, If_Match=pending),
        send_request("POST", f"{path}/payment", actor=actor, If_Match="1"),
    ]

    assert (paid.status, paid.body["status"]) == (200, "paid")
    expected = (409, "CONFLICT", "Version conflict: the order is at version 2.")
    assert [response.error for response in late] == [expected, expected]
    assert Order.objects.get().status == "paid"


@pytest.mark.parametrize(
    ("path", "body"), [("/posts", {"title": "t", "body": "b"}), ("/orders", {"total": 1}), ("/users", {"name": "n"})]
)
def test_if_match_on_a_collection_is_400(path: str, body: Any) -> None:
    response = send_request("POST", path, body, actor=make_actor(Role.ADMIN), If_Match="*")

    assert response.error[:2] == (400, "BAD_REQUEST")


@pytest.mark.parametrize(("if_match", "status"), [("{tag}", 200), ("*", 200), ('"2-0"', 409), ("x", 400)])
def test_if_match_also_applies_to_reads(if_match: str, status: int) -> None:
    path = f"/posts/{make_post().pk}"

    response: RestResponse = send_request("GET", path, If_Match=if_match.replace("{tag}", get_etag(path)))

    assert response.status == status
