"""REST resources of posts, comments and authors. Each method reads the request and calls one selector or service."""

from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from blog import selectors, services
from blog.models import PostStatus
from blog.representations import AUTHOR, COMMENT, POST
from blog.selectors import PostCriteria
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
        return ok(
            POST.page(
                selectors.select_posts(asked.actor, PostCriteria.parse(**page.filters), page.after), page, asked.actor
            )
        )

    def post(self, asked: ResourceRequest) -> Answer:
        values = asked.body(NewPost).provided()
        post, json = POST.create(asked.actor, lambda: services.create_post(actor=asked.actor, **values))
        return created(f"/posts/{post.pk}", json)


class PostResource(Resource):
    def get(self, asked: ResourceRequest, post_id: str) -> Answer:
        return ok(POST.one(selectors.select_post_by_id(asked.actor, post_id), asked.actor))

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
        changes = {"status": PostStatus.PUBLISHED}
        post = services.edit_post(actor=asked.actor, post_id=post_id, changes=changes, expected_version=version)
        return ok(POST.of(post, asked.actor))


class CommentCollection(Resource):
    def get(self, asked: ResourceRequest, post_id: str) -> Answer:
        page, post = asked.page(), selectors.select_post_by_id(asked.actor, post_id)
        comments = selectors.select_comments(asked.actor, post_id, page.after)
        return ok(COMMENT.page(comments, page, asked.actor, within=post))

    def post(self, asked: ResourceRequest, post_id: str) -> Answer:
        values = {"post_id": post_id, "body": asked.body(NewComment).body}
        comment, json = COMMENT.create(asked.actor, lambda: services.add_comment(actor=asked.actor, **values))
        return created(f"/posts/{post_id}/comments/{comment.pk}", json)


class CommentResource(Resource):
    def get(self, asked: ResourceRequest, post_id: str, comment_id: str) -> Answer:
        comment = selectors.select_comment_by_id(asked.actor, comment_id, post_id=post_id)
        return ok(COMMENT.one(comment, asked.actor))

    def delete(self, asked: ResourceRequest, post_id: str, comment_id: str) -> Answer:
        version = asked.expected_version()
        services.delete_comment(actor=asked.actor, comment_id=comment_id, post_id=post_id, expected_version=version)
        return no_content()


class AuthorCollection(Resource):
    def get(self, asked: ResourceRequest) -> Answer:
        page = asked.page()
        return ok(AUTHOR.page(selectors.select_authors(asked.actor, page.after), page, asked.actor))


class AuthorResource(Resource):
    def get(self, asked: ResourceRequest, author_id: str) -> Answer:
        return ok(AUTHOR.one(selectors.select_author_by_id(asked.actor, author_id), asked.actor))


class AuthorPostCollection(Resource):
    def get(self, asked: ResourceRequest, author_id: str) -> Answer:
        page, author = asked.page("status", "tag"), selectors.select_author_by_id(asked.actor, author_id)
        posts = selectors.select_posts(asked.actor, PostCriteria.parse(author=author_id, **page.filters), page.after)
        return ok(POST.page(posts, page, asked.actor, within=author))
