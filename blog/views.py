"""The REST resources of the blog. A method calls one selector or one service."""

from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from blog import selectors, services
from blog.models import PostStatus
from blog.representations import AUTHOR, COMMENT, POST
from contentapi.http.response import Response, created, no_content
from contentapi.rest import Body, Resource, ResourceRequest

Moment = Annotated[datetime, Meta(tz=True)]


class NewPost(Body):
    title: str
    body: str
    author_id: str | None = None
    tags: list[str] | None = None
    status: PostStatus | None = None
    publish_at: Moment | None = None


class PostChanges(Body):
    title: str | UnsetType | None = UNSET
    body: str | UnsetType | None = UNSET
    tags: list[str] | UnsetType | None = UNSET
    status: PostStatus | UnsetType | None = UNSET
    publish_at: Moment | UnsetType | None = UNSET
    expected_version: str | None = None


class ExpectedVersionBody(Body):
    expected_version: str | None = None


class NewComment(Body):
    body: str


class PostCollection(Resource):
    def get(self, request: ResourceRequest) -> Response:
        page = request.page("status", "tag", "author")
        return POST.page(selectors.posts_after(request.actor, page.after, **page.filters), page, request.actor)

    def post(self, request: ResourceRequest) -> Response:
        post = services.create_post(actor=request.actor, **request.body(NewPost).provided())
        return created(f"/posts/{post.pk}", POST.of(post, request.actor))


class PostResource(Resource):
    def get(self, request: ResourceRequest, post_id: str) -> Response:
        return POST.one(selectors.post_by_id(request.actor, post_id), request.actor)

    def patch(self, request: ResourceRequest, post_id: str) -> Response:
        changes = request.body(PostChanges).provided()
        version = request.expected_version(changes.pop("expected_version"))
        post = services.edit_post(actor=request.actor, post_id=post_id, changes=changes, expected_version=version)
        return POST.of(post, request.actor)

    def delete(self, request: ResourceRequest, post_id: str) -> Response:
        version = request.expected_version(request.body_if_any(ExpectedVersionBody).expected_version)
        services.delete_post(actor=request.actor, post_id=post_id, expected_version=version)
        return no_content()


class PostPublishResource(Resource):
    def post(self, request: ResourceRequest, post_id: str) -> Response:
        version = request.expected_version(request.body_if_any(ExpectedVersionBody).expected_version)
        published = PostStatus.PUBLISHED
        post = services.move_post(actor=request.actor, post_id=post_id, status=published, expected_version=version)
        return POST.of(post, request.actor)


class CommentCollection(Resource):
    def get(self, request: ResourceRequest, post_id: str) -> Response:
        page, post = request.page(), selectors.post_by_id(request.actor, post_id)
        comments = selectors.comments_after(request.actor, page.after, post_id=post_id)
        return COMMENT.page(comments, page, request.actor, within=post)

    def post(self, request: ResourceRequest, post_id: str) -> Response:
        comment = services.add_comment(actor=request.actor, post_id=post_id, body=request.body(NewComment).body)
        return created(f"/posts/{post_id}/comments/{comment.pk}", COMMENT.of(comment, request.actor))


class CommentResource(Resource):
    def get(self, request: ResourceRequest, post_id: str, comment_id: str) -> Response:
        comment = selectors.comment_by_id(request.actor, comment_id, post_id=post_id)
        return COMMENT.one(comment, request.actor)

    def delete(self, request: ResourceRequest, post_id: str, comment_id: str) -> Response:
        version = request.expected_version()
        services.delete_comment(actor=request.actor, comment_id=comment_id, post_id=post_id, expected_version=version)
        return no_content()


class AuthorCollection(Resource):
    def get(self, request: ResourceRequest) -> Response:
        page = request.page()
        return AUTHOR.page(selectors.authors_after(request.actor, page.after), page, request.actor)


class AuthorResource(Resource):
    def get(self, request: ResourceRequest, author_id: str) -> Response:
        return AUTHOR.one(selectors.author_by_id(request.actor, author_id), request.actor)


class AuthorPostCollection(Resource):
    def get(self, request: ResourceRequest, author_id: str) -> Response:
        page, author = request.page("status", "tag"), selectors.author_by_id(request.actor, author_id)
        posts = selectors.posts_after(request.actor, page.after, author=author_id, **page.filters)
        return POST.page(posts, page, request.actor, within=author)
