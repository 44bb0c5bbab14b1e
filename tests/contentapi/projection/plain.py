"""The blog as graphql-core answers it by itself: the obvious resolvers over model instances, one field at a time.

The rules are said again, in words of their own: what the projections answer is held against this.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

from ariadne import MutationType, ObjectType, QueryType, load_schema_from_path, make_executable_schema
from django.conf import settings
from graphql import DocumentNode, ExecutionResult, GraphQLResolveInfo, execute_sync

from blog.models import Author, Comment, Post
from contentapi.errors import Forbidden, Malformed
from contentapi.graphql.scalars import DATE_TIME
from contentapi.identity import Actor, Role

QUERY, MUTATION = QueryType(), MutationType()
POST, AUTHOR, COMMENT = ObjectType("Post"), ObjectType("Author"), ObjectType("Comment")


Row = TypeVar("Row", Author, Post)


@dataclass
class Plain:
    """All rows there are, who asks for them, and the posts that the asker is to find written."""

    actor: Actor
    authors: list[Author]
    posts: list[Post]
    comments: list[Comment]
    written: list[Post]


Info = GraphQLResolveInfo[Plain]


def all_rows(actor: Actor, known_posts: list[int]) -> Plain:
    """Read everything. Posts beyond the known ones are those that the asker has just written."""
    posts = list(Post.objects.select_related("author").order_by("-created_at", "-pk"))
    return Plain(
        actor,
        list(Author.objects.all()),
        [post for post in posts if post.pk in known_posts],
        list(Comment.objects.order_by("created_at", "pk")),
        sorted((post for post in posts if post.pk not in known_posts), key=lambda post: post.pk),
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


@POST.field("commentCount")
def comment_count(post: Post, info: Info) -> int:
    return len([comment for comment in info.context.comments if comment.post_id == post.pk])


@MUTATION.field("createPost")
def create_post(_: None, info: Info, input: dict[str, Any]) -> Post:  # noqa: A002
    """Return the next post that has been written, and hold it to the input; from now on it is one of the posts."""
    actor = info.context.actor
    author_id = int(input["author_id"])
    named = next(author for author in info.context.authors if author.pk == author_id)
    if actor.role == Role.AUTHOR and named.user_id != actor.user_id:
        raise Forbidden("You may not write posts of this author.")
    post = info.context.written.pop(0)
    wanted = {
        "title": input["title"].strip(),
        "body": input["body"],
        "author_id": author_id,
        "tags": input.get("tags") or [],
        "status": input.get("status") or "draft",
        "publish_at": input.get("publish_at"),
        "version": 1,
    }
    assert {name: getattr(post, name) for name in wanted} == wanted
    info.context.posts.insert(0, post)  # nothing is newer
    return post


SCHEMA = make_executable_schema(
    load_schema_from_path(str(settings.SCHEMA_DIR)),
    *(DATE_TIME, QUERY, MUTATION, POST, AUTHOR, COMMENT),
    convert_names_case=True,
)


def execute(
    document: DocumentNode, rows: Plain, variables: dict[str, Any], operation_name: str | None
) -> ExecutionResult:
    return execute_sync(SCHEMA, document, context_value=rows, variable_values=variables, operation_name=operation_name)
