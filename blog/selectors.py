"""Reads: which rows an actor may see. A function returns a QuerySet; what may not be seen is simply not in it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict

import msgspec
from django.db.models import Q, QuerySet

from blog.models import MAX_TAG, Author, Comment, Post, PostStatus
from blog.projections import NEWEST_FIRST, OLDEST_FIRST, filter_visible_posts
from contentapi.core import policy
from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position, parse_connection_args, parse_id, require_page_size
from contentapi.projection import ConnectionQuery, Ordering, PreparedQuery, Rows, parametrised


def post_by_id(actor: Actor, post_id: str) -> Rows[Post]:
    """Return the post with this id, or no post."""
    return visible_post(actor, pk=parse_id(post_id))


@parametrised(Post)
def visible_post(actor: Actor, *, pk: int) -> QuerySet[Post]:
    return Post.objects.filter(policy.visible_posts(actor), pk=pk)


def list_posts(actor: Actor, *, status: str | None = None, limit: int | None = None) -> Rows[Post]:
    """Return posts newest first, in one state where it is given. Raises `Malformed`."""
    return visible_posts(actor, **choice_of(status))[: require_page_size(limit, default=10)]


class Choice(TypedDict):
    """What posts are chosen by, as selectors by shape take it; None leaves it open."""

    status: PostStatus | None
    tag: str | None
    author: int | None


def choice_of(status: str | None, tag: str | None = None, author: str | None = None) -> Choice:
    """Return what posts are chosen by. Raises `Malformed`."""
    return {
        "status": None if status is None else parse_status(status),
        "tag": tag if tag is None else storable_tag(tag),
        "author": None if author is None else parse_id(author),
    }


def parse_status(status: str) -> PostStatus:
    """Return the state with this name. Raises `Malformed`."""
    if status not in PostStatus.values:
        raise Malformed(f"status must be one of {', '.join(PostStatus.values)}.")
    return PostStatus(status)


def posts_after(
    actor: Actor,
    position: Position | None,
    *,
    status: str | None = None,
    tag: str | None = None,
    author: str | None = None,
) -> Rows[Post]:
    """Return posts newest first after a position: in one state, with a tag, of an author. Raises `Malformed`."""
    choice = choice_of(status, tag, author)
    return visible_posts(actor, **choice, created_at=position and position.value, pk=position and position.id)


def storable_tag(tag: str) -> str:
    """Return a tag that a post can have. Raises `Malformed`: the comparison would cut a longer one off."""
    if len(tag) > MAX_TAG:
        raise Malformed(f"tag must have at most {MAX_TAG} characters.")
    return tag


@parametrised(Post)
def visible_posts(
    actor: Actor,
    *,
    status: PostStatus | None,
    tag: str | None = None,
    author: int | None = None,
    created_at: str | None = None,
    pk: int | None = None,
) -> QuerySet[Post]:
    posts = filter_visible_posts(Post.objects.all(), actor, status).tagged(tag).of_author(author)
    return posts.filter(after(NEWEST_FIRST, created_at, pk)).newest_first()


def after(order: Ordering, value: str | None, pk: int | None) -> Q:
    """Return the condition on rows after a position in an order: none where there is no position."""
    return Q() if value is None else order.beyond(value, pk)


def connect_posts(
    actor: Actor, *, fitting: Mapping[str, Any] | None = None, order_by: Ordering | None = None, **window: Any
) -> ConnectionQuery:
    """Return the posts that fit a filter, by `first` and `after` or by `last` and `before`. Raises `Malformed`."""
    chosen = {name: value for name, value in sorted((fitting or {}).items()) if value is not None}
    order = order_by or NEWEST_FIRST
    bound_to = {**{name: str(value) for name, value in chosen.items()}, "orderBy": order.terms()}
    return ConnectionQuery(
        posts_that_fit(actor, **chosen), order, parse_connection_args("postsConnection", bound_to, **window)
    )


def posts_that_fit(
    actor: Actor,
    *,
    status: str | None = None,
    tag: str | None = None,
    author: str | None = None,
    created_from: datetime | None = None,
    created_before: datetime | None = None,
) -> Rows[Post]:
    """Return posts in no order. Raises `Malformed`."""
    choice = choice_of(status, tag, author)
    return unordered_posts(actor, **choice, created_from=created_from, created_before=created_before)


@parametrised(Post)
def unordered_posts(
    actor: Actor,
    *,
    status: PostStatus | None,
    tag: str | None,
    author: int | None,
    created_from: datetime | None,
    created_before: datetime | None,
) -> QuerySet[Post]:
    posts = filter_visible_posts(Post.objects.all(), actor, status).tagged(tag).of_author(author)
    return posts.created_between(created_from, created_before)


def author_by_id(actor: Actor, author_id: str) -> Rows[Author]:
    """Return the author with this id, or no author."""
    return author(actor, pk=parse_id(author_id))


@parametrised(Author)
def author(_: Actor, *, pk: int) -> QuerySet[Author]:
    return Author.objects.filter(pk=pk)


def authors_after(actor: Actor, position: Position | None) -> Rows[Author]:
    """Return authors in the order in which they were made, from after a position on."""
    return authors(actor, pk=position.id if position else 0)


@parametrised(Author)
def authors(_: Actor, *, pk: int) -> QuerySet[Author]:
    return Author.objects.filter(pk__gt=pk).order_by("pk")


def comment_by_id(actor: Actor, comment_id: str, *, post_id: str | None = None) -> Rows[Comment]:
    """Return the comment with this id, of this post where one is given, or no comment."""
    return visible_comment(actor, pk=parse_id(comment_id), post=None if post_id is None else parse_id(post_id))


@parametrised(Comment)
def visible_comment(actor: Actor, *, pk: int, post: int | None) -> QuerySet[Comment]:
    """Whoever sees a post sees all its comments."""
    posts = Post.objects.filter(policy.visible_posts(actor))
    comments = Comment.objects.filter(pk=pk, post__in=posts)
    return comments if post is None else comments.filter(post=post)


def comments_after(actor: Actor, position: Position | None, *, post_id: str) -> Rows[Comment]:
    """Return a post's comments oldest first, from after a position on; none where the post may not be seen."""
    return visible_comments(
        actor,
        post=parse_id(post_id),
        created_at=position and position.value,
        pk=position and position.id,
    )


@parametrised(Comment)
def visible_comments(actor: Actor, *, post: int, created_at: str | None, pk: int | None) -> QuerySet[Comment]:
    posts = Post.objects.filter(policy.visible_posts(actor), pk=post)
    return Comment.objects.filter(post__in=posts).filter(after(OLDEST_FIRST, created_at, pk)).oldest_first()


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
