"""Parity of the transports: the same refused action has the same status, code and message in GraphQL and REST."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

import pytest
from django.db import transaction

from blog.models import Author, Post, PostStatus
from contentapi.core.identity import ANONYMOUS, Actor, Role
from contentapi.rate_limits.account import COUNTERS
from tests.conftest import GraphQL
from tests.factories import get_user, make_actor, make_author, make_comment, make_order, make_post, make_working_copy
from tests.resources import send_request

pytestmark = pytest.mark.django_db

PAST, LATER = "2020-01-01T00:00:00+00:00", "2100-01-01T00:00:00+00:00"
NEW = {"title": "New", "body": "Text."}
NO_ID = "999999999"
OUTDATED = {"expectedVersion": "7"}

CREATE = "mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }"
UPDATE = "mutation ($input: UpdatePostInput!) { updatePost(input: $input) { id } }"
SCHEDULE = "mutation ($input: SchedulePostInput!) { schedulePost(input: $input) { id } }"
COMMENT = "mutation ($input: AddCommentInput!) { addComment(input: $input) { id } }"
PUBLISH, UNPUBLISH, ARCHIVE = (
    f"mutation ($id: ID!, $expectedVersion: String) {{ {action}(id: $id, expectedVersion: $expectedVersion) {{ id }} }}"
    for action in ("publishPost", "unpublishPost", "archivePost")
)
COPY_DOCUMENTS = {
    name: f"mutation ($input: {name.title()}WorkingCopyInput!) {{ {name}WorkingCopy(input: $input) {{ __typename }} }}"
    for name in ("save", "publish", "discard")
}
DELETE = "mutation ($id: ID!, $expectedVersion: String) { deletePost(id: $id, expectedVersion: $expectedVersion) }"
CREATE_ORDER = "mutation ($input: CreateOrderInput!) { createOrder(input: $input) { order { id } } }"
PAY = "mutation ($input: PayOrderInput!) { payOrder(input: $input) { order { id } } }"
CANCEL = "mutation ($input: CancelOrderInput!) { cancelOrder(input: $input) { order { id } } }"
CREATE_USER = "mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }"
DELETE_USER = "mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { deletedUserId } }"
DELETE_COMMENT = "mutation ($id: ID!) { deleteComment(id: $id) }"


Requests = tuple[tuple[str, dict[str, Any]], tuple[str, str, Any]]  # of GraphQL and of REST


class Failure(NamedTuple):
    status: int
    code: str
    message: str


class World:
    """The rows of the actions, and the author who does them. The ids of posts are by their status."""

    def __init__(self) -> None:
        profile, other = make_author(), make_author()
        self.author = make_actor(Role.AUTHOR, author=profile)
        self.own, self.others = (
            {status: make_post_of(of, status) for status in PostStatus.values} for of in (profile, other)
        )
        self.other_author = str(other.pk)
        self.comment = str(make_comment(Post.objects.get(pk=self.others["published"])).pk)
        make_working_copy(Post.objects.get(pk=self.own["published"]))
        self.user = get_user(self.author)
        self.orders = {status: str(make_order(user=self.user, status=status).pk) for status in ("pending", "paid")}


def make_post_of(author: Author, status: str) -> str:
    publish_at = datetime.fromisoformat(LATER) if status == "scheduled" else None
    return str(make_post(author=author, status=status, publish_at=publish_at).pk)


def create_post(**values: Any) -> Requests:
    return (CREATE, {"input": {**NEW, **values}}), ("POST", "/posts", {**NEW, **values})


def update_post(post_id: str, **values: Any) -> Requests:
    return (UPDATE, {"input": {"id": post_id, **values}}), ("PATCH", f"/posts/{post_id}", values)


def change_status(mutation: str, post_id: str, new: str, **values: Any) -> Requests:
    return (mutation, {"id": post_id, **values}), ("PATCH", f"/posts/{post_id}", {"status": new, **values})


def publish_post(post_id: str, **values: Any) -> Requests:
    return (PUBLISH, {"id": post_id, **values}), ("POST", f"/posts/{post_id}/publish", values or None)


def schedule_post(post_id: str, **values: Any) -> Requests:
    patch = {"status": "scheduled", **values}
    return (SCHEDULE, {"input": {"id": post_id, **values}}), ("PATCH", f"/posts/{post_id}", patch)


def change_copy(action: str, post_id: str, **values: Any) -> Requests:
    method, below = {"save": ("PUT", ""), "publish": ("POST", "/publish"), "discard": ("DELETE", "")}[action]
    path = f"/posts/{post_id}/working-copy{below}"
    return (COPY_DOCUMENTS[action], {"input": {"postId": post_id, **values}}), (method, path, values or None)


def delete_post(post_id: str) -> Requests:
    return (DELETE, {"id": post_id}), ("DELETE", f"/posts/{post_id}", None)


def add_comment(post_id: str, body: str) -> Requests:
    return (COMMENT, {"input": {"postId": post_id, "body": body}}), (
        "POST",
        f"/posts/{post_id}/comments",
        {"body": body},
    )


def delete_comment(post_id: str, comment_id: str) -> Requests:
    return (DELETE_COMMENT, {"id": comment_id}), ("DELETE", f"/posts/{post_id}/comments/{comment_id}", None)


def create_order(total: float) -> Requests:
    return (CREATE_ORDER, {"input": {"total": total}}), ("POST", "/orders", {"total": total})


def pay_order(order_id: str) -> Requests:
    return (PAY, {"input": {"id": order_id}}), ("POST", f"/orders/{order_id}/payment", None)


def cancel_order(order_id: str) -> Requests:
    return (CANCEL, {"input": {"id": order_id}}), ("DELETE", f"/orders/{order_id}", None)


def create_user(**values: str) -> Requests:
    new = {"name": "New", "email": "new@example.invalid", **values}
    return (CREATE_USER, {"input": new}), ("POST", "/users", new)


def delete_user(user_id: str) -> Requests:
    return (DELETE_USER, {"input": {"id": user_id}}), ("DELETE", f"/users/{user_id}", None)


def list_posts(limit: int) -> Requests:
    return ("query ($limit: Int) { posts(limit: $limit) { id } }", {"limit": limit}), (
        "GET",
        f"/posts?limit={limit}",
        None,
    )


FAILURES: dict[str, tuple[Callable[[World], Requests], int]] = {
    "no title": (lambda _: create_post(title=" "), 422),
    "all of it wrong": (lambda _: create_post(title="", tags=["", ""]), 422),
    "no such author": (lambda _: create_post(authorId=NO_ID), 422),
    "an author that is no id": (lambda _: create_post(authorId="x"), 422),
    "another author": (lambda w: create_post(authorId=w.other_author), 403),
    "scheduled without a time": (lambda _: create_post(status="scheduled"), 422),
    "a time for a draft": (lambda _: create_post(publishAt=LATER), 422),
    "NUL": (lambda _: create_post(title="a\0b"), 400),
    "a null title": (lambda w: update_post(w.own["draft"], title=None), 422),
    "null everywhere": (lambda w: update_post(w.own["draft"], title=None, body=None, tags=None), 422),
    "an outdated version": (lambda w: update_post(w.own["draft"], title="x", **OUTDATED), 409),
    "an outdated tag": (lambda w: update_post(w.own["draft"], title="x", expectedVersion='"7-c0ffee"'), 409),
    "a version that is none": (lambda w: update_post(w.own["draft"], title="x", expectedVersion="new"), 409),
    "no such post": (lambda _: update_post(NO_ID, **NEW), 404),
    "a post that is no id": (lambda _: update_post("x", **NEW), 404),
    "another's draft": (lambda w: update_post(w.others["draft"], **NEW), 404),
    "another's published post": (lambda w: update_post(w.others["published"], **NEW), 403),
    "publishing what is archived": (lambda w: publish_post(w.own["archived"]), 409),
    "publishing an outdated version": (lambda w: publish_post(w.own["draft"], **OUTDATED), 409),
    "publishing what is archived by its state": (lambda w: change_status(PUBLISH, w.own["archived"], "published"), 409),
    "unpublishing an outdated version": (
        lambda w: change_status(UNPUBLISH, w.own["published"], "draft", **OUTDATED),
        409,
    ),
    "scheduling in the past": (lambda w: schedule_post(w.own["draft"], publishAt=PAST), 422),
    "scheduling what is published": (lambda w: schedule_post(w.own["published"], publishAt=LATER), 409),
    "a working copy without a title": (lambda w: change_copy("save", w.own["published"], title=" "), 422),
    "a working copy with a null": (lambda w: change_copy("save", w.own["published"], body=None), 422),
    "a time for the working copy of a draft": (lambda w: change_copy("save", w.own["draft"], publishAt=LATER), 422),
    "an outdated working copy": (lambda w: change_copy("save", w.own["published"], title="x", **OUTDATED), 409),
    "the first working copy with a version": (
        lambda w: change_copy("save", w.own["draft"], title="x", **OUTDATED),
        409,
    ),
    "a base that never was": (lambda w: change_copy("save", w.own["draft"], baseVersion="7"), 409),
    "publishing an outdated working copy": (lambda w: change_copy("publish", w.own["published"], **OUTDATED), 409),
    "publishing no working copy": (lambda w: change_copy("publish", w.own["draft"]), 404),
    "discarding an outdated working copy": (lambda w: change_copy("discard", w.own["published"], **OUTDATED), 409),
    "discarding no working copy": (lambda w: change_copy("discard", w.own["draft"]), 404),
    "deleting no post": (lambda _: delete_post(NO_ID), 404),
    "deleting another's post": (lambda w: delete_post(w.others["published"]), 403),
    "an empty comment": (lambda w: add_comment(w.others["published"], " "), 422),
    "a comment on nothing": (lambda _: add_comment(NO_ID, "x"), 404),
    "deleting no comment": (lambda w: delete_comment(w.others["published"], NO_ID), 404),
    "deleting another's comment": (lambda w: delete_comment(w.others["published"], w.comment), 403),
    "an order of nothing": (lambda _: create_order(0), 422),
    "an order with three decimals": (lambda _: create_order(1.005), 422),
    "paying no order": (lambda _: pay_order(NO_ID), 404),
    "paying what is paid": (lambda w: pay_order(w.orders["paid"]), 409),
    "cancelling what is paid": (lambda w: cancel_order(w.orders["paid"]), 409),
    "creating a user": (lambda _: create_user(), 403),
    "deleting no user": (lambda _: delete_user(NO_ID), 404),
    "no item on a page": (lambda _: list_posts(limit=0), 400),
}
FAILURES_OF_ADMINS: dict[str, tuple[Callable[[World], Requests], int]] = {
    "no name": (lambda _: create_user(name=" "), 422),
    "a long name": (lambda _: create_user(name="x" * 151), 422),
    "nothing right": (lambda _: create_user(name="", email=""), 422),
    "NUL": (lambda _: create_user(name="a\0b"), 400),
    "an email that is taken": (lambda w: create_user(email=w.user.email.upper()), 409),
    "deleting a user who is no id": (lambda _: delete_user("x"), 404),
}


def fail_on_both_transports(gql: GraphQL, action: Any, world: World, actor: Actor, **headers: str) -> list[Failure]:
    """Do an action on each transport and return both errors. Roll back the effects of the first."""
    (document, variables), (method, path, body) = action(world)
    caller = None if actor == ANONYMOUS else actor
    with transaction.atomic():
        by_graphql = gql(document, actor=caller, **variables)
        transaction.set_rollback(True)
    entry = by_graphql.body["errors"][0]
    assert entry["extensions"]["status"] == by_graphql.status
    COUNTERS.clear()
    by_rest = send_request(method, path, body, actor=caller, **headers)
    return [Failure(by_graphql.status, entry["extensions"]["code"], entry["message"]), Failure(*by_rest.error)]


def test_both_transports_respond_with_the_same_error(gql: GraphQL) -> None:
    world, admin = World(), make_actor(Role.ADMIN)
    failures = {**dict.fromkeys(FAILURES.items(), world.author), **dict.fromkeys(FAILURES_OF_ADMINS.items(), admin)}

    for (name, (action, status)), actor in failures.items():
        by_graphql, by_rest = fail_on_both_transports(gql, action, world, actor)

        assert by_graphql == by_rest, name
        assert by_graphql.status == status, name
