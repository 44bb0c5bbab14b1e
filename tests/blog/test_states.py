"""What editors do to the state of a post. An action is one transaction. Each of its transitions needs a permission."""

from datetime import UTC, datetime
from typing import Any

import pytest

from blog.models import Post, PostStatus, PostVersion, WorkingCopy
from blog.services import Edit, Saved, StateAction, edits, save_edit
from blog.services.edits import PATHS, TARGETS
from contentapi.core.errors import Conflict, Forbidden, VersionConflict
from contentapi.core.identity import OPERATOR, ROLE_SCOPES, Role, Scope
from tests.factories import make_actor, make_author, make_post, make_working_copy

EARLIER, LATER = datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
MUCH_LATER = datetime(2101, 1, 1, tzinfo=UTC)


def make_post_in(status: str, **values: Any) -> Post:
    if status == PostStatus.SCHEDULED:
        values["publish_at"] = LATER
    if status == PostStatus.PUBLISHED:
        values["published_at"] = EARLIER
    return make_post(status=status, **values)


@pytest.mark.parametrize(("action", "status"), [(action, status) for action in StateAction for status in PATHS[action]])
def test_action_leads_to_its_state(action: StateAction, status: str) -> None:
    post = make_post_in(status)
    publish_at = MUCH_LATER if action is StateAction.SCHEDULE else None

    save_edit(make_actor(Role.EDITOR), str(post.pk), Edit(action=action, publish_at=publish_at))

    post.refresh_from_db()
    assert (post.status, post.publish_at) == (TARGETS[action], publish_at)


@pytest.mark.parametrize(
    ("action", "status"),
    [(action, status) for action in StateAction for status in PostStatus if status not in PATHS[action]],
)
def test_action_that_the_state_does_not_allow_is_a_conflict(action: StateAction, status: str) -> None:
    post = make_post_in(status)

    with pytest.raises(Conflict) as refusal:
        save_edit(make_actor(Role.EDITOR), str(post.pk), Edit(action=action, publish_at=MUCH_LATER))

    assert refusal.value.message == f"A post that is {status} cannot be {action.label}."
    assert Post.objects.get().version == 1


def test_archived_post_is_published_again_in_one_action_with_its_text() -> None:
    post = make_post(status="archived", published_at=EARLIER, title="Old")

    save_edit(
        make_actor(Role.EDITOR),
        str(post.pk),
        Edit(changes={"title": "New"}, action=StateAction.PUBLISH_AGAIN, version="1"),
    )

    post.refresh_from_db()
    assert (post.status, post.title, post.published_at, post.version) == ("published", "New", EARLIER, 3)
    versions = PostVersion.objects.order_by("version").values_list("version", "status", "title")
    assert list(versions) == [(1, "archived", "Old"), (2, "draft", "New")]


def test_first_publication_of_an_archived_post_sets_its_time() -> None:
    post = make_post(status="archived")

    save_edit(make_actor(Role.EDITOR), str(post.pk), Edit(action=StateAction.PUBLISH_AGAIN))

    post.refresh_from_db()
    assert post.published_at is not None


def test_refused_second_step_undoes_the_first() -> None:
    author = make_author()
    post = make_post(status="archived", author=author, title="Old")
    scopes = set(ROLE_SCOPES[Role.AUTHOR]) - {Scope.POSTS_PUBLISH}
    actor = make_actor(Role.AUTHOR, author=author, scopes=scopes)

    with pytest.raises(Forbidden):
        save_edit(actor, str(post.pk), Edit(changes={"title": "New"}, action=StateAction.PUBLISH_AGAIN))

    assert Post.objects.values_list("status", "title", "version").get() == ("archived", "Old", 1)


def test_conflict_of_the_working_copy_saves_nothing_of_the_edit() -> None:
    post, coauthors = make_post(), [str(make_author().pk)]
    edit = Edit({"title": "New", "coauthor_ids": coauthors}, version="1", copy_version="7", settings_version="1")

    assert isinstance(save_edit(make_actor(Role.EDITOR), str(post.pk), edit), VersionConflict)
    assert Post.objects.values_list("title", "coauthor_ids", "version").get() == (post.title, [], 1)
    saved = save_edit(make_actor(Role.EDITOR), str(post.pk), edit._replace(copy_version="0"))

    assert isinstance(saved, Saved)
    assert saved.copy
    assert (saved.copy.content["title"], saved.post.title, saved.post.version) == ("New", post.title, 2)


@pytest.mark.parametrize(
    ("status", "action", "expected"),
    [
        ("published", StateAction.UNPUBLISH, ("Ebb", "draft")),
        ("published", StateAction.ARCHIVE, ("Tides", "archived")),
        ("archived", StateAction.PUBLISH_AGAIN, ("Ebb", "published")),
        ("archived", StateAction.UNARCHIVE, ("Ebb", "draft")),
        ("draft", StateAction.PUBLISH, ("Ebb", "published")),
    ],
)
def test_action_takes_the_working_copy_over_unless_it_archives(
    status: str, action: StateAction, expected: tuple[str, str]
) -> None:
    post = make_post(title="Tides", status=status)
    copy = make_working_copy(post, title="Ebb")

    save_edit(OPERATOR, str(post.pk), Edit(action=action, version="1", copy_version=str(copy.version)))

    assert Post.objects.values_list("title", "status").get() == expected
    assert WorkingCopy.objects.exists() is (action is StateAction.ARCHIVE)


@pytest.mark.parametrize(
    ("status", "actions"),
    [
        ("draft", {StateAction.PUBLISH, StateAction.SCHEDULE, StateAction.ARCHIVE}),
        ("scheduled", {StateAction.PUBLISH, StateAction.SCHEDULE, StateAction.UNPUBLISH}),
        ("published", {StateAction.UNPUBLISH, StateAction.ARCHIVE}),
        ("archived", {StateAction.UNARCHIVE, StateAction.PUBLISH_AGAIN}),
    ],
)
def test_listed_actions_change_the_state(status: str, actions: set[StateAction]) -> None:
    author = make_author()
    post, actor = make_post_in(status, author=author), make_actor(Role.AUTHOR, author=author)

    assert set(edits.list_actions(actor, post)) == actions
    assert edits.list_actions(make_actor(Role.AUTHOR, author=make_author()), post) == []


def test_actor_without_the_scope_to_publish_sees_acts_without_publication() -> None:
    author = make_author()
    actor = make_actor(Role.AUTHOR, author=author, scopes={Scope.POSTS_READ, Scope.POSTS_WRITE})

    assert edits.list_actions(actor, make_post_in("draft", author=author)) == [StateAction.ARCHIVE]
    assert edits.list_actions(actor, make_post_in("archived", author=author)) == [StateAction.UNARCHIVE]
    assert edits.list_actions(actor, make_post_in("published", author=author)) == []
