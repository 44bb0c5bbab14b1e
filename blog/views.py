"""REST resources of the blog. Each method reads the request and calls one selector or service."""

from datetime import datetime
from typing import Annotated, Any, Literal, cast

from msgspec import UNSET, Meta, UnsetType, defstruct

from blog import projections, selectors, services
from blog.models import CONTENT_FIELDS, POST_OWN, Kind, PostStatus, PreviewMode
from blog.selectors.posts import PostCriteria, select_posts
from contentapi.conf import conf
from contentapi.http.body import WholeNumber
from contentapi.http.response import Response, created, moved, no_content, put
from contentapi.http.uploads import SentFile
from contentapi.rest import Body, ExpectedVersionBody, Resource, ResourceRequest
from contentapi.rest.representations import VERSION, Representation
from contentapi.types.bodies import list_body_fields

# The fields of the representations are in schema/resources/.
POST = Representation(projections.POST, version=VERSION)
AUTHOR = Representation(projections.AUTHOR)
COMMENT = Representation(projections.COMMENT)
IMAGE = Representation(projections.IMAGE, version=VERSION)
WORKING_COPY = Representation(projections.WORKING_COPY, noun="working copy", version=VERSION)
PREVIEW_LINK = Representation(projections.PREVIEW_LINK, noun="preview link")
PREVIEW = Representation(projections.PREVIEW)
REPRESENTATIONS = [POST, AUTHOR, COMMENT, IMAGE, WORKING_COPY, PREVIEW_LINK, PREVIEW]

OWN_FILTERS = [field.name for field in POST_OWN.filters.values()]  # query parameters
Moment = Annotated[datetime, Meta(tz=True)]
Point = Annotated[dict[Literal["x", "y"], float], Meta(min_length=2)]


def define_content_body(name: str, *others: tuple[str, Any, Any], is_new: bool = False) -> type[Body]:
    """Return a body with the content and the own fields of a post, and others. A new post has a title and a text."""
    content: list[tuple[str, Any] | tuple[str, Any, Any]] = list_body_fields(POST_OWN.fields)
    for field in CONTENT_FIELDS:
        kind: Any = list[str] if field.kind == Kind.WORDS else str
        if is_new and (field.is_required or field.kind == Kind.MARKDOWN):
            content.append((field.name, kind))
        else:
            content.append((field.name, kind | UnsetType | None, UNSET))
    body = defstruct(name, [*content, *others], bases=(Body,), kw_only=True, module=__name__)
    return cast("type[Body]", body)


AUTHORS = (("author_id", str | UnsetType | None, UNSET), ("coauthor_ids", list[str] | UnsetType | None, UNSET))
STATUS = ("status", PostStatus | UnsetType | None, UNSET)
PUBLISH_AT = ("publish_at", Moment | UnsetType | None, UNSET)
BASE_VERSION, EXPECTED_VERSION = ("base_version", str | None, None), ("expected_version", str | None, None)
NewPost = define_content_body("NewPost", *AUTHORS, STATUS, PUBLISH_AT, is_new=True)
PostChanges = define_content_body("PostChanges", *AUTHORS, STATUS, PUBLISH_AT, EXPECTED_VERSION)
WorkingCopyChanges = define_content_body("WorkingCopyChanges", PUBLISH_AT, BASE_VERSION, EXPECTED_VERSION)


class NewPreviewLink(Body):
    mode: PreviewMode | None = None
    version: str | None = None
    expires_in: WholeNumber | None = None
    note: str | None = None


class ImageChanges(Body):
    name: str | UnsetType | None = UNSET
    alt: str | UnsetType | None = UNSET
    caption: str | UnsetType | None = UNSET
    credit: str | UnsetType | None = UNSET
    focal_point: Point | UnsetType | None = UNSET
    expected_version: str | None = None


class NewComment(Body):
    body: str


def read_image(request: ResourceRequest) -> SentFile:
    services.images.require_upload(request.actor)  # before the file is read, also for an Idempotency-Key
    return request.read_file("image", conf.environment.contentapi_image_max_bytes)


class PostCollection(Resource, shows=POST):
    def get(self, request: ResourceRequest) -> Response:
        page = request.page("status", "tag", "author", "search", *OWN_FILTERS)
        posts = select_posts(request.actor, PostCriteria.parse(**page.filters), page.after)
        return request.shown.page(posts, page, request.actor)

    def post(self, request: ResourceRequest) -> Response:
        values = request.body(NewPost).provided()
        post, json = request.shown.create(request.actor, lambda: services.create_post(actor=request.actor, **values))
        return created(f"/posts/{post.pk}", json)


class PostResource(Resource, shows=POST):
    def get(self, request: ResourceRequest, post_id: str) -> Response:
        return request.shown.one(selectors.posts.select_post_by_id(request.actor, post_id), request.actor)

    def patch(self, request: ResourceRequest, post_id: str) -> Response:
        changes = request.body(PostChanges).provided()
        version = request.expected_version(changes.pop("expected_version"))
        post = services.edit_post(actor=request.actor, post_id=post_id, changes=changes, expected_version=version)
        return request.shown.of(post, request.actor)

    def delete(self, request: ResourceRequest, post_id: str) -> Response:
        version = request.expected_version(request.body_if_any(ExpectedVersionBody).expected_version)
        services.delete_post(actor=request.actor, post_id=post_id, expected_version=version)
        return no_content()


class PostBySlugResource(Resource, shows=POST):
    def get(self, request: ResourceRequest, slug: str) -> Response:
        present = selectors.posts.find_present_slug(request.actor, slug)
        if present not in (None, slug):
            return moved(f"/posts/by-slug/{present}", request.fields)
        return request.shown.one(selectors.posts.select_post_by_slug(request.actor, slug), request.actor, key="slug")


class PostPublishResource(Resource, shows=POST):
    def post(self, request: ResourceRequest, post_id: str) -> Response:
        version = request.expected_version(request.body_if_any(ExpectedVersionBody).expected_version)
        changes = {"status": PostStatus.PUBLISHED}
        post = services.edit_post(actor=request.actor, post_id=post_id, changes=changes, expected_version=version)
        return request.shown.of(post, request.actor)


class WorkingCopyResource(Resource, shows=WORKING_COPY):
    def get(self, request: ResourceRequest, post_id: str) -> Response:
        return request.shown.one(selectors.posts.select_working_copy(request.actor, post_id), request.actor)

    def put(self, request: ResourceRequest, post_id: str) -> Response:
        values = request.body(WorkingCopyChanges).provided()
        values["expected_version"] = request.expected_version(values["expected_version"])
        copy = services.save_working_copy(actor=request.actor, post_id=post_id, **values)
        return put(request.shown.of(copy, request.actor), f"/posts/{copy.pk}/working-copy", is_new=copy.is_new)

    def delete(self, request: ResourceRequest, post_id: str) -> Response:
        version = request.expected_version(request.body_if_any(ExpectedVersionBody).expected_version)
        services.discard_working_copy(actor=request.actor, post_id=post_id, expected_version=version)
        return no_content()


class WorkingCopyPublishResource(Resource, shows=POST):
    def post(self, request: ResourceRequest, post_id: str) -> Response:
        version = request.expected_version(request.body_if_any(ExpectedVersionBody).expected_version)
        post = services.publish_working_copy(actor=request.actor, post_id=post_id, expected_version=version)
        return request.shown.of(post, request.actor)


class PreviewLinkCollection(Resource, shows=PREVIEW_LINK):
    def get(self, request: ResourceRequest, post_id: str) -> Response:
        page, post = request.page(), selectors.previews.select_post_with_links(request.actor, post_id)
        links = selectors.previews.select_preview_links(request.actor, post_id, page.after)
        return request.shown.page(links, page, request.actor, within=post)

    def post(self, request: ResourceRequest, post_id: str) -> Response:
        values = request.body_if_any(NewPreviewLink).provided()
        made = services.create_preview_link(actor=request.actor, post_id=post_id, **values)
        response = request.shown.extend(made.preview_link, request.actor, **made.describe_secrets())
        return created(f"/preview-links/{made.preview_link.pk}", response)


class PreviewLinkResource(Resource):
    def delete(self, request: ResourceRequest, link_id: str) -> Response:
        services.revoke_preview_link(actor=request.actor, link_id=link_id)
        return no_content()


class PreviewResource(Resource, shows=PREVIEW):
    def get(self, request: ResourceRequest) -> Response:
        return request.shown.one(selectors.previews.select_preview(request.actor), request.actor, key="token")


class CommentCollection(Resource, shows=COMMENT):
    def get(self, request: ResourceRequest, post_id: str) -> Response:
        page, post = request.page(), selectors.posts.select_post_by_id(request.actor, post_id)
        comments = selectors.comments.select_comments(request.actor, post_id, page.after)
        return request.shown.page(comments, page, request.actor, within=post)

    def post(self, request: ResourceRequest, post_id: str) -> Response:
        values = {"post_id": post_id, "body": request.body(NewComment).body}
        comment, json = request.shown.create(request.actor, lambda: services.add_comment(actor=request.actor, **values))
        return created(f"/posts/{post_id}/comments/{comment.pk}", json)


class CommentResource(Resource, shows=COMMENT):
    def get(self, request: ResourceRequest, post_id: str, comment_id: str) -> Response:
        comment = selectors.comments.select_comment_by_id(request.actor, comment_id, post_id=post_id)
        return request.shown.one(comment, request.actor)

    def delete(self, request: ResourceRequest, post_id: str, comment_id: str) -> Response:
        version = request.expected_version()
        services.delete_comment(actor=request.actor, comment_id=comment_id, post_id=post_id, expected_version=version)
        return no_content()


class AuthorCollection(Resource, shows=AUTHOR):
    def get(self, request: ResourceRequest) -> Response:
        page = request.page()
        return request.shown.page(selectors.authors.select_authors(request.actor, page.after), page, request.actor)


class AuthorResource(Resource, shows=AUTHOR):
    def get(self, request: ResourceRequest, author_id: str) -> Response:
        return request.shown.one(selectors.authors.select_author_by_id(request.actor, author_id), request.actor)


class AuthorPostCollection(Resource, shows=POST):
    def get(self, request: ResourceRequest, author_id: str) -> Response:
        page = request.page("status", "tag", "search", *OWN_FILTERS)
        author = selectors.authors.select_author_by_id(request.actor, author_id)
        posts = select_posts(request.actor, PostCriteria.parse(author=author_id, **page.filters), page.after)
        return request.shown.page(posts, page, request.actor, within=author)


class ImageCollection(Resource, is_private=True, shows=IMAGE):
    def get(self, request: ResourceRequest) -> Response:
        page = request.page()
        return request.shown.page(selectors.images.select_images(request.actor, page.after), page, request.actor)

    def post(self, request: ResourceRequest) -> Response:
        image = services.create_image(actor=request.actor, read_file=lambda: read_image(request))
        return created(f"/images/{image.pk}", request.shown.of(image, request.actor))

    def identify_content(self, request: ResourceRequest) -> bytes:
        return read_image(request).sha256


class ImageResource(Resource, shows=IMAGE):
    def get(self, request: ResourceRequest, image_id: str) -> Response:
        return request.shown.one(selectors.images.select_image_by_id(request.actor, image_id), request.actor)

    def patch(self, request: ResourceRequest, image_id: str) -> Response:
        changes = request.body(ImageChanges).provided()
        version = request.expected_version(changes.pop("expected_version"))
        image = services.edit_image(actor=request.actor, image_id=image_id, changes=changes, expected_version=version)
        return request.shown.of(image, request.actor)

    def delete(self, request: ResourceRequest, image_id: str) -> Response:
        version = request.expected_version(request.body_if_any(ExpectedVersionBody).expected_version)
        force = request.read_switch("force")
        services.delete_image(actor=request.actor, image_id=image_id, force=force, expected_version=version)
        return no_content()


class ImageContentResource(Resource, shows=IMAGE):
    def put(self, request: ResourceRequest, image_id: str) -> Response:
        version = request.expected_version()
        image = services.replace_image_file(
            actor=request.actor, image_id=image_id, read_file=lambda: read_image(request), expected_version=version
        )
        return request.shown.of(image, request.actor)

    def identify_content(self, request: ResourceRequest) -> bytes:
        return read_image(request).sha256
