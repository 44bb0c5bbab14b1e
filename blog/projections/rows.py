"""The posts that an actor may see, with the texts of a preview: rows of lists, of authors and of images."""

from typing import Any, cast

from django.db.models import Q, QuerySet
from django.db.models.lookups import Exact

from blog import policy
from blog.models import CONTENT, RENDERED_TEXTS, Post, PostQuerySet, PostStatus
from contentapi.core.identity import Actor
from contentapi.projection import Branch, UnionColumn, filter_by_union, replace_columns

BYLINE = UnionColumn("byline")  # the author by whom a list has a post
# A list of the posts that an author has written with others is read in the order of this table.
BY_COAUTHORSHIP = {"id": "coauthorships__post_id", "created_at": "coauthorships__created_at"}
PREVIEWED = [*CONTENT, *RENDERED_TEXTS]  # the columns that a preview replaces


def show_previewed_list(posts: QuerySet[Post], actor: Actor) -> QuerySet[Post]:
    """Return the posts of a list with the texts of a preview of the whole site. Other previews change no list."""
    return posts if actor.preview is None or not actor.preview.is_site else show_previewed_texts(posts, actor)


def show_previewed_texts(posts: QuerySet[Post], actor: Actor) -> QuerySet[Post]:
    """Return the posts with the texts of the actor's preview. Its rendered texts are those of the present version."""
    if actor.preview is None:
        return posts
    return replace_columns(posts, actor.preview.texts, PREVIEWED, {"rendered_version": "version"})


def filter_previewed_posts(posts: QuerySet[Post], actor: Actor) -> QuerySet[Post]:
    """Return those of the posts that the actor may read one by one: the post of a preview link is among them."""
    return show_previewed_texts(posts.filter(policy.readable_posts(actor)), actor)


def list_parts(visible: policy.VisiblePosts) -> list[Q | Branch]:
    """Return the visible posts as parts of a union, each of which an index has in the order of lists."""
    if visible.coauthor is None:
        return [*visible.conditions]
    hidden = Post.objects.filter(coauthorships__author=visible.coauthor, coauthorships__is_public=False)
    return [*visible.conditions, Branch(hidden, BY_COAUTHORSHIP)]


def select_visible_posts_of(author: Any, actor: Actor, *, status: PostStatus | None) -> PostQuerySet:
    """Return the posts that an author has written, alone or with others, and that the actor may see.

    `author` is an id, or an expression for one. Each part of the union has it in the column `byline`.
    """
    visible = policy.split_visible_posts(actor, status)
    found = [Branch(Post.objects.filter(part)) if isinstance(part, Q) else part for part in list_parts(visible)]
    written = [branch._replace(extra={"byline": "author_id"}) for branch in found]
    states = list_coauthorship_states(visible, status)
    joint = [Post.objects.filter(visible.condition, coauthorships__is_public=is_public) for is_public in states]
    byline = {"byline": "coauthorships__author_id"}
    coauthored = [Branch(rows, BY_COAUTHORSHIP, byline) for rows in joint]
    posts = filter_by_union(Post.objects.all(), [*written, *coauthored], visible.condition)
    shown = show_previewed_list(posts, actor)
    of_author = cast("PostQuerySet", shown.filter(Exact(BYLINE, author)))
    return of_author.in_status(status)


def select_listed_posts(actor: Actor, *, status: PostStatus | None = None, author: int | None = None) -> PostQuerySet:
    """Return the posts that the actor may see, with one status, and by one author, if they are given."""
    if author is not None:
        return select_visible_posts_of(author, actor, status=status)
    visible = policy.split_visible_posts(actor, status)
    posts = filter_by_union(Post.objects.all(), list_parts(visible), visible.condition)
    return cast("PostQuerySet", show_previewed_list(posts, actor)).in_status(status)


def list_coauthorship_states(visible: policy.VisiblePosts, status: PostStatus | None) -> list[bool]:
    """Return whether co-authored posts are public, for each list of an author in the index of co-authorships."""
    if status is not None:
        return [status is PostStatus.PUBLISHED]
    return [True] if visible.condition == policy.PUBLIC_POSTS else [True, False]
