"""The expected version of a post: a write with another version is a conflict."""

from collections.abc import Callable
from typing import Any

import pytest

from blog import services
from blog.models import Post
from contentapi.core.errors import Conflict, Forbidden, Invalid
from contentapi.core.identity import OPERATOR, Role
from tests.factories import make_actor, make_post

ACTIONS: dict[str, Callable[..., Any]] = {
    "update": lambda **given: services.edit_post(changes={"title": "New"}, **given),
    "update to the same": lambda **given: services.edit_post(changes={}, **given),
    "publish": lambda **given: services.edit_post(changes={"status": "published"}, **given),
    "make a draft again": lambda **given: services.edit_post(changes={"status": "draft"}, **given),
    "delete": services.delete_post,
}


@pytest.fixture
def post(db: None) -> Post:  # noqa: ARG001
    return make_post(status="draft", version=7)


def test_current_version_is_accepted() -> None:
    for action in ACTIONS:
        for expected in (None, "7", '"7-Zm9v_bGU=-1"'):
            post = make_post(status="draft", version=7)

            ACTIONS[action](actor=OPERATOR, post_id=str(post.pk), expected_version=expected)


@pytest.mark.parametrize("action", ACTIONS)
def test_other_or_invalid_version_raises_conflict(post: Post, action: str) -> None:
    before = Post.objects.values().get()

    for expected in ("", "2", '"2-c0ffee"', "9" * 5000, "\0"):
        with pytest.raises(Conflict) as refusal:
            ACTIONS[action](actor=OPERATOR, post_id=str(post.pk), expected_version=expected)

        assert refusal.value.message == "Version conflict: the post is at version 7.", expected
        assert Post.objects.values().get() == before, expected


def test_missing_permission_is_reported_before_a_version_conflict() -> None:
    post = make_post(version=7)

    with pytest.raises(Forbidden):
        ACTIONS["update"](actor=make_actor(Role.READER), post_id=str(post.pk), expected_version="2")


def test_version_conflict_is_reported_before_invalid_values(post: Post) -> None:
    with pytest.raises(Conflict):
        services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"title": ""}, expected_version="2")


@pytest.mark.parametrize("changes", [{"title": None}, {"body": None, "tags": None}])
def test_null_for_a_required_field_is_invalid(post: Post, changes: dict[str, None]) -> None:
    with pytest.raises(Invalid) as refusal:
        services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes=changes)

    assert refusal.value.fields == {name: ["This must not be null."] for name in changes}
