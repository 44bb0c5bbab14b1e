"""Reads: which rows an actor may see. A function returns a QuerySet; what may not be seen is simply not in it."""

from django.db.models import QuerySet

from blog.models import Author, Comment, Post
from contentapi import policy
from contentapi.identity import Actor
from contentapi.pagination import parse_id, require_page_size


def post_by_id(actor: Actor, post_id: str) -> QuerySet[Post]:
    """Return the post with this id, or no post."""
    return Post.objects.select_related("author").filter(policy.visible_posts(actor), pk=parse_id(post_id))


def list_posts(
    actor: Actor, *, status: str | None = None, limit: int | None = None, author: Author | None = None
) -> QuerySet[Post]:
    """Return posts newest first, of one author and in one state where these are given. Raises `Malformed`."""
    size = require_page_size(limit, default=10)
    posts = Post.objects.select_related("author").filter(policy.visible_posts(actor)).in_status(status)
    return (posts if author is None else posts.filter(author=author)).newest_first()[:size]


def author_by_id(author_id: str) -> QuerySet[Author]:
    return Author.objects.filter(pk=parse_id(author_id))


def list_comments(post: Post, *, limit: int | None = None) -> QuerySet[Comment]:
    """Return the comments of a post that may be seen, oldest first. Raises `Malformed`."""
    size = require_page_size(limit, default=100)
    return post.comments.select_related("author").oldest_first()[:size]


def count_comments(post: Post) -> int:
    return post.comments.count()


def author_email(actor: Actor, author: Author) -> str | None:
    """Return an author's email where the actor may see it and there is one."""
    return author.email or None if policy.may_see_author_email(actor, author.pk) else None
