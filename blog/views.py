"""Resource-oriented HTTP's way into the blog. Each method: what is asked for, and what is answered."""

from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from blog import selectors, services
from blog.models import PostStatus
from blog.representations import AUTHOR, COMMENT, POST
from contentapi.http.response import Answer, created, no_content, ok
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
    def get(self, asked: ResourceRequest) -> Answer:
        page = asked.page("status", "tag", "author")
        return ok(POST.page(selectors.posts_after(asked.actor, page.after, **page.filters), page, asked.actor))

    def post(self, asked: ResourceRequest) -> Answer:
        post = services.create_post(actor=asked.actor, **asked.body(NewPost).provided())
        return created(f"/posts/{post.pk}", POST.of(post, asked.actor))


class PostResource(Resource):
    def get(self, asked: ResourceRequest, post_id: str) -> Answer:
        return ok(POST.one(selectors.post_by_id(asked.actor, post_id), asked.actor))

    def patch(self, asked: ResourceRequest, post_id: str) -> Answer:
        changes = asked.body(PostChanges).provided()
        version = asked.expected_version(changes.pop("expected_version"))
        post = services.edit_post(actor=asked.actor, post_id=post_id, changes=changes, expected_version=version)
        return ok(POST.of(post, asked.actor))

    def delete(self, asked: ResourceRequest, post_id: str) -> Answer:
        version = asked.expected_version(asked.body_if_any(ExpectedVersionBody).expected_version)
        services.delete_post(actor=asked.actor, post_id=post_id, expected_version=version)
        return no_content()


class PostPublishResource(Resource):
    def post(self, asked: ResourceRequest, post_id: str) -> Answer:
        version = asked.expected_version(asked.body_if_any(ExpectedVersionBody).expected_version)
        published = PostStatus.PUBLISHED
        post = services.move_post(actor=asked.actor, post_id=post_id, status=published, expected_version=version)
        return ok(POST.of(post, asked.actor))


class CommentCollection(Resource):
    def get(self, asked: ResourceRequest, post_id: str) -> Answer:
        page, post = asked.page(), selectors.post_by_id(asked.actor, post_id)
        comments = selectors.comments_after(asked.actor, page.after, post_id=post_id)
        return ok(COMMENT.page(comments, page, asked.actor, within=post))

    def post(self, asked: ResourceRequest, post_id: str) -> Answer:
        comment = services.add_comment(actor=asked.actor, post_id=post_id, body=asked.body(NewComment).body)
        return created(f"/posts/{post_id}/comments/{comment.pk}", COMMENT.of(comment, asked.actor))


class CommentResource(Resource):
    def get(self, asked: ResourceRequest, post_id: str, comment_id: str) -> Answer:
        comment = selectors.comment_by_id(asked.actor, comment_id, post_id=post_id)
        return ok(COMMENT.one(comment, asked.actor))

    def delete(self, asked: ResourceRequest, post_id: str, comment_id: str) -> Answer:
        version = asked.expected_version()
        services.delete_comment(actor=asked.actor, comment_id=comment_id, post_id=post_id, expected_version=version)
        return no_content()


class AuthorCollection(Resource):
    def get(self, asked: ResourceRequest) -> Answer:
        page = asked.page()
        return ok(AUTHOR.page(selectors.authors_after(asked.actor, page.after), page, asked.actor))


class AuthorResource(Resource):
    def get(self, asked: ResourceRequest, author_id: str) -> Answer:
        return ok(AUTHOR.one(selectors.author_by_id(asked.actor, author_id), asked.actor))


class AuthorPostCollection(Resource):
    def get(self, asked: ResourceRequest, author_id: str) -> Answer:
        page, author = asked.page("status", "tag"), selectors.author_by_id(asked.actor, author_id)
        posts = selectors.posts_after(asked.actor, page.after, author=author_id, **page.filters)
        return ok(POST.page(posts, page, asked.actor, within=author))
