"""The blog's schema with plain resolvers over model instances, which graphql-core calls field by field.

Tests compare the projections with it. It implements all rules a second time, without the code of the product.
"""

from __future__ import annotations

from typing import Any

from ariadne import InterfaceType, MutationType, ObjectType, QueryType, make_executable_schema
from django.utils import timezone
from graphql import DocumentNode, ExecutionResult, execute_sync

from blog.models import Author, Comment, Post
from contentapi.core.errors import Forbidden, Unauthenticated
from contentapi.core.identity import ROLE_SCOPES, Actor, Role
from contentapi.graphql.scalars import DATE_TIME
from contentapi.schema import load_sdl
from orders.models import Order
from tests.contentapi.projection.reference_connections import connection
from tests.contentapi.projection.reference_rows import Bound, Info, World, find_seen_copy, first, may, sees, with_id
from tests.contentapi.projection.reference_texts import TEXTS
from users.models import User

QUERY, MUTATION = QueryType(), MutationType()
POST, AUTHOR, COMMENT = ObjectType("Post"), ObjectType("Author"), ObjectType("Comment")
USER, VIEWER, ORDER = ObjectType("User"), ObjectType("Viewer"), ObjectType("Order")
NODE = InterfaceType("Node", lambda row, *_: type(row).__name__)


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


def require_scope(actor: Actor, scope: str, action: str) -> None:
    if actor.is_anonymous:
        raise Unauthenticated(f"A credential is needed to {action}.")
    if not may(actor, scope):
        raise Forbidden(f"You may not {action}.")


def sees_user(actor: Actor, user: User) -> bool:
    return owns_with(actor, user.pk, "users:read")


@QUERY.field("posts")
def posts(_: None, info: Info, limit: int | None = None, status: str | None = None) -> list[Post]:
    return first(seen_posts(info, status), limit, default=10)


@AUTHOR.field("posts")
def author_posts(author: Author, info: Info, limit: int | None = None, status: str | None = None) -> list[Post]:
    return first([post for post in seen_posts(info, status) if has_written(author.pk, post)], limit, default=10)


def has_written(author_id: int, post: Post) -> bool:
    return author_id in (post.author_id, *post.coauthor_ids)


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


for name, read in {**TEXTS, "workingCopy": find_seen_copy}.items():
    POST.set_field(name, read)


@POST.field("coauthors")
def coauthors(post: Post, info: Info) -> list[Author]:
    return [next(author for author in info.context.authors if author.pk == pk) for pk in post.coauthor_ids]


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
        and has_written(author.pk, post)
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
        and ("author" not in chosen or chosen["author"] in map(str, (post.author_id, *post.coauthor_ids)))
        and ("created_from" not in chosen or post.created_at >= chosen["created_from"])
        and ("created_before" not in chosen or post.created_at < chosen["created_before"])
    )


@POST.field("commentsConnection")
def comments_connection(post: Post, info: Info, **given: Any) -> dict[str, Any]:
    order = given.pop("order_by", None) or "createdAtAsc"
    rows = [comment for comment in info.context.in_order(Comment, order) if comment.post_id == post.pk]
    return connection(info, rows, Bound(Comment, "blog.Post.comments", order, {}, post.pk), given)


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
