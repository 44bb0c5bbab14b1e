"""Reads of comments."""

from django.db.models import QuerySet

from blog import policy
from blog.models import Comment, CommentState, Post
from blog.selectors.posts import build_after_condition
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.db.expressions import TextLiteral
from contentapi.projection import NEWEST_FIRST, OLDEST_FIRST, parametrised

COMMENT_ORDERS = {"createdAtAsc": OLDEST_FIRST, "createdAtDesc": NEWEST_FIRST}


@parametrised(Comment, pk=parse_id, post_id=parse_id)
def select_comment_by_id(actor: Actor, *, pk: int, post_id: int | None = None) -> QuerySet[Comment]:
    """Return the comment with this id, or no comment; with `post_id`, only a comment of this post."""
    posts = Post.objects.filter(policy.readable_posts(actor))
    comments = Comment.objects.filter(policy.VISIBLE_COMMENTS, pk=pk, post__in=posts)
    return comments if post_id is None else comments.filter(post=post_id)


@parametrised(Comment, post=parse_id)
def select_comments(
    actor: Actor, *, post: int, after: str | None = None, after_pk: int | None = None
) -> QuerySet[Comment]:
    """Return a post's comments, oldest first, from after a position; no comments if the post is not visible."""
    posts = Post.objects.filter(policy.readable_posts(actor), pk=post)
    comments = Comment.objects.filter(policy.VISIBLE_COMMENTS, post__in=posts)
    return comments.filter(build_after_condition(OLDEST_FIRST, after, after_pk)).oldest_first()


def select_moderated_comments(actor: Actor) -> QuerySet[Comment]:
    """Return the comments in every state that the actor moderates: those on own posts; for editors all."""
    return Comment.objects.filter(policy.moderated_comments(actor))


def select_known_comments(actor: Actor) -> QuerySet[Comment]:
    """Return the comments that the actor may see in the admin: visible ones, and those that the actor moderates."""
    posts = Post.objects.filter(policy.visible_posts(actor))
    return Comment.objects.filter(policy.known_comments(actor), post__in=posts)


def filter_comments_by_state(comments: QuerySet[Comment], state: str) -> QuerySet[Comment]:
    """Return the comments in a state; for any other text those that are not deleted."""
    if state in CommentState.values:
        return comments.filter(state=TextLiteral(state))
    return comments.exclude(state=TextLiteral(CommentState.DELETED))
