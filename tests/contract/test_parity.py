"""Parity of the transports: the same refused action has the same status, code and message in GraphQL and REST."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from django.db import transaction

from blog.models import Comment, Post
from contentapi.core.identity import ANONYMOUS, Actor, Role
from contentapi.rate_limits.account import COUNTERS
from orders.models import Order
from tests.conftest import GraphQL
from tests.factories import get_user, make_actor, make_author, make_comment, make_order, make_post, make_working_copy
from tests.resources import send_request
from users.models import User

pytestmark = pytest.mark.django_db

PAST, LATER = datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
NEW = {"title": "New", "body": "Text."}
NO_ID = "999999999"

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


class Failure(NamedTuple):
    status: int
    code: str
    message: str


@dataclass
class World:
    """The rows of the actions, and the author who does them."""

    author: Actor = field(init=False)
    posts: dict[str, Post] = field(init=False)
    others: dict[str, Post] = field(init=False)
    comment: Comment = field(init=False)
    orders: dict[str, Order] = field(init=False)
    user: User = field(init=False)

    def __post_init__(self) -> None:
        profile, other = make_author(), make_author()
        self.author = make_actor(Role.AUTHOR, author=profile)
        self.posts, self.others = ({s: self.post(of, s) for s in self.states} for of in (profile, other))
        self.comment = make_comment(self.others["published"])
        make_working_copy(self.posts["published"])
        self.user = get_user(self.author)
        self.orders = {status: make_order(user=self.user, status=status) for status in ("pending", "paid")}

    states = ("draft", "scheduled", "published", "archived")

    def post(self, author: Any, status: str) -> Post:
        return make_post(author=author, status=status, publish_at=LATER if status == "scheduled" else None)


def create_post(**values: Any) -> Any:
    return lambda _: ((CREATE, {"input": {**NEW, **values}}), ("POST", "/posts", {**NEW, **values}))


def update_post(status: str, **values: Any) -> Any:
    def of(world: World) -> Any:
        post_id = str(world.posts[status].pk)
        return (UPDATE, {"input": {"id": post_id, **values}}), ("PATCH", f"/posts/{post_id}", values)

    return of


def update_post_by_id(post_id: str) -> Any:
    return lambda _: ((UPDATE, {"input": {"id": post_id, **NEW}}), ("PATCH", f"/posts/{post_id}", NEW))


def update_post_of_another(status: str) -> Any:
    return lambda world: update_post_by_id(str(world.others[status].pk))(world)


def change_status(mutation: str, old: str, new: str, **values: Any) -> Any:
    def of(world: World) -> Any:
        post_id = str(world.posts[old].pk)
        return (mutation, {"id": post_id, **values}), ("PATCH", f"/posts/{post_id}", {"status": new, **values})

    return of


def publish_post(old: str, **values: Any) -> Any:
    def of(world: World) -> Any:
        post_id = str(world.posts[old].pk)
        return (PUBLISH, {"id": post_id, **values}), ("POST", f"/posts/{post_id}/publish", values or None)

    return of


def schedule_post(old: str, **values: Any) -> Any:
    def of(world: World) -> Any:
        post_id = str(world.posts[old].pk)
        patch = {"status": "scheduled", **values}
        return (SCHEDULE, {"input": {"id": post_id, **values}}), ("PATCH", f"/posts/{post_id}", patch)

    return of


def change_copy(action: str, status: str, **values: Any) -> Any:
    method, below = {"save": ("PUT", ""), "publish": ("POST", "/publish"), "discard": ("DELETE", "")}[action]

    def of(world: World) -> Any:
        post_id = str(world.posts[status].pk)
        path = f"/posts/{post_id}/working-copy{below}"
        return (COPY_DOCUMENTS[action], {"input": {"postId": post_id, **values}}), (method, path, values or None)

    return of


def delete_post(post_id: str) -> Any:
    return lambda _: ((DELETE, {"id": post_id}), ("DELETE", f"/posts/{post_id}", None))


def delete_post_of_another(status: str) -> Any:
    return lambda world: delete_post(str(world.others[status].pk))(world)


def add_comment(body: str, post_id: str | None = None) -> Any:
    def of(world: World) -> Any:
        on = post_id or str(world.others["published"].pk)
        return (COMMENT, {"input": {"postId": on, "body": body}}), ("POST", f"/posts/{on}/comments", {"body": body})

    return of


def delete_comment(comment_id: str | None = None) -> Any:
    def of(world: World) -> Any:
        gone = comment_id or str(world.comment.pk)
        return (DELETE_COMMENT, {"id": gone}), ("DELETE", f"/posts/{world.comment.post_id}/comments/{gone}", None)

    return of


def create_order(total: float) -> Any:
    return lambda _: ((CREATE_ORDER, {"input": {"total": total}}), ("POST", "/orders", {"total": total}))


def pay_order(order_id: str) -> Any:
    return lambda _: ((PAY, {"input": {"id": order_id}}), ("POST", f"/orders/{order_id}/payment", None))


def cancel_order(order_id: str) -> Any:
    return lambda _: ((CANCEL, {"input": {"id": order_id}}), ("DELETE", f"/orders/{order_id}", None))


def create_user(**values: str) -> Any:
    new = {"name": "New", "email": "new@example.invalid", **values}
    return lambda _: ((CREATE_USER, {"input": new}), ("POST", "/users", new))


def delete_user(user_id: str) -> Any:
    return lambda _: ((DELETE_USER, {"input": {"id": user_id}}), ("DELETE", f"/users/{user_id}", None))


def list_posts(**arguments: Any) -> Any:
    query = "&".join(f"{name}={value}" for name, value in arguments.items())
    document = "query ($limit: Int) { posts(limit: $limit) { id } }"
    return lambda _: ((document, arguments), ("GET", f"/posts?{query}", None))


FAILURES: dict[str, tuple[Any, int]] = {
    "no title": (create_post(title=" "), 422),
    "a long title": (create_post(title="x" * 201), 422),
    "a long body": (create_post(body="x" * 200_001), 422),
    "many tags": (create_post(tags=[str(n) for n in range(21)]), 422),
    "an empty tag": (create_post(tags=[""]), 422),
    "a tag twice": (create_post(tags=["a", " a"]), 422),
    "all of it wrong": (create_post(title="", tags=["", ""]), 422),
    "no such author": (create_post(authorId=NO_ID), 422),
    "an author that is no id": (create_post(authorId="x"), 422),
    "another author": (lambda world: create_post(authorId=str(world.others["draft"].author_id))(world), 403),
    "scheduled without a time": (create_post(status="scheduled"), 422),
    "scheduled in the past": (create_post(status="scheduled", publishAt=PAST.isoformat()), 422),
    "a time for a draft": (create_post(publishAt=LATER.isoformat()), 422),
    "NUL": (create_post(title="a\0b"), 400),
    "a null title": (update_post("draft", title=None), 422),
    "null everywhere": (update_post("draft", title=None, body=None, tags=None), 422),
    "an outdated version": (update_post("draft", title="x", expectedVersion="7"), 409),
    "an outdated tag": (update_post("draft", title="x", expectedVersion='"7-c0ffee"'), 409),
    "a version that is none": (update_post("draft", title="x", expectedVersion="new"), 409),
    "no such post": (update_post_by_id(NO_ID), 404),
    "a post that is no id": (update_post_by_id("x"), 404),
    "another's draft": (update_post_of_another("draft"), 404),
    "another's published post": (update_post_of_another("published"), 403),
    "publishing what is archived": (publish_post("archived"), 409),
    "publishing an outdated version": (publish_post("draft", expectedVersion="7"), 409),
    "publishing what is archived by its state": (change_status(PUBLISH, "archived", "published"), 409),
    "archiving what is scheduled": (change_status(ARCHIVE, "scheduled", "archived"), 409),
    "unpublishing an outdated version": (change_status(UNPUBLISH, "published", "draft", expectedVersion="7"), 409),
    "scheduling in the past": (schedule_post("draft", publishAt=PAST.isoformat()), 422),
    "scheduling what is published": (schedule_post("published", publishAt=LATER.isoformat()), 409),
    "a working copy without a title": (change_copy("save", "published", title=" "), 422),
    "a working copy with a null": (change_copy("save", "published", body=None), 422),
    "a working copy in the past": (change_copy("save", "published", publishAt=PAST.isoformat()), 422),
    "a time for the working copy of a draft": (change_copy("save", "draft", publishAt=LATER.isoformat()), 422),
    "an outdated working copy": (change_copy("save", "published", title="x", expectedVersion="7"), 409),
    "the first working copy with a version": (change_copy("save", "draft", title="x", expectedVersion="7"), 409),
    "a base that never was": (change_copy("save", "draft", baseVersion="7"), 409),
    "publishing an outdated working copy": (change_copy("publish", "published", expectedVersion="7"), 409),
    "publishing no working copy": (change_copy("publish", "draft"), 404),
    "discarding an outdated working copy": (change_copy("discard", "published", expectedVersion="7"), 409),
    "discarding no working copy": (change_copy("discard", "draft"), 404),
    "deleting no post": (delete_post(NO_ID), 404),
    "deleting another's draft": (delete_post_of_another("draft"), 404),
    "deleting another's post": (delete_post_of_another("published"), 403),
    "an empty comment": (add_comment(" "), 422),
    "a comment on nothing": (add_comment("x", NO_ID), 404),
    "deleting no comment": (delete_comment(NO_ID), 404),
    "deleting another's comment": (delete_comment(), 403),
    "an order of nothing": (create_order(0), 422),
    "an order with three decimals": (create_order(1.005), 422),
    "an order of too much": (create_order(1e300), 422),
    "paying no order": (pay_order(NO_ID), 404),
    "paying what is paid": (lambda world: pay_order(str(world.orders["paid"].pk))(world), 409),
    "cancelling no order": (cancel_order("x"), 404),
    "cancelling what is paid": (lambda world: cancel_order(str(world.orders["paid"].pk))(world), 409),
    "creating a user": (create_user(), 403),
    "deleting no user": (delete_user(NO_ID), 404),
    "no item on a page": (list_posts(limit=0), 400),
    "too many items on a page": (list_posts(limit=101), 400),
}
FAILURES_OF_ADMINS: dict[str, tuple[Any, int]] = {
    "no name": (create_user(name=" "), 422),
    "a long name": (create_user(name="x" * 151), 422),
    "an email that is none": (create_user(email="new"), 422),
    "nothing right": (create_user(name="", email=""), 422),
    "NUL": (create_user(name="a\0b"), 400),
    "an email that is taken": (lambda world: create_user(email=world.user.email.upper())(world), 409),
    "deleting a user who is no id": (delete_user("x"), 404),
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


@pytest.mark.parametrize("name", FAILURES)
def test_both_transports_respond_with_the_same_error(gql: GraphQL, name: str) -> None:
    action, status = FAILURES[name]
    world = World()

    by_graphql, by_rest = fail_on_both_transports(gql, action, world, world.author)

    assert by_graphql == by_rest
    assert by_graphql.status == status


@pytest.mark.parametrize("name", FAILURES_OF_ADMINS)
def test_both_transports_respond_to_admins_with_the_same_error(gql: GraphQL, name: str) -> None:
    action, status = FAILURES_OF_ADMINS[name]

    by_graphql, by_rest = fail_on_both_transports(gql, action, World(), make_actor(Role.ADMIN))

    assert by_graphql == by_rest
    assert by_graphql.status == status
