"""Transitions of the status of a post: each pair of statuses (docs/decisions/0020-state-machines.md)."""

from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from blog import services
from blog.models import RENDERED, Post, PostStatus
from contentapi.core.errors import Conflict
from contentapi.core.identity import Role
from tests.factories import make_actor, make_post

PAST, LATER = datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
LATER_STILL = datetime(2101, 1, 1, tzinfo=UTC)
TABLE = {
    ("draft", "scheduled"),
    ("draft", "published"),
    ("draft", "archived"),
    ("scheduled", "draft"),
    ("scheduled", "published"),
    ("published", "draft"),
    ("published", "archived"),
    ("archived", "draft"),
}
PAIRS = list(product(PostStatus.values, repeat=2))


def get_publication_time(status: str) -> datetime | None:
    return LATER if status == "scheduled" else None


def make_post_with_status(status: str) -> Post:
    return make_post(status=status, publish_at=get_publication_time(status), updated_at=PAST)


OTHER_COLUMNS = ("changed_at", "changed_by", "changed_with", "publication_order", *RENDERED)


def read_row(post: Post) -> Any:
    """Return the columns of a post without its rendering and those that describe who changed it, and when."""
    return {name: value for name, value in Post.objects.values().get(pk=post.pk).items() if name not in OTHER_COLUMNS}


def test_legal_transition_changes_the_status_and_nothing_else() -> None:
    for old, new in sorted(TABLE):
        post = make_post_with_status(old)
        before = read_row(post)

        moved = services.edit_post(
            actor=make_actor(Role.EDITOR),
            post_id=str(post.pk),
            changes={"status": new, "publish_at": get_publication_time(new)},
        )

        after = read_row(post)
        moment, published_at = after.pop("updated_at"), after.pop("published_at")
        assert before.pop("published_at") is None
        assert PAST < published_at <= moment if new == "published" else published_at is None
        assert {**after, "updated_at": PAST} == {
            **before,
            "status": new,
            "publish_at": get_publication_time(new),
            "version": 2,
        }
        assert moment == moved.updated_at > PAST


def test_illegal_transition_raises_conflict_and_changes_nothing() -> None:
    for old, new in [pair for pair in PAIRS if pair not in TABLE and pair[0] != pair[1]]:
        post = make_post_with_status(old)
        before = read_row(post)

        with pytest.raises(Conflict) as refusal:
            services.edit_post(
                actor=make_actor(Role.ADMIN),
                post_id=str(post.pk),
                changes={"status": new, "publish_at": get_publication_time(new)},
            )

        assert refusal.value.message == f"A post that is {old} cannot become {new}."
        assert read_row(post) == before


def test_transition_to_the_current_status_changes_nothing() -> None:
    for status in PostStatus.values:
        post = make_post_with_status(status)
        before = read_row(post)

        returned = services.edit_post(actor=make_actor(Role.EDITOR), post_id=str(post.pk), changes={"status": status})

        assert returned == post
        assert read_row(post) == before


def test_rescheduling_needs_the_same_time_or_raises_conflict() -> None:
    post = make_post_with_status("scheduled")
    before = read_row(post)
    actor = make_actor(Role.EDITOR)

    services.edit_post(actor=actor, post_id=str(post.pk), changes={"status": "scheduled", "publish_at": LATER})
    with pytest.raises(Conflict):
        services.edit_post(
            actor=actor, post_id=str(post.pk), changes={"status": "scheduled", "publish_at": LATER_STILL}
        )

    assert read_row(post) == before
