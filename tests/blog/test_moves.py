"""Moving posts between states: every pair against the table in the decisions, section 3."""

from contextlib import nullcontext
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from blog import services
from blog.models import Post, PostStatus
from contentapi.core.errors import ApiError, Conflict, Forbidden, Invalid, NotFound, Unauthenticated
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, Role, Scope
from tests.factories import make_actor, make_author, make_post

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


def time_for(status: str) -> datetime | None:
    return LATER if status == "scheduled" else None


def make_post_in(status: str) -> Post:
    return make_post(status=status, publish_at=time_for(status), updated_at=PAST)


def row(post: Post) -> Any:
    return Post.objects.values().get(pk=post.pk)


@pytest.mark.django_db
@pytest.mark.parametrize(("old", "new"), sorted(TABLE))
def test_a_legal_move_changes_the_state_and_nothing_else(old: str, new: str) -> None:
    post = make_post_in(old)
    before = row(post)

    moved = services.edit_post(
        actor=make_actor(Role.EDITOR), post_id=str(post.pk), changes={"status": new, "publish_at": time_for(new)}
    )

    after = row(post)
    moment, published_at = after.pop("updated_at"), after.pop("published_at")
    assert before.pop("published_at") is None
    assert PAST < published_at <= moment if new == "published" else published_at is None
    assert {**after, "updated_at": PAST} == {**before, "status": new, "publish_at": time_for(new), "version": 2}
    assert moment == moved.updated_at > PAST


@pytest.mark.django_db
@pytest.mark.parametrize(("old", "new"), [pair for pair in PAIRS if pair not in TABLE and pair[0] != pair[1]])
def test_an_illegal_move_is_a_conflict_and_changes_nothing(old: str, new: str) -> None:
    post = make_post_in(old)
    before = row(post)

    with pytest.raises(Conflict) as refusal:
        services.edit_post(
            actor=make_actor(Role.ADMIN), post_id=str(post.pk), changes={"status": new, "publish_at": time_for(new)}
        )

    assert refusal.value.message == f"A post that is {old} cannot become {new}."
    assert row(post) == before


@pytest.mark.django_db
@pytest.mark.parametrize("status", PostStatus.values)
def test_a_move_into_the_state_it_is_in_changes_nothing(status: str) -> None:
    post = make_post_in(status)
    before = row(post)

    returned = services.edit_post(actor=make_actor(Role.EDITOR), post_id=str(post.pk), changes={"status": status})

    assert returned == post
    assert row(post) == before


@pytest.mark.django_db
def test_scheduling_for_the_same_time_again_changes_nothing_and_for_another_is_a_conflict() -> None:
    post = make_post_in("scheduled")
    before = row(post)
    actor = make_actor(Role.EDITOR)

    services.edit_post(actor=actor, post_id=str(post.pk), changes={"status": "scheduled", "publish_at": LATER})
    with pytest.raises(Conflict):
        services.edit_post(
            actor=actor, post_id=str(post.pk), changes={"status": "scheduled", "publish_at": LATER_STILL}
        )

    assert row(post) == before


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("status", "publish_at", "message"),
    [
        ("scheduled", None, "A scheduled post needs one."),
        ("scheduled", PAST, "This must be in the future."),
        ("published", LATER, "Only a scheduled post has one."),
        ("archived", PAST, "Only a scheduled post has one."),
    ],
)
def test_a_time_of_publication_that_does_not_fit_is_invalid(
    status: str, publish_at: datetime | None, message: str
) -> None:
    post = make_post_in("draft")
    before = row(post)

    with pytest.raises(Invalid) as refusal:
        services.edit_post(
            actor=make_actor(Role.EDITOR), post_id=str(post.pk), changes={"status": status, "publish_at": publish_at}
        )

    assert refusal.value.fields == {"publishAt": [message]}
    assert row(post) == before


@pytest.mark.django_db
@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_without_posts_publish_only_drafts_and_archived_posts_can_be_moved(old: str, new: str) -> None:
    post = make_post_in(old)
    actor = make_actor(Role.EDITOR, scopes=set(ALL_SCOPES) - {Scope.POSTS_PUBLISH})
    allowed = not {old, new} & {"published", "scheduled"}

    with nullcontext() if allowed else pytest.raises(Forbidden, match=f"^You may not make this {old} post {new}.$"):
        services.edit_post(actor=actor, post_id=str(post.pk), changes={"status": new, "publish_at": time_for(new)})

    assert Post.objects.get(pk=post.pk).status == (new if allowed else old)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("role", "without", "old", "refused"),
    [
        (None, set(), "draft", Unauthenticated),
        (Role.READER, set(), "published", Forbidden),
        (Role.AUTHOR, set(), "published", Forbidden),
        (Role.AUTHOR, set(), "draft", NotFound),
        (Role.EDITOR, {Scope.POSTS_WRITE, Scope.POSTS_PUBLISH}, "published", Forbidden),
        (Role.EDITOR, {Scope.POSTS_READ}, "scheduled", NotFound),
    ],
)
def test_who_may_not_move_a_post_learns_that_before_the_moves_faults(
    role: Role | None, without: set[Scope], old: str, refused: type[ApiError]
) -> None:
    post = make_post_in(old)
    before = row(post)
    actor = make_actor(role, scopes=set(ALL_SCOPES) - without, author=make_author()) if role else ANONYMOUS

    with pytest.raises(refused):
        services.edit_post(actor=actor, post_id=str(post.pk), changes={"status": "scheduled"})

    assert row(post) == before


@pytest.mark.django_db
@pytest.mark.parametrize(("old", "new"), [("draft", "published"), ("published", "archived"), ("scheduled", "draft")])
def test_posts_publish_is_enough_for_a_move_into_or_out_of_the_public_states(old: str, new: str) -> None:
    post = make_post_in(old)
    actor = make_actor(Role.EDITOR, scopes={Scope.POSTS_READ, Scope.POSTS_PUBLISH})

    services.edit_post(actor=actor, post_id=str(post.pk), changes={"status": new})

    assert Post.objects.get(pk=post.pk).status == new
    with pytest.raises(Forbidden):
        services.edit_post(actor=actor, post_id=str(post.pk), changes={"title": "New"})


@pytest.mark.django_db
def test_an_author_moves_their_own_post() -> None:
    author = make_author()
    post = make_post(author=author, status="draft")

    services.edit_post(
        actor=make_actor(Role.AUTHOR, author=author), post_id=str(post.pk), changes={"status": "published"}
    )

    assert Post.objects.get(pk=post.pk).status == "published"
