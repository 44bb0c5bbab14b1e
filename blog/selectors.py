"""Reads: which rows an actor may see. A function returns a QuerySet; what may not be seen is simply not in it."""

import msgspec
from django.db.models import QuerySet

from blog.models import Author, Post
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


class AuthorRow(msgspec.Struct):
    id: int


AUTHOR = PreparedQuery(AuthorRow, lambda given: Author.objects.filter(pk=given("id")))


def author_exists(author_id: str) -> bool:
    return AUTHOR.first(id=parse_id(author_id)) is not None
