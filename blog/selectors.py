"""Reads: which rows an actor may see. A function returns a QuerySet; what may not be seen is simply not in it."""

import msgspec
from django.db.models import QuerySet

from blog.models import Author, Comment, Post
from contentapi import policy
from contentapi.identity import Actor
from contentapi.pagination import parse_id, require_page_size
from contentapi.projection import PreparedQuery, by_shape


def post_by_id(actor: Actor, post_id: str) -> QuerySet[Post]:
    """Return the post with this id, or no post."""
    return visible_post(actor, pk=parse_id(post_id))


@by_shape(Post)
def visible_post(actor: Actor, *, pk: int) -> QuerySet[Post]:
    return Post.objects.filter(policy.visible_posts(actor), pk=pk)


def list_posts(actor: Actor, *, status: str | None = None, limit: int | None = None) -> QuerySet[Post]:
    """Return posts newest first, in one state where it is given. Raises `Malformed`."""
    return visible_posts(actor, status=status)[: require_page_size(limit, default=10)]


@by_shape(Post)
def visible_posts(actor: Actor, *, status: str | None) -> QuerySet[Post]:
    return Post.objects.filter(policy.visible_posts(actor)).in_status(status).newest_first()


def author_by_id(actor: Actor, author_id: str) -> QuerySet[Author]:
    """Return the author with this id, or no author."""
    return author(actor, pk=parse_id(author_id))


@by_shape(Author)
def author(_: Actor, *, pk: int) -> QuerySet[Author]:
    return Author.objects.filter(pk=pk)


def comment_by_id(actor: Actor, comment_id: str, *, post_id: str | None = None) -> QuerySet[Comment]:
    """Return the comment with this id, of this post where one is given, or no comment."""
    return visible_comment(actor, pk=parse_id(comment_id), post=None if post_id is None else parse_id(post_id))


@by_shape(Comment)
def visible_comment(actor: Actor, *, pk: int, post: int | None) -> QuerySet[Comment]:
    """Whoever sees a post sees all its comments."""
    posts = Post.objects.filter(policy.visible_posts(actor))
    comments = Comment.objects.filter(pk=pk, post__in=posts)
    return comments if post is None else comments.filter(post=post)


class AuthorRow(msgspec.Struct):
    """An author, and the user whose profile it is."""

    id: int
    user_id: int | None = None


AUTHOR = PreparedQuery(AuthorRow, lambda given: Author.objects.filter(pk=given("id")))
PROFILE = PreparedQuery(AuthorRow, lambda given: Author.objects.filter(user=given("user")))


def find_author(author_id: str) -> AuthorRow | None:
    return AUTHOR.first(id=parse_id(author_id))


def profile_of(user_id: int) -> AuthorRow | None:
    """Return the author profile of a user, where there is one yet."""
    return PROFILE.first(user=user_id)
