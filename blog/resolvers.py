"""GraphQL's way into the blog. Each function resolves the field it is named after: which rows, or what is done."""

from typing import Any

from ariadne import EnumType, MutationType, QueryType
from graphql import GraphQLResolveInfo

from blog import selectors, services
from blog.models import Author, Comment, Post, PostStatus
from blog.projections import COMMENT_ORDERS, POST_ORDERS
from contentapi.graphql.context import RequestContext
from contentapi.projection import ConnectionQuery, Ordering, Rows

Info = GraphQLResolveInfo[RequestContext]

QUERY = QueryType()
MUTATION = MutationType()
STATES = {status.value: status for status in PostStatus}
BINDABLES = [
    *(QUERY, MUTATION),
    *(EnumType("PostStatus", STATES), EnumType("PostOrder", POST_ORDERS), EnumType("CommentOrder", COMMENT_ORDERS)),
]


@QUERY.field("post")
def post(_: None, info: Info, id: str) -> Rows[Post]:
    return selectors.post_by_id(info.context["actor"], id)


@QUERY.field("posts")
def posts(_: None, info: Info, limit: int | None = None, status: str | None = None) -> Rows[Post]:
    return selectors.list_posts(info.context["actor"], limit=limit, status=status)


@QUERY.field("postsConnection")
def posts_connection(
    _: None, info: Info, filter: dict[str, Any] | None = None, order_by: Ordering | None = None, **window: Any
) -> ConnectionQuery:
    return selectors.connect_posts(info.context["actor"], fitting=filter, order_by=order_by, **window)


@QUERY.field("author")
def author(_: None, info: Info, id: str) -> Rows[Author]:
    return selectors.author_by_id(info.context["actor"], id)


@MUTATION.field("createPost")
def create_post(_: None, info: Info, input: dict[str, Any]) -> Post:
    return services.create_post(actor=info.context["actor"], returning=info.context.get("returning"), **input)


@MUTATION.field("updatePost")
def update_post(_: None, info: Info, input: dict[str, Any]) -> Post:
    changes = {name: value for name, value in input.items() if name not in ("id", "expected_version")}
    return services.update_post(
        actor=info.context["actor"],
        post_id=input["id"],
        changes=changes,
        expected_version=input.get("expected_version"),
    )


@MUTATION.field("publishPost")
def publish_post(_: None, info: Info, id: str, expected_version: str | None = None) -> Post:
    return move(info, id, PostStatus.PUBLISHED, expected_version)


@MUTATION.field("unpublishPost")
def unpublish_post(_: None, info: Info, id: str, expected_version: str | None = None) -> Post:
    return move(info, id, PostStatus.DRAFT, expected_version)


@MUTATION.field("archivePost")
def archive_post(_: None, info: Info, id: str, expected_version: str | None = None) -> Post:
    return move(info, id, PostStatus.ARCHIVED, expected_version)


def move(info: Info, post_id: str, status: PostStatus, expected_version: str | None) -> Post:
    return services.move_post(
        actor=info.context["actor"], post_id=post_id, status=status, expected_version=expected_version
    )


@MUTATION.field("schedulePost")
def schedule_post(_: None, info: Info, input: dict[str, Any]) -> Post:
    return services.move_post(
        actor=info.context["actor"],
        post_id=input["id"],
        status=PostStatus.SCHEDULED,
        publish_at=input["publish_at"],
        expected_version=input.get("expected_version"),
    )


@MUTATION.field("deletePost")
def delete_post(_: None, info: Info, id: str, expected_version: str | None = None) -> str:
    return services.delete_post(actor=info.context["actor"], post_id=id, expected_version=expected_version)


@MUTATION.field("addComment")
def add_comment(_: None, info: Info, input: dict[str, Any]) -> Comment:
    return services.add_comment(actor=info.context["actor"], **input)


@MUTATION.field("deleteComment")
def delete_comment(_: None, info: Info, id: str) -> str:
    return services.delete_comment(actor=info.context["actor"], comment_id=id)
