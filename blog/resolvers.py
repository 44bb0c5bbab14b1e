"""The root fields of the blog. Each calls one selector or one service."""

from typing import Any

from ariadne import EnumType, MutationType, QueryType, SubscriptionType

from blog import selectors, services
from blog.models import ImageFormat, ImageStatus, PostStatus, PreviewMode
from contentapi.core.pagination import parse_id
from contentapi.events.feed import ObjectSubscription
from contentapi.graphql.root_fields import (
    Info,
    bind_fields,
    build_enum,
    build_sort,
    pass_arguments,
    pass_changes,
    pass_id,
)

QUERY = bind_fields(
    QueryType(),
    {
        "post": pass_id(selectors.posts.select_post_by_id),
        "postBySlug": pass_arguments(selectors.posts.select_post_by_slug),
        "posts": pass_arguments(selectors.posts.select_newest_posts),
        "postsConnection": pass_arguments(selectors.posts.build_posts_connection),
        "author": pass_id(selectors.authors.select_author_by_id),
        "authors": pass_arguments(selectors.authors.select_authors_page),
        "comment": pass_id(selectors.comments.select_comment_by_id),
        "image": pass_id(selectors.images.select_image_by_id),
        "images": pass_arguments(selectors.images.select_images_page),
        "preview": pass_arguments(selectors.previews.select_preview),
    },
)
MUTATION = bind_fields(
    MutationType(),
    {
        "createPost": pass_arguments(services.create_post),
        "updatePost": pass_changes(services.edit_post, "post_id"),
        "publishPost": pass_changes(services.edit_post, "post_id", status=PostStatus.PUBLISHED),
        "unpublishPost": pass_changes(services.edit_post, "post_id", status=PostStatus.DRAFT),
        "archivePost": pass_changes(services.edit_post, "post_id", status=PostStatus.ARCHIVED),
        "schedulePost": pass_changes(services.edit_post, "post_id", status=PostStatus.SCHEDULED),
        "deletePost": pass_arguments(services.delete_post, "post_id"),
        "saveWorkingCopy": pass_arguments(services.save_working_copy),
        "publishWorkingCopy": pass_arguments(services.publish_working_copy),
        "discardWorkingCopy": pass_arguments(services.discard_working_copy),
        "createPreviewLink": pass_arguments(services.create_preview_link),
        "revokePreviewLink": pass_arguments(services.revoke_preview_link, "link_id", payload="revoked_preview_link_id"),
        "addComment": pass_arguments(services.add_comment),
        "deleteComment": pass_arguments(services.delete_comment, "comment_id"),
        "completeUpload": pass_arguments(services.complete_upload, "upload_id"),
        "updateImage": pass_changes(services.edit_image, "image_id"),
        "deleteImage": pass_arguments(services.delete_image, "image_id", payload="deleted_image_id"),
        "restoreImage": pass_arguments(services.restore_image, "image_id"),
    },
)
SUBSCRIPTION = SubscriptionType()
BINDABLES = [
    *(QUERY, MUTATION, SUBSCRIPTION),
    *(build_enum(PostStatus), build_enum(PreviewMode), build_enum(ImageStatus), build_enum(ImageFormat)),
    *(EnumType("PostOrder", selectors.posts.POST_ORDERS), EnumType("CommentOrder", selectors.comments.COMMENT_ORDERS)),
    *build_sort("Post", selectors.posts.POST_SORT_FIELDS),
    *build_sort("Author", selectors.authors.AUTHOR_SORT_FIELDS),
    *build_sort("Image", selectors.images.IMAGE_SORT_FIELDS),
]


@SUBSCRIPTION.source("post")  # type: ignore[arg-type]  # no generator: `contentapi.graphql.subscriptions` calls it
def follow_post(_: None, info: Info, id: str) -> ObjectSubscription:
    return ObjectSubscription(parse_id(id))


SUBSCRIPTION.set_field("post", pass_id(selectors.posts.select_post_by_id))


@MUTATION.field("createUpload")
def create_upload(_: None, info: Info, input: dict[str, Any]) -> dict[str, Any]:
    upload, request = services.create_upload(actor=info.context["actor"], **input)
    headers = [{"name": name, "value": value} for name, value in request.headers.items()]
    return {"id": upload.pk, **request._asdict(), "headers": headers, "expires_at": upload.expires_at}
