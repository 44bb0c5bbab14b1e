"""The blog's schema with plain resolvers over model instances, which graphql-core calls field by field.

Tests compare the projections with it. It implements all rules a second time, without the code of the product.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from ariadne import InterfaceType, MutationType, ObjectType, QueryType, make_executable_schema
from django.core.signing import BadSignature
from django.utils import timezone
from graphql import DocumentNode, ExecutionResult, GraphQLResolveInfo, execute_sync

from blog.models import Author, Comment, Post
from contentapi.core.errors import Forbidden, Malformed, Unauthenticated
from contentapi.core.identity import ROLE_SCOPES, Actor, Role
from contentapi.core.pagination import build_cursor_signer
from contentapi.graphql.scalars import DATE_TIME, serialize_date_time
from contentapi.schema import load_sdl
from orders.models import Order
from users.models import User

QUERY, MUTATION = QueryType(), MutationType()
POST, AUTHOR, COMMENT = ObjectType("Post"), ObjectType("Author"), ObjectType("Comment")
USER, VIEWER, ORDER = ObjectType("User"), ObjectType("Viewer"), ObjectType("Order")
NODE = InterfaceType("Node", lambda row, *_: type(row).__name__)


Row = TypeVar("Row", Author, Post, Comment, User, Order)

RELATED: dict[type[Any], list[str]] = {Post: ["author"]}
COLUMNS: dict[type[Any], dict[str, str]] = {  # by which the rows of a connection can be ordered
    Post: {"createdAt": "created_at", "updatedAt": "updated_at", "publishedAt": "publication_order"},
    Comment: {"createdAt": "created_at"},
    Author: {"name": "name", "createdAt": "created_at"},
    User: {"name": "name", "createdAt": "created_at"},
    Order: {"createdAt": "created_at"},
}
ORDERS = {
    model: {
        f"{name}{way}": [f"{sign}{column}", f"{sign}pk"]
        for name, column in columns.items()
        for way, sign in {"Asc": "", "Desc": "-"}.items()
    }
    for model, columns in COLUMNS.items()
}


class Bound(NamedTuple):
    """The collection, the order of its rows, the criteria and the parent for which a cursor is valid."""

    model: type[Any]
    collection: str
    order: str
    criteria: dict[str, str]
    parent: int | None = None

    @property
    def terms(self) -> list[str]:
        return ORDERS[self.model][self.order]

    @property
    def signer(self) -> Any:
        return build_cursor_signer(self.collection, {**self.criteria, "orderBy": self.terms})


@dataclass
class World:
    """All rows, the actor, and the posts that the actor's mutations have created. Orders are read when needed."""

    actor: Actor
    authors: list[Author]
    posts: list[Post]
    comments: list[Comment]
    users: list[User]
    orders: list[Order]
    written: list[Post]
    refused: Collection[str | int]  # the keys of the mutations that wrote nothing
    orders_read: dict[tuple[type[Any], str], list[Any]] = field(default_factory=dict)

    def in_order(self, model: type[Any], order: str) -> list[Any]:
        if (model, order) not in self.orders_read:
            rows = model.objects.select_related(*RELATED.get(model, ()))
            self.orders_read[model, order] = list(rows.order_by(*ORDERS[model][order]))
        return self.orders_read[model, order]


Info = GraphQLResolveInfo[World]


def all_rows(actor: Actor, known_posts: list[int], refused: Collection[str | int] = ()) -> World:
    """Read all rows. Posts that are not known were created by the mutations of the operation."""
    posts = list(Post.objects.select_related("author").order_by("-created_at", "-pk"))
    comments = list(Comment.objects.order_by("created_at", "pk"))
    return World(
        actor,
        list(Author.objects.all()),
        [post for post in posts if post.pk in known_posts],
        comments,
        list(User.objects.all()),
        list(Order.objects.all()),
        sorted((post for post in posts if post.pk not in known_posts), key=lambda post: post.pk),
        refused,
    )


def may(actor: Actor, scope: str) -> bool:
    return actor.role is not None and scope in actor.scopes and not (actor.role == "reader" and scope == "posts:read")


def sees(actor: Actor, post: Post) -> bool:
    if post.status == "published":
        return True
    mine = actor.user_id is not None and actor.user_id == post.author.user_id
    return may(actor, "posts:read") and (mine or actor.role in (Role.EDITOR, Role.ADMIN))


def first(rows: list[Any], limit: int | None, default: int) -> list[Any]:
    size = default if limit is None else limit
    if size < 1 or size > 100:
        raise Malformed(f"limit must be from 1 to 100 (CONTENTAPI_MAX_PAGE), and is {size}.")
    return rows[:size]


def with_id(rows: list[Row], id: str) -> Row | None:  # noqa: A002
    return next((row for row in rows if str(row.pk) == id), None)


@QUERY.field("post")
def post(_: None, info: Info, id: str) -> Post | None:  # noqa: A002
    return with_id([post for post in info.context.posts if sees(info.context.actor, post)], id)


@QUERY.field("author")
def author(_: None, info: Info, id: str) -> Author | None:  # noqa: A002
    return with_id(info.context.authors, id)


@QUERY.field("node")
def node(_: None, info: Info, id: str) -> Any:  # noqa: A002
    found = [find(None, info, id) for find in (post, author, comment, find_user, find_order)]
    return next((row for row in found if row is not None), None)


@QUERY.field("comment")
def comment(_: None, info: Info, id: str) -> Comment | None:  # noqa: A002
    readable = {post.pk for post in info.context.posts if sees(info.context.actor, post)}
    return with_id([comment for comment in info.context.comments if comment.post_id in readable], id)


@QUERY.field("user")
def user(_: None, info: Info, id: str) -> User | None:  # noqa: A002
    require_scope(info.context.actor, "users:read", "read users")
    return find_user(None, info, id)


def find_user(_: None, info: Info, id: str) -> User | None:  # noqa: A002
    return with_id([user for user in info.context.users if sees_user(info.context.actor, user)], id)


@QUERY.field("order")
def order(_: None, info: Info, id: str) -> Order | None:  # noqa: A002
    require_scope(info.context.actor, "orders:read", "read orders")
    return find_order(None, info, id)


def find_order(_: None, info: Info, id: str) -> Order | None:  # noqa: A002
    return with_id([order for order in info.context.orders if sees_order(info.context.actor, order)], id)


@QUERY.field("nodes")
def nodes(_: None, info: Info, ids: list[str]) -> list[Any]:
    return [node(None, info, id) for id in ids]  # noqa: A001


def owns_with(actor: Actor, user_id: int | None, scope: str) -> bool:
    """Return whether a row of a user is the actor's own, or the actor is an admin, and has the scope."""
    mine = actor.user_id is not None and actor.user_id == user_id
    return actor.role is not None and scope in actor.scopes and (mine or actor.role == Role.ADMIN)


def sees_order(actor: Actor, order: Order) -> bool:
    return owns_with(actor, order.user_id, "orders:read")


def require_scope(actor: Actor, scope: str, act: str) -> None:
    if actor.is_anonymous:
        raise Unauthenticated(f"A credential is needed to {act}.")
    if not may(actor, scope):
        raise Forbidden(f"You may not {act}.")


def sees_user(actor: Actor, user: User) -> bool:
    return owns_with(actor, user.pk, "users:read")


@QUERY.field("posts")
def posts(_: None, info: Info, limit: int | None = None, status: str | None = None) -> list[Post]:
    return first(seen_posts(info, status), limit, default=10)


@AUTHOR.field("posts")
def author_posts(author: Author, info: Info, limit: int | None = None, status: str | None = None) -> list[Post]:
    return first([post for post in seen_posts(info, status) if post.author_id == author.pk], limit, default=10)


def seen_posts(info: Info, status: str | None) -> list[Post]:
    return [
        post
        for post in info.context.posts
        if sees(info.context.actor, post) and (status is None or post.status == status)
    ]


@AUTHOR.field("email")
def email(author: Author, info: Info) -> str | None:
    actor = info.context.actor
    mine = actor.user_id is not None and actor.user_id == author.user_id
    shown = may(actor, "authors:read") and (mine or actor.role in (Role.EDITOR, Role.ADMIN))
    return author.email if shown and author.email else None


@POST.field("author")
@COMMENT.field("author")
def writer(written: Post | Comment, info: Info) -> Author:
    return next(author for author in info.context.authors if author.pk == written.author_id)


@POST.field("comments")
def comments(post: Post, info: Info, limit: int | None = None) -> list[Comment]:
    return first([comment for comment in info.context.comments if comment.post_id == post.pk], limit, default=100)


@QUERY.field("postsConnection")
def posts_connection(_: None, info: Info, **given: Any) -> dict[str, Any]:
    chosen = {name: value for name, value in sorted((given.pop("filter", None) or {}).items()) if value is not None}
    order = given.pop("order_by", None) or "createdAtDesc"
    rows = [
        post for post in info.context.in_order(Post, order) if sees(info.context.actor, post) and fits(post, chosen)
    ]
    bound = Bound(Post, "postsConnection", order, {name: str(value) for name, value in chosen.items()})
    return connection(info, rows, bound, given)


@AUTHOR.field("postsConnection")
def author_posts_connection(author: Author, info: Info, **given: Any) -> dict[str, Any]:
    order, status = name_order(given.pop("order_by"), "createdAtDesc"), given.pop("status", None)
    written = {post.pk for post in info.context.posts}  # without those of the mutations that follow
    rows = [
        post
        for post in info.context.in_order(Post, order)
        if post.pk in written
        and post.author_id == author.pk
        and sees(info.context.actor, post)
        and status in (None, post.status)
    ]
    bound = Bound(Post, "blog.Author.posts", order, {"status": status} if status else {}, author.pk)
    return connection(info, rows, bound, given)


@QUERY.field("authors")
def authors(_: None, info: Info, **given: Any) -> dict[str, Any]:
    order = name_order(given.pop("order_by"), "createdAtAsc")
    return connection(info, info.context.in_order(Author, order), Bound(Author, "authors", order, {}), given)


@QUERY.field("users")
def users(_: None, info: Info, **given: Any) -> dict[str, Any]:
    actor, order = info.context.actor, name_order(given.pop("order_by"), "createdAtAsc")
    require_scope(actor, "users:read", "list users")
    rows = [user for user in info.context.in_order(User, order) if sees_user(actor, user)]
    return connection(info, rows, Bound(User, "users", order, {}), given)


@QUERY.field("orders")
def orders(_: None, info: Info, **given: Any) -> dict[str, Any]:
    actor, order = info.context.actor, name_order(given.pop("order_by"), "createdAtDesc")
    require_scope(actor, "orders:read", "list orders")
    rows = [each for each in info.context.in_order(Order, order) if sees_order(actor, each)]
    return connection(info, rows, Bound(Order, "orders", order, {}), given)


@VIEWER.field("orders")
def viewer_orders(viewer: dict[str, Any], info: Info, **given: Any) -> dict[str, Any]:
    order, user_id = name_order(given.pop("order_by"), "createdAtDesc"), viewer["user"].pk
    require_scope(info.context.actor, "orders:read", "list orders")
    rows = [each for each in info.context.in_order(Order, order) if each.user_id == user_id]
    return connection(info, rows, Bound(Order, "users.User.orders", order, {}, user_id), given)


def name_order(sort: dict[str, str] | None, default: str) -> str:
    return f"{sort['field']}{sort['direction'].capitalize()}" if sort else default


@QUERY.field("viewer")
def viewer(_: None, info: Info) -> dict[str, Any] | None:
    actor = info.context.actor
    found = next((user for user in info.context.users if user.pk == actor.user_id), None)
    if found is None or actor.role is None:
        return None
    allowed = actor.scopes & ROLE_SCOPES[actor.role]
    return {"user": found, "role": actor.role.value, "scopes": sorted(allowed), "author": profile(found, info)}


@USER.field("author")
def profile(user: User, info: Info) -> Author | None:
    return next((author for author in info.context.authors if author.user_id == user.pk), None)


@ORDER.field("total")
def total(order: Order, _: Info) -> float:
    return float(order.total)


@ORDER.field("tracking")
def tracking(order: Order, _: Info) -> Order | None:
    return order if order.status in ("shipped", "delivered") else None


@ORDER.field("allowedActions")
def allowed_actions(order: Order, info: Info) -> list[str]:
    actor = info.context.actor
    if order.status == "pending":
        return ["cancel", "pay"] if owns_with(actor, order.user_id, "orders:write") else []
    return ["track"] if order.status in ("shipped", "delivered") and sees_order(actor, order) else []


def fits(post: Post, chosen: dict[str, Any]) -> bool:
    return (
        chosen.get("status", post.status) == post.status
        and ("tag" not in chosen or chosen["tag"] in post.tags)
        and chosen.get("author", str(post.author_id)) == str(post.author_id)
        and ("created_from" not in chosen or post.created_at >= chosen["created_from"])
        and ("created_before" not in chosen or post.created_at < chosen["created_before"])
    )


@POST.field("commentsConnection")
def comments_connection(post: Post, info: Info, **given: Any) -> dict[str, Any]:
    order = given.pop("order_by", None) or "createdAtAsc"
    rows = [comment for comment in info.context.in_order(Comment, order) if comment.post_id == post.pk]
    return connection(info, rows, Bound(Comment, "blog.Post.comments", order, {}, post.pk), given)


def connection(info: Info, rows: list[Any], bound: Bound, given: dict[str, Any]) -> dict[str, Any]:
    """Return a connection by Relay's specification. The rows around the page are found in the list."""
    first_ones, last_ones = given.get("first"), given.get("last")
    if first_ones is not None and last_ones is not None:
        raise Malformed("Send first or last, not both.")
    name, size = ("first", first_ones) if last_ones is None else ("last", last_ones)
    size = 10 if size is None else size
    if size < 1 or size > 100:
        raise Malformed(f"{name} must be from 1 to 100 (CONTENTAPI_MAX_PAGE), and is {size}.")
    ranks = {row.pk: place for place, row in enumerate(info.context.in_order(bound.model, bound.order))}
    after, before = (rank_of(given.get(name), name, bound, ranks) for name in ("after", "before"))
    within = [
        row for row in rows if (after is None or ranks[row.pk] > after) and (before is None or ranks[row.pk] < before)
    ]
    page = within[:size] if name == "first" else within[-size:]
    start = ranks[page[0].pk] if page else -1 if after is None else after + 1
    end = ranks[page[-1].pk] if page else len(ranks) if before is None else before - 1
    cursors = [cursor_of(row, bound) for row in page]
    return {
        "edges": [{"cursor": cursor, "node": row} for cursor, row in zip(cursors, page, strict=True)],
        "total_count": len(rows),
        "page_info": {
            "has_next_page": any(ranks[row.pk] > end for row in rows),
            "has_previous_page": any(ranks[row.pk] < start for row in rows),
            "start_cursor": cursors[0] if page else None,
            "end_cursor": cursors[-1] if page else None,
        },
    }


def cursor_of(row: Any, bound: Bound) -> str:
    value = getattr(row, bound.terms[0].lstrip("-"))
    position = [row.pk, value if isinstance(value, str) else serialize_date_time(value), bound.parent]
    signed: str = bound.signer.sign(json.dumps(position, ensure_ascii=False).encode().hex())
    return signed


def rank_of(cursor: str | None, name: str, bound: Bound, ranks: dict[int, int]) -> int | None:
    """Return the index of a cursor's row among all rows."""
    if cursor is None:
        return None
    try:
        pk, _, parent = json.loads(bytes.fromhex(bound.signer.unsign(cursor)))
    except BadSignature:
        parent = "foreign"
    if parent != bound.parent:
        raise Malformed(f"{name} must be a cursor of this connection, with the same filter and order.")
    return ranks[pk]


@POST.field("commentCount")
def comment_count(post: Post, info: Info) -> int:
    return len([comment for comment in info.context.comments if comment.post_id == post.pk])


@MUTATION.field("createPost")
def create_post(_: None, info: Info, input: dict[str, Any]) -> Post:  # noqa: A002
    """Compare the next created post with the input, add it to the posts, and return it."""
    actor = info.context.actor
    author_id = int(input["author_id"])
    named = next(author for author in info.context.authors if author.pk == author_id)
    if actor.role == Role.AUTHOR and named.user_id != actor.user_id:
        raise Forbidden("You may not write posts of this author.")
    wanted = {
        "title": input["title"].strip(),
        "body": input["body"],
        "author_id": author_id,
        "tags": input.get("tags") or [],
        "status": input.get("status") or "draft",
        "publish_at": input.get("publish_at"),
        "version": 1,
    }
    if info.path.key in info.context.refused:  # a nested argument is wrong, which becomes an error: nothing is inserted
        return Post(pk=0, created_at=timezone.now(), updated_at=timezone.now(), **wanted)
    post = info.context.written.pop(0)
    assert {name: getattr(post, name) for name in wanted} == wanted
    info.context.posts.insert(0, post)  # nothing is newer
    return post


SCHEMA = make_executable_schema(
    load_sdl(),
    *(DATE_TIME, QUERY, MUTATION, POST, AUTHOR, COMMENT, USER, VIEWER, ORDER, NODE),
    convert_names_case=True,
)


def execute(
    document: DocumentNode, rows: World, variables: dict[str, Any], operation_name: str | None
) -> ExecutionResult:
    return execute_sync(SCHEMA, document, context_value=rows, variable_values=variables, operation_name=operation_name)
