"""The actions of the services, each with its only event."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from django.utils import timezone

from blog import services
from blog.history import trash
from blog.models import Author, Comment, Image, Post
from blog.services import Edit, StateAction, moderation, save_edit
from contentapi.core.identity import OPERATOR, WORKER, Actor
from contentapi.db.statements import execute
from orders import services as orders
from tests.contract.types import collect
from tests.factories import make_author, make_comment, make_image, make_order, make_post, make_working_copy
from users import services as users
from users.models import User

LATER, MUCH_LATER = datetime(2100, 1, 1, tzinfo=UTC), datetime(2101, 1, 1, tzinfo=UTC)


class Case(NamedTuple):
    """An action, and the type, the status before and the status after of its only event."""

    prepare: Callable[[], Any]
    run: Callable[[Actor, Any], object]
    event: tuple[str, str | None, str | None]
    changes: str = ""


def edit(**changes: Any) -> Callable[[Actor, Post], object]:
    return lambda actor, post: services.edit_post(actor=actor, post_id=str(post.pk), changes=changes)


def change_state(action: StateAction, **values: Any) -> Callable[[Actor, Post], object]:
    return lambda actor, post: save_edit(actor, str(post.pk), Edit(action=action, **values))


def moderate(action: str) -> Callable[[Actor, Comment], object]:
    return lambda actor, comment: moderation.moderate_comment(action, actor=actor, comment_id=str(comment.pk))


def call(service: Callable[..., object], parameter: str, **values: Any) -> Callable[[Actor, Any], object]:
    return lambda actor, row: service(actor=actor, **{parameter: str(row.pk)}, **values)


def draft() -> Post:
    return make_post(status="draft")


def scheduled() -> Post:
    return make_post(status="scheduled", publish_at=LATER)


def make_deleted_post() -> str:
    post = make_post()
    make_comment(post)
    services.delete_post(actor=OPERATOR, post_id=str(post.pk))
    return str(post.pk)


def make_commented_post() -> Post:
    post = make_post()
    make_comment(post)
    return post


def make_hidden_comment(state: str = "hidden") -> Comment:
    return make_comment(make_post(), state=state, state_changed_at=timezone.now())


def make_deleted_image() -> Image:
    return make_image(deleted_at=timezone.now())


def make_due_post() -> Post:
    post = scheduled()
    Post.objects.filter(pk=post.pk).update(publish_at=timezone.now() - timedelta(minutes=1), version=post.version)
    return post


def make_post_beside_author() -> Post:
    make_author()
    return make_post()


def change_author(actor: Actor, post: Post) -> None:
    other = Author.objects.exclude(pk=post.author_id)[0]
    services.edit_post(actor=actor, post_id=str(post.pk), changes={"author_id": str(other.pk)})


def make_copied_post() -> Post:
    post = make_post()
    make_working_copy(post, title="Copied")
    return post


def write_sql(sql: str) -> Callable[[Actor, Any], None]:
    def write(_: Actor, row: Any) -> None:
        execute(sql, [row.pk])

    return write


def nothing() -> None:
    """Prepare nothing."""


CASES = {
    "create a draft": Case(
        nothing,
        lambda actor, _: services.create_post(actor=actor, title="New", body=""),
        ("post.created", None, "draft"),
    ),
    "create a published post": Case(
        nothing,
        lambda actor, _: services.create_post(actor=actor, title="New", body="", status="published"),
        ("post.created", None, "published"),
    ),
    "update": Case(make_post, edit(title="New", tags=["a"]), ("post.updated", "published", "published"), "title,tags"),
    "update and publish": Case(
        draft, edit(body="New", status="published"), ("post.published", "draft", "published"), "body,status,publishedAt"
    ),
    "schedule": Case(
        draft, edit(status="scheduled", publish_at=LATER), ("post.scheduled", "draft", "scheduled"), "status,publishAt"
    ),
    "schedule at another time by SQL": Case(
        scheduled,
        write_sql("UPDATE blog_post SET publish_at = '2101-01-01T00:00:00Z' WHERE id = %s"),
        ("post.scheduled", "scheduled", "scheduled"),
        "publishAt",
    ),
    "schedule again in the desk": Case(
        scheduled,
        change_state(StateAction.SCHEDULE, publish_at=MUCH_LATER, changes={"title": "New"}),
        ("post.scheduled", "scheduled", "scheduled"),
        "publishAt,title",
    ),
    "update a scheduled post": Case(scheduled, edit(body="New"), ("post.updated", "scheduled", "scheduled"), "body"),
    "unpublish": Case(make_post, edit(status="draft"), ("post.unpublished", "published", "draft"), "status"),
    "unschedule": Case(scheduled, edit(status="draft"), ("post.unpublished", "scheduled", "draft"), "status,publishAt"),
    "archive": Case(make_post, edit(status="archived"), ("post.archived", "published", "archived"), "status"),
    "unarchive": Case(
        lambda: make_post(status="archived"), edit(status="draft"), ("post.restored", "archived", "draft"), "status"
    ),
    "publish an archived post again": Case(
        lambda: make_post(status="archived", published_at=timezone.now()),
        change_state(StateAction.PUBLISH_AGAIN, changes={"body": "New"}),
        ("post.published", "archived", "published"),
        "body,status",
    ),
    "publish what is due": Case(
        make_due_post,
        lambda *_: list(services.publish_due(actor=WORKER)),
        ("post.published", "scheduled", "published"),
        "status,publishAt,publishedAt",
    ),
    "publish a working copy": Case(
        make_copied_post,
        call(services.publish_working_copy, "post_id"),
        ("post.updated", "published", "published"),
        "title",
    ),
    "change the authors": Case(
        make_post_beside_author, change_author, ("post.updated", "published", "published"), "authorId"
    ),
    "delete with comments": Case(
        make_commented_post, call(services.delete_post, "post_id"), ("post.deleted", "published", None)
    ),
    "restore with comments": Case(
        make_deleted_post,
        lambda actor, pk: trash.restore_deleted_post(actor=actor, post_id=pk),
        ("post.restored", None, "published"),
    ),
    "comment": Case(
        make_post, call(services.add_comment, "post_id", body="Yes."), ("comment.created", None, "visible")
    ),
    "hide": Case(lambda: make_comment(make_post()), moderate("hide"), ("comment.hidden", "visible", "hidden"), "state"),
    "show": Case(make_hidden_comment, moderate("show"), ("comment.shown", "hidden", "visible"), "state"),
    "delete a comment": Case(
        lambda: make_comment(make_post()), moderate("delete"), ("comment.deleted", "visible", None), "state"
    ),
    "restore a comment": Case(
        lambda: make_hidden_comment("deleted"), moderate("restore"), ("comment.shown", None, "visible"), "state"
    ),
    "create an author": Case(
        nothing,
        lambda actor, _: services.authors.create_author(actor=actor, author=Author(name="New")),
        ("author.created", None, None),
    ),
    "edit an author": Case(
        make_author,
        call(services.authors.edit_author, "author_id", changes={"bio": "Writes."}),
        ("author.updated", None, None),
        "bio",
    ),
    "delete an author": Case(
        make_author, call(services.authors.delete_author, "author_id"), ("author.deleted", None, None)
    ),
    "upload": Case(nothing, lambda *_: make_image(), ("image.created", None, "processing")),
    "edit an image": Case(
        make_image,
        call(services.edit_image, "image_id", changes={"alt": "New", "focal_point": {"x": 0, "y": 0}}),
        ("image.updated", "processing", "processing"),
        "alt,focalPoint",
    ),
    "delete an image": Case(make_image, call(services.delete_image, "image_id"), ("image.deleted", "processing", None)),
    "restore an image": Case(
        make_deleted_image, call(services.restore_image, "image_id"), ("image.created", None, "processing")
    ),
    "order": Case(
        nothing, lambda actor, _: orders.create_order(actor=actor, total=Decimal(1)), ("order.created", None, "pending")
    ),
    "pay": Case(make_order, call(orders.pay_order, "order_id"), ("order.paid", "pending", "paid"), "status"),
    "ship": Case(
        lambda: make_order(status="paid"),
        lambda _, order: orders.ship_order(actor=OPERATOR, order_id=str(order.pk), carrier="C", tracking_number="T"),
        ("order.shipped", "paid", "shipped"),
        "status",
    ),
    "deliver": Case(
        lambda: make_order(status="shipped", carrier="C", tracking_number="T", shipped_at=timezone.now()),
        lambda _, order: orders.deliver_order(actor=OPERATOR, order_id=str(order.pk)),
        ("order.delivered", "shipped", "delivered"),
        "status",
    ),
    "cancel": Case(
        make_order, call(orders.cancel_order, "order_id"), ("order.cancelled", "pending", "cancelled"), "status"
    ),
    "create a user": Case(
        nothing,
        lambda actor, _: users.create_user(actor=actor, email="new@example.invalid", name="New"),
        ("user.created", None, None),
    ),
    "lock a user": Case(
        lambda: users.create_user(actor=OPERATOR, email="new@example.invalid", name="New"),
        call(users.lock_user, "user_id"),
        ("user.updated", None, None),
        "isActive",
    ),
    "delete a user with a profile and an order": Case(
        lambda: make_order(user=make_author(user=User.objects.create(name="A", email="a@example.invalid")).user).user,
        call(users.delete_user, "user_id"),
        ("user.deleted", None, None),
    ),
    "SQL": Case(
        make_post,
        write_sql("UPDATE blog_post SET title = 'SQL' WHERE id = %s"),
        ("post.updated", "published", "published"),
        "title",
    ),
    **{name: Case(*case) for name, case in collect("EVENTS").items()},
}
