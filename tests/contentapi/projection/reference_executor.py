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
from contentapi.core.errors import Forbidden, Malformed
from contentapi.core.identity import Actor, Role
from contentapi.core.pagination import build_cursor_signer
from contentapi.graphql.scalars import DATE_TIME, serialize_date_time
from contentapi.schema import load_sdl
from users.models import User

QUERY, MUTATION = QueryType(), MutationType()
POST, AUTHOR, COMMENT = ObjectType("Post"), ObjectType("Author"), ObjectType("Comment")
NODE = InterfaceType("Node", lambda row, *_: type(row).__name__)


Row = TypeVar("Row", Author, Post, Comment, User)

ORDERS = {
    f"{name}{way}": [f"{sign}{column}", f"{sign}pk"]
    for name, column in {
        "createdAt": "created_at",
        "updatedAt": "updated_at",
        "publishedAt": "publication_order",
    }.items()
    for way, sign in {"Asc": "", "Desc": "-"}.items()
}


class Bound(NamedTuple):
    """The collection, filters and parent for which a cursor is valid."""

    collection: str
    filters: dict[str, Any]
    parent: int | None


@dataclass
class World:
    """All rows, the actor, and the posts that the actor's mutations have created."""

    actor: Actor
    authors: list[Author]
    posts: list[Post]
    comments: list[Comment]
    users: list[User]
    written: list[Post]
    refused: Collection[str | int]  # the keys of the mutations that wrote nothing
    in_order: dict[tuple[type[Post | Comment], str], list[Any]] = field(default_factory=dict)


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
        sorted((post for post in posts if post.pk not in known_posts), key=lambda post: post.pk),
        refused,
        {
            **{
                (Post, order): list(Post.objects.select_related("author").order_by(*terms))
                for order, terms in ORDERS.items()
            },
            (Comment, "createdAtAsc"): comments,
            (Comment, "createdAtDesc"): comments[::-1],
        },
    )


def in_order(terms: list[str]) -> list[Post]:
    return list(Post.objects.select_related("author").order_by(*terms))


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
    actor = info.context.actor
    readable = {post.pk for post in info.context.posts if sees(actor, post)}
    return (
        with_id([post for post in info.context.posts if post.pk in readable], id)
        or with_id(info.context.authors, id)
        or with_id([comment for comment in info.context.comments if comment.post_id in readable], id)
        or with_id([user for user in info.context.users if sees_user(actor, user)], id)
    )


@QUERY.field("nodes")
def nodes(_: None, info: Info, ids: list[str]) -> list[Any]:
    return [node(None, info, id) for id in ids]  # noqa: A001


def sees_user(actor: Actor, user: User) -> bool:
    return may(actor, "users:read") and (actor.user_id == user.pk or actor.role == Role.ADMIN)


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
        post for post in info.context.in_order[Post, order] if sees(info.context.actor, post) and fits(post, chosen)
    ]
    bound_to = {**{name: str(value) for name, value in chosen.items()}, "orderBy": ORDERS[order]}
    return connection(info, rows, order, Bound("postsConnection", bound_to, None), given)


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
    rows = [comment for comment in info.context.in_order[Comment, order] if comment.post_id == post.pk]
    bound_to = Bound("blog.Post.comments", {"orderBy": ORDERS[order]}, post.pk)
    return connection(info, rows, order, bound_to, given)


def connection(info: Info, rows: list[Any], order: str, bound: Bound, given: dict[str, Any]) -> dict[str, Any]:
    """Return a connection by Relay's specification. The rows around the page are found in the list."""
    first_ones, last_ones = given.get("first"), given.get("last")
    if first_ones is not None and last_ones is not None:
        raise Malformed("Send first or last, not both.")
    name, size = ("first", first_ones) if last_ones is None else ("last", last_ones)
    size = 10 if size is None else size
    if size < 1 or size > 100:
        raise Malformed(f"{name} must be from 1 to 100 (CONTENTAPI_MAX_PAGE), and is {size}.")
    ranks = {
        row.pk: place
        for place, row in enumerate(info.context.in_order[Post if bound.parent is None else Comment, order])
    }
    after, before = (rank_of(given.get(name), name, bound, ranks) for name in ("after", "before"))
    within = [
        row for row in rows if (after is None or ranks[row.pk] > after) and (before is None or ranks[row.pk] < before)
    ]
    page = within[:size] if name == "first" else within[-size:]
    start = ranks[page[0].pk] if page else -1 if after is None else after + 1
    end = ranks[page[-1].pk] if page else len(ranks) if before is None else before - 1
    cursors = [cursor_of(row, order, bound) for row in page]
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


def cursor_of(row: Post | Comment, order: str, bound: Bound) -> str:
    value = getattr(row, ORDERS[order][0].lstrip("-"))
    position = [row.pk, value if isinstance(value, str) else serialize_date_time(value), bound.parent]
    return build_cursor_signer(bound.collection, bound.filters).sign(
        json.dumps(position, ensure_ascii=False).encode().hex()
    )


def rank_of(cursor: str | None, name: str, bound: Bound, ranks: dict[int, int]) -> int | None:
    """Return the index of a cursor's row among all rows."""
    if cursor is None:
        return None
    try:
        pk, _, parent = json.loads(bytes.fromhex(build_cursor_signer(bound.collection, bound.filters).unsign(cursor)))
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
    *(DATE_TIME, QUERY, MUTATION, POST, AUTHOR, COMMENT, NODE),
    convert_names_case=True,
)


def execute(
    document: DocumentNode, rows: World, variables: dict[str, Any], operation_name: str | None
) -> ExecutionResult:
    return execute_sync(SCHEMA, document, context_value=rows, variable_values=variables, operation_name=operation_name)
