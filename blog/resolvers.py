"""Resolvers of the blog's GraphQL fields. Each function calls one selector or one service."""

from typing import Any

from ariadne import EnumType, InputType, MutationType, QueryType, SubscriptionType
from graphql import GraphQLResolveInfo

from blog import selectors, services
from blog.models import (
    Author,
    Comment,
    Image,
    ImageFormat,
    ImageStatus,
    Post,
    PostStatus,
    PreviewLink,
    PreviewMode,
    WorkingCopy,
)
from blog.selectors import AUTHOR_SORT_FIELDS, COMMENT_ORDERS, IMAGE_SORT_FIELDS, POST_ORDERS, POST_SORT_FIELDS
from blog.services import CreatedLink
from contentapi.core.pagination import parse_id
from contentapi.events.subscriptions import ObjectSubscription
from contentapi.graphql.context import RequestContext
from contentapi.graphql.sorting import build_ordering
from contentapi.projection import ConnectionQuery, Ordering, Rows

Info = GraphQLResolveInfo[RequestContext]

QUERY = QueryType()
MUTATION = MutationType()
SUBSCRIPTION = SubscriptionType()
STATUSES = {status.value: status for status in PostStatus}
MODES = {mode.value: mode for mode in PreviewMode}
IMAGE_STATUSES = {status.value: status for status in ImageStatus}
IMAGE_FORMATS = {each.value: each for each in ImageFormat}
BINDABLES = [
    *(QUERY, MUTATION, SUBSCRIPTION),
    *(EnumType("PostStatus", STATUSES), EnumType("PostOrder", POST_ORDERS), EnumType("CommentOrder", COMMENT_ORDERS)),
    EnumType("PreviewMode", MODES),
    *(EnumType("ImageStatus", IMAGE_STATUSES), EnumType("ImageFormat", IMAGE_FORMATS)),
    *(EnumType("ImageSortField", IMAGE_SORT_FIELDS), InputType("ImageSort", out_type=build_ordering)),
    *(EnumType("PostSortField", POST_SORT_FIELDS), InputType("PostSort", out_type=build_ordering)),
    *(EnumType("AuthorSortField", AUTHOR_SORT_FIELDS), InputType("AuthorSort", out_type=build_ordering)),
]


@QUERY.field("post")
def post(_: None, info: Info, id: str) -> Rows[Post]:
    return selectors.select_post_by_id(info.context["actor"], id)


@SUBSCRIPTION.source("post")  # type: ignore[arg-type]  # no generator: `contentapi.graphql.subscriptions` calls it
def follow_post(_: None, info: Info, id: str) -> ObjectSubscription:
    return ObjectSubscription(parse_id(id))


SUBSCRIPTION.set_field("post", post)


@QUERY.field("postBySlug")
def post_by_slug(_: None, info: Info, slug: str) -> Rows[Post]:
    return selectors.select_post_by_slug(info.context["actor"], slug)


@QUERY.field("posts")
def posts(_: None, info: Info, limit: int | None = None, status: str | None = None) -> Rows[Post]:
    return selectors.select_newest_posts(info.context["actor"], limit=limit, status=status)


@QUERY.field("postsConnection")
def posts_connection(
    _: None, info: Info, filter: dict[str, Any] | None = None, order_by: Ordering | None = None, **window: Any
) -> ConnectionQuery:
    return selectors.build_posts_connection(info.context["actor"], criteria=filter, order_by=order_by, **window)


@QUERY.field("author")
def author(_: None, info: Info, id: str) -> Rows[Author]:
    return selectors.select_author_by_id(info.context["actor"], id)


@QUERY.field("authors")
def authors(_: None, info: Info, order_by: Ordering | None = None, **window: Any) -> ConnectionQuery:
    return selectors.build_authors_connection(info.context["actor"], order_by=order_by, **window)


@QUERY.field("comment")
def comment(_: None, info: Info, id: str) -> Rows[Comment]:
    return selectors.select_comment_by_id(info.context["actor"], id)


@QUERY.field("image")
def image(_: None, info: Info, id: str) -> Rows[Image]:
    return selectors.select_image_by_id(info.context["actor"], id)


@QUERY.field("images")
def images(_: None, info: Info, order_by: Ordering | None = None, **window: Any) -> ConnectionQuery:
    return selectors.build_images_connection(info.context["actor"], order_by=order_by, **window)


@QUERY.field("preview")
def preview(_: None, info: Info) -> Rows[PreviewLink]:
    return selectors.select_preview(info.context["actor"])


@MUTATION.field("createPost")
def create_post(_: None, info: Info, input: dict[str, Any]) -> Post:
    return services.create_post(actor=info.context["actor"], **input)


@MUTATION.field("updatePost")
def update_post(_: None, info: Info, input: dict[str, Any]) -> Post:
    changes = {name: value for name, value in input.items() if name not in ("id", "expected_version")}
    return apply_changes(info, input["id"], changes, input.get("expected_version"))


@MUTATION.field("publishPost")
def publish_post(_: None, info: Info, id: str, expected_version: str | None = None) -> Post:
    return apply_changes(info, id, {"status": PostStatus.PUBLISHED}, expected_version)


@MUTATION.field("unpublishPost")
def unpublish_post(_: None, info: Info, id: str, expected_version: str | None = None) -> Post:
    return apply_changes(info, id, {"status": PostStatus.DRAFT}, expected_version)


@MUTATION.field("archivePost")
def archive_post(_: None, info: Info, id: str, expected_version: str | None = None) -> Post:
    return apply_changes(info, id, {"status": PostStatus.ARCHIVED}, expected_version)


@MUTATION.field("schedulePost")
def schedule_post(_: None, info: Info, input: dict[str, Any]) -> Post:
    changes = {"status": PostStatus.SCHEDULED, "publish_at": input["publish_at"]}
    return apply_changes(info, input["id"], changes, input.get("expected_version"))


def apply_changes(info: Info, post_id: str, changes: dict[str, Any], expected_version: str | None) -> Post:
    return services.edit_post(
        actor=info.context["actor"], post_id=post_id, changes=changes, expected_version=expected_version
    )


@MUTATION.field("deletePost")
def delete_post(_: None, info: Info, id: str, expected_version: str | None = None) -> str:
    return services.delete_post(actor=info.context["actor"], post_id=id, expected_version=expected_version)


@MUTATION.field("saveWorkingCopy")
def save_working_copy(_: None, info: Info, input: dict[str, Any]) -> WorkingCopy:
    return services.save_working_copy(actor=info.context["actor"], **input)


@MUTATION.field("publishWorkingCopy")
def publish_working_copy(_: None, info: Info, input: dict[str, Any]) -> Post:
    return services.publish_working_copy(actor=info.context["actor"], **input)


@MUTATION.field("discardWorkingCopy")
def discard_working_copy(_: None, info: Info, input: dict[str, Any]) -> Post:
    return services.discard_working_copy(actor=info.context["actor"], **input)


@MUTATION.field("createPreviewLink")
def create_preview_link(_: None, info: Info, input: dict[str, Any]) -> CreatedLink:
    return services.create_preview_link(actor=info.context["actor"], **input)


@MUTATION.field("revokePreviewLink")
def revoke_preview_link(_: None, info: Info, input: dict[str, Any]) -> dict[str, str]:
    return {"revoked_preview_link_id": services.revoke_preview_link(actor=info.context["actor"], link_id=input["id"])}


@MUTATION.field("addComment")
def add_comment(_: None, info: Info, input: dict[str, Any]) -> Comment:
    return services.add_comment(actor=info.context["actor"], **input)


@MUTATION.field("deleteComment")
def delete_comment(_: None, info: Info, id: str) -> str:
    return services.delete_comment(actor=info.context["actor"], comment_id=id)


@MUTATION.field("createUpload")
def create_upload(_: None, info: Info, input: dict[str, Any]) -> dict[str, Any]:
    announced = services.create_upload(
        actor=info.context["actor"],
        name=input["name"],
        content_type=input["content_type"],
        size=input["size"],
        digest=input["sha_256"],
    )
    return announced.describe()


@MUTATION.field("completeUpload")
def complete_upload(_: None, info: Info, input: dict[str, Any]) -> Image:
    return services.complete_upload(actor=info.context["actor"], upload_id=input["id"])


@MUTATION.field("updateImage")
def update_image(_: None, info: Info, input: dict[str, Any]) -> Image:
    changes = {name: value for name, value in input.items() if name not in ("id", "expected_version")}
    version = input.get("expected_version")
    return services.edit_image(
        actor=info.context["actor"], image_id=input["id"], changes=changes, expected_version=version
    )


@MUTATION.field("deleteImage")
def delete_image(_: None, info: Info, input: dict[str, Any]) -> dict[str, str]:
    options = {name: value for name, value in input.items() if name != "id"}
    deleted = services.delete_image(actor=info.context["actor"], image_id=input["id"], **options)
    return {"deleted_image_id": deleted}


@MUTATION.field("restoreImage")
def restore_image(_: None, info: Info, input: dict[str, Any]) -> Image:
    return services.restore_image(actor=info.context["actor"], image_id=input["id"])
