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
from tests.conftest import GraphQL, api_key_of
from tests.contract.permissions import (
    LATER,
    Outcome,
    World,
)

# The services. An act returns its result; an empty result counts as 404.


def create(world: World, **values: Any) -> Post:
    author_id = None if world.is_own else str(world.target.author.pk)
    return blog.services.create_post(actor=world.actor, title="New", body="", author_id=author_id, **values)


def update(world: World, status: str) -> Post:
    return blog.services.edit_post(actor=world.actor, post_id=world.post_id(status), changes={"title": "New"})


def move(world: World, old: str, new: str) -> Post:
    publish_at = LATER if new == "scheduled" else None
    return blog.services.edit_post(
        actor=world.actor, post_id=world.post_id(old), changes={"status": new, "publish_at": publish_at}
    )


def comment(world: World, status: str) -> Comment:
    return blog.services.add_comment(actor=world.actor, post_id=world.post_id(status), body="Well said.")


def post_with_status(world: World, status: str) -> QuerySet[Post]:
    return blog.selectors.select_post_by_id(world.actor, world.post_id(status)).queryset()


def listed(world: World, status: str) -> QuerySet[Post]:
    return blog.selectors.select_newest_posts(world.actor, status=status).queryset()


def find(rows: QuerySet[Any], row: Model) -> bool:
    return row in list(rows)


def email(world: World) -> QuerySet[Author]:
    author = blog.selectors.select_author_by_id(world.actor, str(world.target.author.pk))
    return author.queryset().filter(policy.visible_author_emails(world.actor))


def order(world: World) -> Order:
    user_id = None if world.is_own else world.target.user.pk
    return orders.services.create_order(actor=world.actor, user_id=user_id, total=Decimal(1))


def delete_user(world: World) -> bool:
    users.services.delete_user(actor=world.actor, user_id=str(world.target.user.pk))
    return True


SERVICES: dict[str, Callable[[World], object]] = {
    "read a published post": lambda world: post_with_status(world, "published"),
    "list published posts": lambda world: find(listed(world, "published"), world.target.posts["published"]),
    "read an author": lambda world: blog.selectors.select_author_by_id(world.actor, str(world.target.author.pk)),
    "read a comment": lambda world: blog.selectors.select_comment_by_id(world.actor, world.comment_id("published")),
    "read a draft": lambda world: post_with_status(world, "draft"),
    "read a scheduled post": lambda world: post_with_status(world, "scheduled"),
    "read an archived post": lambda world: post_with_status(world, "archived"),
    "list drafts": lambda world: find(listed(world, "draft"), world.target.posts["draft"]),
    "create a post": create,
    "create a published post": lambda world: create(world, status="published"),
    "create a scheduled post": lambda world: create(world, status="scheduled", publish_at=LATER),
    "update a published post": lambda world: update(world, "published"),
    "update a draft": lambda world: update(world, "draft"),
    "publish a draft": lambda world: move(world, "draft", "published"),
    "publish a published post": lambda world: move(world, "published", "published"),
    "schedule a draft": lambda world: move(world, "draft", "scheduled"),
    "unschedule a post": lambda world: move(world, "scheduled", "draft"),
    "unpublish a post": lambda world: move(world, "published", "draft"),
    "archive a published post": lambda world: move(world, "published", "archived"),
    "archive a draft": lambda world: move(world, "draft", "archived"),
    "take a post out of the archive": lambda world: move(world, "archived", "draft"),
    "delete a published post": lambda world: blog.services.delete_post(
        actor=world.actor, post_id=world.post_id("published")
    ),
    "delete a draft": lambda world: blog.services.delete_post(actor=world.actor, post_id=world.post_id("draft")),
    "comment on a published post": lambda world: comment(world, "published"),
    "comment on a draft": lambda world: comment(world, "draft"),
    "delete a comment": lambda world: blog.services.delete_comment(
        actor=world.actor, comment_id=world.comment_id("published")
    ),
    "delete a comment on a draft": lambda world: blog.services.delete_comment(
        actor=world.actor, comment_id=world.comment_id("draft")
    ),
    "read an author's email": email,
    "read an order": lambda world: orders.selectors.select_order_by_id(world.actor, str(world.target.order.pk)),
    "list orders": lambda world: find(orders.selectors.select_orders(world.actor), world.target.order),
    "pay an order": lambda world: orders.services.pay_order(actor=world.actor, order_id=str(world.target.order.pk)),
    "cancel an order": lambda world: orders.services.cancel_order(
        actor=world.actor, order_id=str(world.target.order.pk)
    ),
    "create an order": order,
    "read a user": lambda world: users.selectors.select_user_by_id(world.actor, str(world.target.user.pk)),
    "list users": lambda world: find(users.selectors.select_users(world.actor), world.target.user),
    "create a user": lambda world: users.services.create_user(
        actor=world.actor, email="new@example.invalid", name="New"
    ),
    "delete a user": delete_user,
}


def on_services(_: GraphQL, world: World, act: str) -> Outcome:
    try:
        return "ok" if SERVICES[act](world) else "404"
    except ApiError as refusal:
        return str(refusal.status)


# GraphQL. An act is a document, its variables, and a value that only a successful response contains.


def creation(world: World, **values: Any) -> tuple[str, dict[str, Any], None]:
    author_id = {} if world.is_own else {"authorId": str(world.target.author.pk)}
    document = "mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }"
    return document, {"input": {"title": "New", "body": "", **author_id, **values}}, None


def renewal(world: World, status: str) -> tuple[str, dict[str, Any], None]:
    document = "mutation ($input: UpdatePostInput!) { updatePost(input: $input) { id } }"
    return document, {"input": {"id": world.post_id(status), "title": "New"}}, None


def scheduling(world: World) -> tuple[str, dict[str, Any], None]:
    document = "mutation ($input: SchedulePostInput!) { schedulePost(input: $input) { id } }"
    return document, {"input": {"id": world.post_id("draft"), "publishAt": LATER.isoformat()}}, None


def by_id(mutation: str, id_: str, selection: str = "{ id }") -> tuple[str, dict[str, Any], None]:
    return f"mutation ($id: ID!) {{ {mutation}(id: $id) {selection} }}", {"id": id_}, None


def saying(world: World, status: str) -> tuple[str, dict[str, Any], None]:
    document = "mutation ($input: AddCommentInput!) { addComment(input: $input) { id } }"
    return document, {"input": {"postId": world.post_id(status), "body": "Well said."}}, None


def reading(world: World, status: str) -> tuple[str, dict[str, Any], None]:
    return "query ($id: ID!) { post(id: $id) { id } }", {"id": world.post_id(status)}, None


def listing(world: World, status: str) -> tuple[str, dict[str, Any], str]:
    return f"{{ posts(status: {status}) {{ id }} }}", {}, world.post_id(status)


def author(world: World, selection: str, holds: str | None = None) -> tuple[str, dict[str, Any], str | None]:
    return f"query ($id: ID!) {{ author(id: $id) {{ {selection} }} }}", {"id": str(world.target.author.pk)}, holds


GRAPHQL: dict[str, Callable[[World], tuple[str, dict[str, Any], str | None]]] = {
    "read a published post": lambda world: reading(world, "published"),
    "list published posts": lambda world: listing(world, "published"),
    "read an author": lambda world: author(world, "name"),
    "read a comment": lambda world: author(world, "posts { comments { id } }", world.comment_id("published")),
    "read a draft": lambda world: reading(world, "draft"),
    "read a scheduled post": lambda world: reading(world, "scheduled"),
    "read an archived post": lambda world: reading(world, "archived"),
    "list drafts": lambda world: listing(world, "draft"),
    "list an author's drafts": lambda world: author(world, "posts { id }", world.post_id("draft")),
    "create a post": creation,
    "create a published post": lambda world: creation(world, status="published"),
    "create a scheduled post": lambda world: creation(world, status="scheduled", publishAt=LATER.isoformat()),
    "update a published post": lambda world: renewal(world, "published"),
    "update a draft": lambda world: renewal(world, "draft"),
    "publish a draft": lambda world: by_id("publishPost", world.post_id("draft")),
    "publish a published post": lambda world: by_id("publishPost", world.post_id("published")),
    "schedule a draft": scheduling,
    "unschedule a post": lambda world: by_id("unpublishPost", world.post_id("scheduled")),
    "unpublish a post": lambda world: by_id("unpublishPost", world.post_id("published")),
    "archive a published post": lambda world: by_id("archivePost", world.post_id("published")),
    "archive a draft": lambda world: by_id("archivePost", world.post_id("draft")),
    "take a post out of the archive": lambda world: by_id("unpublishPost", world.post_id("archived")),
    "delete a published post": lambda world: by_id("deletePost", world.post_id("published"), ""),
    "delete a draft": lambda world: by_id("deletePost", world.post_id("draft"), ""),
    "comment on a published post": lambda world: saying(world, "published"),
    "comment on a draft": lambda world: saying(world, "draft"),
    "delete a comment": lambda world: by_id("deleteComment", world.comment_id("published"), ""),
    "delete a comment on a draft": lambda world: by_id("deleteComment", world.comment_id("draft"), ""),
    "read an author's email": lambda world: author(world, "email", world.target.author.email),
}


def on_graphql(gql: GraphQL, world: World, act: str) -> Outcome:
    document, variables, holds = GRAPHQL[act](world)
    answer = gql(document, actor=None if world.actor.is_anonymous else world.actor, **variables)
    if "errors" in answer.body:
        [error] = answer.body["errors"]
        assert answer.status == error["extensions"]["status"]
        return str(answer.status)
    [found] = answer.data.values()
    shown = found is not None if holds is None else holds in leaves(found)
    return "ok" if shown else "404"


def leaves(value: Any) -> Iterator[Any]:
    for below in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from leaves(below)
    if not isinstance(value, dict | list):
        yield value


# REST. An act is a method, a path, a body, and a value that only a successful response contains.

Sent = tuple[str, str, dict[str, Any] | None, Any]


def sent(method: str, path: str, body: dict[str, Any] | None = None, holds: Any = None) -> Sent:
    return method, path, body, holds


def to_post(world: World, method: str, status: str, body: dict[str, Any] | None = None, below: str = "") -> Sent:
    return sent(method, f"/posts/{world.post_id(status)}{below}", body)


def to_comment(world: World, method: str, status: str) -> Sent:
    return sent(method, f"/posts/{world.comments[status].post_id}/comments/{world.comment_id(status)}")


def to_order(world: World, method: str, below: str = "") -> Sent:
    return sent(method, f"/orders/{world.target.order.pk}{below}")


def new_post(world: World, **values: Any) -> Sent:
    author_id = {} if world.is_own else {"authorId": str(world.target.author.pk)}
    return sent("POST", "/posts", {"title": "New", "body": "", **author_id, **values})


SCHEDULED = {"status": "scheduled", "publishAt": LATER.isoformat()}
REST: dict[str, Callable[[World], Sent]] = {
    "read a published post": lambda world: to_post(world, "GET", "published"),
    "list published posts": lambda world: sent("GET", "/posts?status=published", holds=world.post_id("published")),
    "read an author": lambda world: sent("GET", f"/authors/{world.target.author.pk}"),
    "read a comment": lambda world: to_comment(world, "GET", "published"),
    "read a draft": lambda world: to_post(world, "GET", "draft"),
    "read a scheduled post": lambda world: to_post(world, "GET", "scheduled"),
    "read an archived post": lambda world: to_post(world, "GET", "archived"),
    "list drafts": lambda world: sent("GET", "/posts?status=draft", holds=world.post_id("draft")),
    "list an author's drafts": lambda world: sent(
        "GET", f"/authors/{world.target.author.pk}/posts", holds=world.post_id("draft")
    ),
    "create a post": new_post,
    "create a published post": lambda world: new_post(world, status="published"),
    "create a scheduled post": lambda world: new_post(world, **SCHEDULED),
    "update a published post": lambda world: to_post(world, "PATCH", "published", {"title": "New"}),
    "update a draft": lambda world: to_post(world, "PATCH", "draft", {"title": "New"}),
    "publish a draft": lambda world: to_post(world, "PATCH", "draft", {"status": "published"}),
    "publish a published post": lambda world: to_post(world, "PATCH", "published", {"status": "published"}),
    "schedule a draft": lambda world: to_post(world, "PATCH", "draft", SCHEDULED),
    "unschedule a post": lambda world: to_post(world, "PATCH", "scheduled", {"status": "draft"}),
    "unpublish a post": lambda world: to_post(world, "PATCH", "published", {"status": "draft"}),
    "archive a published post": lambda world: to_post(world, "PATCH", "published", {"status": "archived"}),
    "archive a draft": lambda world: to_post(world, "PATCH", "draft", {"status": "archived"}),
    "take a post out of the archive": lambda world: to_post(world, "PATCH", "archived", {"status": "draft"}),
    "delete a published post": lambda world: to_post(world, "DELETE", "published"),
    "delete a draft": lambda world: to_post(world, "DELETE", "draft"),
    "comment on a published post": lambda world: to_post(world, "POST", "published", {"body": "Hear!"}, "/comments"),
    "comment on a draft": lambda world: to_post(world, "POST", "draft", {"body": "Hear!"}, "/comments"),
    "delete a comment": lambda world: to_comment(world, "DELETE", "published"),
    "delete a comment on a draft": lambda world: to_comment(world, "DELETE", "draft"),
    "read an author's email": lambda world: sent(
        "GET", f"/authors/{world.target.author.pk}", holds=world.target.author.email
    ),
    "read an order": lambda world: to_order(world, "GET"),
    "list orders": lambda world: sent("GET", "/orders", holds=world.target.order.pk),
    "pay an order": lambda world: to_order(world, "POST", "/payment"),
    "cancel an order": lambda world: to_order(world, "DELETE"),
    "create an order": lambda _: sent("POST", "/orders", {"total": 1.5}),
    "read a user": lambda world: sent("GET", f"/users/{world.target.user.pk}"),
    "list users": lambda world: sent("GET", "/users", holds=world.target.user.pk),
    "create a user": lambda _: sent("POST", "/users", {"name": "New", "email": "new@example.invalid"}),
    "delete a user": lambda world: sent("DELETE", f"/users/{world.target.user.pk}"),
}
# POST /posts/{id}/publish, which must have the same outcome as PATCH.
REST_ACTIONS: dict[str, Callable[[World], Sent]] = {
    "publish a draft": lambda world: to_post(world, "POST", "draft", below="/publish"),
    "publish a published post": lambda world: to_post(world, "POST", "published", below="/publish"),
}


def rest(world: World, act: Sent) -> Any:
    method, path, body, _ = act
    headers = {} if world.actor.is_anonymous else {"X-API-Key": api_key_of(world.actor)}
    content = b"" if body is None else json.dumps(body).encode()
    content_type = "" if body is None else "application/json"
    return Client().generic(method, path, content, content_type=content_type, headers=headers)


def on_rest(_: GraphQL, world: World, act: str) -> Outcome:
    return came_to(world, REST[act](world))


def on_rest_actions(_: GraphQL, world: World, act: str) -> Outcome:
    return came_to(world, REST_ACTIONS[act](world))


def came_to(world: World, act: Sent) -> Outcome:
    response = rest(world, act)
    if response.status_code >= 400:
        assert list(response.json()) == ["error"]
        return str(response.status_code)
    shown = act[3] is None or act[3] in leaves(response.json())
    return "ok" if shown else "404"


Transport = Callable[[GraphQL, World, str], Outcome]
TRANSPORTS: dict[str, tuple[Transport, set[str]]] = {
    "services": (on_services, set(SERVICES)),
    "graphql": (on_graphql, set(GRAPHQL)),
    "rest": (on_rest, set(REST)),
    "rest, by action": (on_rest_actions, set(REST_ACTIONS)),
}
