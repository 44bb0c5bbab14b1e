"""The acts of the permission table, as each transport does them.

A transport is a table of acts. A new transport needs a table and an entry in TRANSPORTS.
"""

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from django.db.models import Model, QuerySet
from django.test import Client

import blog.selectors
import blog.services
import orders.selectors
import orders.services
import users.selectors
import users.services
from blog.models import Author, Comment, Post
from contentapi.core import policy
from contentapi.core.errors import ApiError
from orders.models import Order
from tests.conftest import GraphQL, make_api_key
from tests.contract.permissions import (
    LATER,
    Outcome,
    World,
)

# The services. An act returns its result; an empty result counts as 404.


def create_post(world: World, **values: Any) -> Post:
    author_id = None if world.is_own else str(world.target.author.pk)
    return blog.services.create_post(actor=world.actor, title="New", body="", author_id=author_id, **values)


def update_post(world: World, status: str) -> Post:
    return blog.services.edit_post(actor=world.actor, post_id=world.post_id(status), changes={"title": "New"})


def change_status(world: World, old: str, new: str) -> Post:
    publish_at = LATER if new == "scheduled" else None
    return blog.services.edit_post(
        actor=world.actor, post_id=world.post_id(old), changes={"status": new, "publish_at": publish_at}
    )


def add_comment(world: World, status: str) -> Comment:
    return blog.services.add_comment(actor=world.actor, post_id=world.post_id(status), body="Well said.")


def select_post(world: World, status: str) -> QuerySet[Post]:
    return blog.selectors.select_post_by_id(world.actor, world.post_id(status)).queryset()


def select_posts(world: World, status: str) -> QuerySet[Post]:
    return blog.selectors.select_newest_posts(world.actor, status=status).queryset()


def contains_row(rows: QuerySet[Any], row: Model) -> bool:
    return row in list(rows)


def select_author_with_email(world: World) -> QuerySet[Author]:
    author = blog.selectors.select_author_by_id(world.actor, str(world.target.author.pk))
    return author.queryset().filter(policy.visible_author_emails(world.actor))


def create_order(world: World) -> Order:
    user_id = None if world.is_own else world.target.user.pk
    return orders.services.create_order(actor=world.actor, user_id=user_id, total=Decimal(1))


def delete_user(world: World) -> bool:
    users.services.delete_user(actor=world.actor, user_id=str(world.target.user.pk))
    return True


SERVICES: dict[str, Callable[[World], object]] = {
    "read a published post": lambda world: select_post(world, "published"),
    "list published posts": lambda world: contains_row(
        select_posts(world, "published"), world.target.posts["published"]
    ),
    "read an author": lambda world: blog.selectors.select_author_by_id(
        world.actor, str(world.target.author.pk)
    ).exists(),
    "read a comment": lambda world: blog.selectors.select_comment_by_id(
        world.actor, world.comment_id("published")
    ).exists(),
    "read a draft": lambda world: select_post(world, "draft"),
    "read a scheduled post": lambda world: select_post(world, "scheduled"),
    "read an archived post": lambda world: select_post(world, "archived"),
    "list drafts": lambda world: contains_row(select_posts(world, "draft"), world.target.posts["draft"]),
    "create a post": create_post,
    "create a published post": lambda world: create_post(world, status="published"),
    "create a scheduled post": lambda world: create_post(world, status="scheduled", publish_at=LATER),
    "update a published post": lambda world: update_post(world, "published"),
    "update a draft": lambda world: update_post(world, "draft"),
    "publish a draft": lambda world: change_status(world, "draft", "published"),
    "publish a published post": lambda world: change_status(world, "published", "published"),
    "schedule a draft": lambda world: change_status(world, "draft", "scheduled"),
    "unschedule a post": lambda world: change_status(world, "scheduled", "draft"),
    "unpublish a post": lambda world: change_status(world, "published", "draft"),
    "archive a published post": lambda world: change_status(world, "published", "archived"),
    "archive a draft": lambda world: change_status(world, "draft", "archived"),
    "take a post out of the archive": lambda world: change_status(world, "archived", "draft"),
    "delete a published post": lambda world: blog.services.delete_post(
        actor=world.actor, post_id=world.post_id("published")
    ),
    "delete a draft": lambda world: blog.services.delete_post(actor=world.actor, post_id=world.post_id("draft")),
    "comment on a published post": lambda world: add_comment(world, "published"),
    "comment on a draft": lambda world: add_comment(world, "draft"),
    "delete a comment": lambda world: blog.services.delete_comment(
        actor=world.actor, comment_id=world.comment_id("published")
    ),
    "delete a comment on a draft": lambda world: blog.services.delete_comment(
        actor=world.actor, comment_id=world.comment_id("draft")
    ),
    "read an author's email": select_author_with_email,
    "read an order": lambda world: orders.selectors.select_order_by_id(
        world.actor, str(world.target.order.pk)
    ).exists(),
    "list orders": lambda world: contains_row(orders.selectors.select_orders(world.actor), world.target.order),
    "pay an order": lambda world: orders.services.pay_order(actor=world.actor, order_id=str(world.target.order.pk)),
    "cancel an order": lambda world: orders.services.cancel_order(
        actor=world.actor, order_id=str(world.target.order.pk)
    ),
    "create an order": create_order,
    "read a user": lambda world: users.selectors.select_user_by_id(world.actor, str(world.target.user.pk)).exists(),
    "list users": lambda world: contains_row(users.selectors.select_users(world.actor), world.target.user),
    "create a user": lambda world: users.services.create_user(
        actor=world.actor, email="new@example.invalid", name="New"
    ),
    "delete a user": delete_user,
}


def do_on_services(_: GraphQL, world: World, act: str) -> Outcome:
    try:
        return "ok" if SERVICES[act](world) else "404"
    except ApiError as refusal:
        return str(refusal.status)


# GraphQL. An act is a document, its variables, and a value that only a successful response contains.


def create_document(world: World, **values: Any) -> tuple[str, dict[str, Any], None]:
    author_id = {} if world.is_own else {"authorId": str(world.target.author.pk)}
    document = "mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }"
    return document, {"input": {"title": "New", "body": "", **author_id, **values}}, None


def update_document(world: World, status: str) -> tuple[str, dict[str, Any], None]:
    document = "mutation ($input: UpdatePostInput!) { updatePost(input: $input) { id } }"
    return document, {"input": {"id": world.post_id(status), "title": "New"}}, None


def schedule_document(world: World) -> tuple[str, dict[str, Any], None]:
    document = "mutation ($input: SchedulePostInput!) { schedulePost(input: $input) { id } }"
    return document, {"input": {"id": world.post_id("draft"), "publishAt": LATER.isoformat()}}, None


def id_document(mutation: str, id_: str, selection: str = "{ id }") -> tuple[str, dict[str, Any], None]:
    return f"mutation ($id: ID!) {{ {mutation}(id: $id) {selection} }}", {"id": id_}, None


def comment_document(world: World, status: str) -> tuple[str, dict[str, Any], None]:
    document = "mutation ($input: AddCommentInput!) { addComment(input: $input) { id } }"
    return document, {"input": {"postId": world.post_id(status), "body": "Well said."}}, None


def read_document(world: World, status: str) -> tuple[str, dict[str, Any], None]:
    return "query ($id: ID!) { post(id: $id) { id } }", {"id": world.post_id(status)}, None


def list_document(world: World, status: str) -> tuple[str, dict[str, Any], str]:
    return f"{{ posts(status: {status}) {{ id }} }}", {}, world.post_id(status)


def object_document(field: str, row: Model) -> tuple[str, dict[str, Any], None]:
    return f"query ($id: ID!) {{ {field}(id: $id) {{ id }} }}", {"id": str(row.pk)}, None


def input_document(mutation: str, selection: str, **values: Any) -> tuple[str, dict[str, Any], None]:
    """Return a mutation whose only argument is an input with the name of the mutation."""
    kind = f"{mutation[0].upper()}{mutation[1:]}Input"
    return f"mutation ($input: {kind}!) {{ {mutation}(input: $input) {{ {selection} }} }}", {"input": values}, None


def author_document(
    world: World, selection: str, expected_value: str | None = None
) -> tuple[str, dict[str, Any], str | None]:
    return (
        f"query ($id: ID!) {{ author(id: $id) {{ {selection} }} }}",
        {"id": str(world.target.author.pk)},
        expected_value,
    )


GRAPHQL: dict[str, Callable[[World], tuple[str, dict[str, Any], str | None]]] = {
    "read a published post": lambda world: read_document(world, "published"),
    "list published posts": lambda world: list_document(world, "published"),
    "read an author": lambda world: author_document(world, "name"),
    "read a comment": lambda world: object_document("comment", world.comments["published"]),
    "read a draft": lambda world: read_document(world, "draft"),
    "read a scheduled post": lambda world: read_document(world, "scheduled"),
    "read an archived post": lambda world: read_document(world, "archived"),
    "list drafts": lambda world: list_document(world, "draft"),
    "list an author's drafts": lambda world: author_document(world, "posts { id }", world.post_id("draft")),
    "create a post": create_document,
    "create a published post": lambda world: create_document(world, status="published"),
    "create a scheduled post": lambda world: create_document(world, status="scheduled", publishAt=LATER.isoformat()),
    "update a published post": lambda world: update_document(world, "published"),
    "update a draft": lambda world: update_document(world, "draft"),
    "publish a draft": lambda world: id_document("publishPost", world.post_id("draft")),
    "publish a published post": lambda world: id_document("publishPost", world.post_id("published")),
    "schedule a draft": schedule_document,
    "unschedule a post": lambda world: id_document("unpublishPost", world.post_id("scheduled")),
    "unpublish a post": lambda world: id_document("unpublishPost", world.post_id("published")),
    "archive a published post": lambda world: id_document("archivePost", world.post_id("published")),
    "archive a draft": lambda world: id_document("archivePost", world.post_id("draft")),
    "take a post out of the archive": lambda world: id_document("unpublishPost", world.post_id("archived")),
    "delete a published post": lambda world: id_document("deletePost", world.post_id("published"), ""),
    "delete a draft": lambda world: id_document("deletePost", world.post_id("draft"), ""),
    "comment on a published post": lambda world: comment_document(world, "published"),
    "comment on a draft": lambda world: comment_document(world, "draft"),
    "delete a comment": lambda world: id_document("deleteComment", world.comment_id("published"), ""),
    "delete a comment on a draft": lambda world: id_document("deleteComment", world.comment_id("draft"), ""),
    "read an author's email": lambda world: author_document(world, "email", world.target.author.email),
    "read an order": lambda world: object_document("order", world.target.order),
    "list orders": lambda world: ("{ orders { edges { node { id } } } }", {}, str(world.target.order.pk)),
    "pay an order": lambda world: input_document("payOrder", "order { id }", id=str(world.target.order.pk)),
    "cancel an order": lambda world: input_document("cancelOrder", "order { id }", id=str(world.target.order.pk)),
    "create an order": lambda _: input_document("createOrder", "order { id }", total=1),
    "read a user": lambda world: object_document("user", world.target.user),
    "list users": lambda world: ("{ users { edges { node { id } } } }", {}, str(world.target.user.pk)),
    "create a user": lambda _: input_document("createUser", "user { id }", email="new@example.invalid", name="New"),
    "delete a user": lambda world: input_document("deleteUser", "deletedUserId", id=str(world.target.user.pk)),
}


def do_on_graphql(gql: GraphQL, world: World, act: str) -> Outcome:
    document, variables, expected_value = GRAPHQL[act](world)
    response = gql(document, actor=None if world.actor.is_anonymous else world.actor, **variables)
    if "errors" in response.body:
        [error] = response.body["errors"]
        assert response.status == error["extensions"]["status"]
        return str(response.status)
    [found] = response.data.values()
    shown = found is not None if expected_value is None else expected_value in iterate_leaves(found)
    return "ok" if shown else "404"


def iterate_leaves(value: Any) -> Iterator[Any]:
    for below in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from iterate_leaves(below)
    if not isinstance(value, dict | list):
        yield value


# REST. An act is a method, a path, a body, and a value that only a successful response contains.

RestRequest = tuple[str, str, dict[str, Any] | None, Any]


def build_request(
    method: str, path: str, body: dict[str, Any] | None = None, expected_value: Any = None
) -> RestRequest:
    return method, path, body, expected_value


def build_post_request(
    world: World, method: str, status: str, body: dict[str, Any] | None = None, below: str = ""
) -> RestRequest:
    return build_request(method, f"/posts/{world.post_id(status)}{below}", body)


def build_comment_request(world: World, method: str, status: str) -> RestRequest:
    return build_request(method, f"/posts/{world.comments[status].post_id}/comments/{world.comment_id(status)}")


def build_order_request(world: World, method: str, below: str = "") -> RestRequest:
    return build_request(method, f"/orders/{world.target.order.pk}{below}")


def build_creation(world: World, **values: Any) -> RestRequest:
    author_id = {} if world.is_own else {"authorId": str(world.target.author.pk)}
    return build_request("POST", "/posts", {"title": "New", "body": "", **author_id, **values})


SCHEDULED = {"status": "scheduled", "publishAt": LATER.isoformat()}
REST: dict[str, Callable[[World], RestRequest]] = {
    "read a published post": lambda world: build_post_request(world, "GET", "published"),
    "list published posts": lambda world: build_request(
        "GET", "/posts?status=published", expected_value=world.post_id("published")
    ),
    "read an author": lambda world: build_request("GET", f"/authors/{world.target.author.pk}"),
    "read a comment": lambda world: build_comment_request(world, "GET", "published"),
    "read a draft": lambda world: build_post_request(world, "GET", "draft"),
    "read a scheduled post": lambda world: build_post_request(world, "GET", "scheduled"),
    "read an archived post": lambda world: build_post_request(world, "GET", "archived"),
    "list drafts": lambda world: build_request("GET", "/posts?status=draft", expected_value=world.post_id("draft")),
    "list an author's drafts": lambda world: build_request(
        "GET", f"/authors/{world.target.author.pk}/posts", expected_value=world.post_id("draft")
    ),
    "create a post": build_creation,
    "create a published post": lambda world: build_creation(world, status="published"),
    "create a scheduled post": lambda world: build_creation(world, **SCHEDULED),
    "update a published post": lambda world: build_post_request(world, "PATCH", "published", {"title": "New"}),
    "update a draft": lambda world: build_post_request(world, "PATCH", "draft", {"title": "New"}),
    "publish a draft": lambda world: build_post_request(world, "PATCH", "draft", {"status": "published"}),
    "publish a published post": lambda world: build_post_request(world, "PATCH", "published", {"status": "published"}),
    "schedule a draft": lambda world: build_post_request(world, "PATCH", "draft", SCHEDULED),
    "unschedule a post": lambda world: build_post_request(world, "PATCH", "scheduled", {"status": "draft"}),
    "unpublish a post": lambda world: build_post_request(world, "PATCH", "published", {"status": "draft"}),
    "archive a published post": lambda world: build_post_request(world, "PATCH", "published", {"status": "archived"}),
    "archive a draft": lambda world: build_post_request(world, "PATCH", "draft", {"status": "archived"}),
    "take a post out of the archive": lambda world: build_post_request(world, "PATCH", "archived", {"status": "draft"}),
    "delete a published post": lambda world: build_post_request(world, "DELETE", "published"),
    "delete a draft": lambda world: build_post_request(world, "DELETE", "draft"),
    "comment on a published post": lambda world: build_post_request(
        world, "POST", "published", {"body": "Hear!"}, "/comments"
    ),
    "comment on a draft": lambda world: build_post_request(world, "POST", "draft", {"body": "Hear!"}, "/comments"),
    "delete a comment": lambda world: build_comment_request(world, "DELETE", "published"),
    "delete a comment on a draft": lambda world: build_comment_request(world, "DELETE", "draft"),
    "read an author's email": lambda world: build_request(
        "GET", f"/authors/{world.target.author.pk}", expected_value=world.target.author.email
    ),
    "read an order": lambda world: build_order_request(world, "GET"),
    "list orders": lambda world: build_request("GET", "/orders", expected_value=world.target.order.pk),
    "pay an order": lambda world: build_order_request(world, "POST", "/payment"),
    "cancel an order": lambda world: build_order_request(world, "DELETE"),
    "create an order": lambda _: build_request("POST", "/orders", {"total": 1.5}),
    "read a user": lambda world: build_request("GET", f"/users/{world.target.user.pk}"),
    "list users": lambda world: build_request("GET", "/users", expected_value=world.target.user.pk),
    "create a user": lambda _: build_request("POST", "/users", {"name": "New", "email": "new@example.invalid"}),
    "delete a user": lambda world: build_request("DELETE", f"/users/{world.target.user.pk}"),
}
# POST /posts/{id}/publish, which must have the same outcome as PATCH.
REST_ACTIONS: dict[str, Callable[[World], RestRequest]] = {
    "publish a draft": lambda world: build_post_request(world, "POST", "draft", below="/publish"),
    "publish a published post": lambda world: build_post_request(world, "POST", "published", below="/publish"),
}


def send_rest_request(world: World, act: RestRequest) -> Any:
    method, path, body, _ = act
    headers = {} if world.actor.is_anonymous else {"X-API-Key": make_api_key(world.actor)}
    content = b"" if body is None else json.dumps(body).encode()
    content_type = "" if body is None else "application/json"
    return Client().generic(method, path, content, content_type=content_type, headers=headers)


def do_on_rest(_: GraphQL, world: World, act: str) -> Outcome:
    return get_rest_outcome(world, REST[act](world))


def do_on_rest_actions(_: GraphQL, world: World, act: str) -> Outcome:
    return get_rest_outcome(world, REST_ACTIONS[act](world))


def get_rest_outcome(world: World, act: RestRequest) -> Outcome:
    response = send_rest_request(world, act)
    if response.status_code >= 400:
        assert list(response.json()) == ["error"]
        return str(response.status_code)
    shown = act[3] is None or act[3] in iterate_leaves(response.json())
    return "ok" if shown else "404"


Transport = Callable[[GraphQL, World, str], Outcome]
TRANSPORTS: dict[str, tuple[Transport, set[str]]] = {
    "services": (do_on_services, set(SERVICES)),
    "graphql": (do_on_graphql, set(GRAPHQL)),
    "rest": (do_on_rest, set(REST)),
    "rest, by action": (do_on_rest_actions, set(REST_ACTIONS)),
}
