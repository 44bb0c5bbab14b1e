"""The types of events: each action of a service is one event, and what is no change of an object is none."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import update_last_login
from django.db import transaction

from blog import services
from blog.models import Comment, Post
from blog.services import moderation
from contentapi.conf.timeouts import RESTORABLE_FOR
from contentapi.core.identity import OPERATOR, WORKER, Actor, Role
from contentapi.schema import EVENT_TYPES
from tests.contentapi.events.actions import CASES
from tests.contract.own_types import OWN_KINDS
from tests.event_log import collect_events, describe
from tests.factories import make_actor, make_author, make_comment, make_order, make_post, make_user
from users import services as users

# Actions whose event names the user who acted
ATTRIBUTED = (
    "update, publish an archived post again, delete with comments, comment, hide, edit an author, create an author, "
    "delete an author, edit an image, delete an image, pay, create a user, lock a user"
)


def make_staff() -> Actor:
    """Return an admin with an author profile, which the first post or comment would create."""
    return make_actor(Role.ADMIN, author=make_author())


@pytest.mark.parametrize("name", CASES)
def test_action_is_one_event(name: str) -> None:
    case, actor = CASES[name], make_staff()
    row = case.prepare()

    with collect_events() as events:
        case.run(actor, row)

    assert describe(events) == [case.event]
    assert events[0].changes == case.changes.split(",") if case.changes else events[0].changes == []
    assert name not in ATTRIBUTED.split(", ") or events[0].actor_id == actor.user_id


def test_each_type_is_that_of_an_action() -> None:
    names = {name for name in EVENT_TYPES.names if not name.startswith(OWN_KINDS)}
    assert {case.event[0] for case in CASES.values()} == names


def test_comments_of_a_deleted_author_on_posts_of_others_are_announced() -> None:
    comment = make_comment(make_post(), author=make_author())

    with collect_events() as events:
        services.authors.delete_author(actor=OPERATOR, author_id=str(comment.author_id))

    assert sorted(describe(events)) == [("author.deleted", None, None), ("comment.deleted", "visible", None)]
    assert [event.is_public for event in events] == [True, True]


def save_working_copy(post: Post) -> None:
    services.save_working_copy(actor=OPERATOR, post_id=str(post.pk), title="Not yet")


def purge_comment(post: Post) -> None:
    long_ago = post.created_at - 2 * RESTORABLE_FOR
    Comment.objects.filter(post=post).update(state="deleted", state_changed_at=long_ago)
    moderation.purge_comments(actor=WORKER)


def roll_back(post: Post) -> None:
    with transaction.atomic():
        services.delete_post(actor=OPERATOR, post_id=str(post.pk))
        transaction.set_rollback(True)


SILENT: dict[str, tuple[Callable[[Post], object], list[str]]] = {
    "a working copy": (save_working_copy, []),
    "a rendering": (lambda post: Post.objects.filter(pk=post.pk).update(body_html="<p>", renderer=0), []),
    "a first slug": (lambda post: Post.objects.filter(pk=post.pk).update(slug="first"), []),
    "a change to the present value": (
        lambda post: services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"title": post.title}),
        [],
    ),
    "a login": (lambda post: update_last_login(None, post.author.user), []),  # type: ignore[arg-type]
    "a password": (
        lambda post: users.set_password(actor=OPERATOR, user_id=str(post.author.user_id), password="harbour log 7"),
        [],
    ),
    "what is rolled back": (roll_back, []),
    "the purge of a deleted comment": (purge_comment, ["comment.deleted"]),  # by the SQL that prepares it
}


@pytest.mark.parametrize("name", SILENT)
def test_what_changes_no_object_is_no_event(name: str) -> None:
    change, types = SILENT[name]
    post = make_post(author=make_author(user=make_user()))
    Post.objects.filter(pk=post.pk).update(slug=None)
    make_comment(post)
    post.refresh_from_db()

    with collect_events() as events:
        change(post)

    assert [event.type for event in events] == types


def test_event_of_a_change_by_sql_names_nobody() -> None:
    case = CASES["SQL"]
    post = case.prepare()

    with collect_events() as events:
        case.run(OPERATOR, post)

    assert [event.actor_id for event in events] == [None]


def test_versions_of_events_are_those_of_the_object() -> None:
    post, order = make_post(), make_order()
    with collect_events() as events:
        for number in range(3):
            services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"title": str(number)})
        CASES["pay"].run(OPERATOR, order)

    assert [event.version for event in events if event.subject_id == post.pk] == [2, 3, 4]
    assert [event.version for event in events if event.subject_id == order.pk] == [2]
