"""Writes of comments: add, hide, show, delete and restore them, and purge what was deleted long ago.

Nobody changes the words of a comment.
"""

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from blog import policy, selectors
from blog.models import Comment, CommentState, DeletedComment
from blog.models.audit import Audit
from blog.services.authors import get_or_create_own_author_id, require_author
from contentapi.conf.timeouts import RESTORABLE_FOR
from contentapi.core.entity_tags import UNCHANGING, ExpectedVersion, require_version
from contentapi.core.errors import Conflict, Invalid, require_found, require_row
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.core.policy import require_credential, require_permission
from contentapi.db.distribution import get_backend
from contentapi.projection import PreparedInsert

COMMENTS_PER_TRANSACTION = 500  # comments that one transaction of the purge deletes
COMMENTS = PreparedInsert(Comment)


@transaction.atomic
def add_comment(*, actor: Actor, post_id: str, body: str, author_id: str | None = None) -> Comment:
    """Comment on a visible post. None is the actor's own author profile. Raises `NotFound` and `Invalid`."""
    require_credential(actor, "comment")
    post = require_row(selectors.posts.select_post_by_id(actor, post_id).queryset(), "post")
    require_permission(actor, policy.may_comment(actor), "comment")
    if author_id is not None:
        require_permission(actor, policy.may_manage_comments(actor), "comment as this author")
    if not body.strip():
        raise Invalid({"body": ["This must not be empty."]})
    author = get_or_create_own_author_id(actor) if author_id is None else require_author(author_id).id
    return require_found(COMMENTS.create({"post_id": post.pk, "author_id": author, "body": body}), "comment")


@transaction.atomic
def delete_comment(
    *, actor: Actor, comment_id: str, post_id: str | None = None, expected_version: ExpectedVersion = None
) -> str:
    """Delete a visible comment; with `post_id`, only one of this post. Returns its id. Raises `NotFound`."""
    require_credential(actor, "delete comments")
    comments = selectors.comments.select_comment_by_id(actor, comment_id, post_id=post_id).queryset()
    comments = comments.select_related("author", "post__author")
    comment = require_row(get_backend().lock(comments, of=("self",)), "comment")
    owner, post_owner = comment.author.user_id, comment.post.author.user_id
    require_permission(actor, policy.may_delete_comment_of(actor, owner, post_owner), "delete this comment")
    require_version("comment", UNCHANGING, expected_version)
    change_comment_state(comment, "delete", actor)
    return comment_id


def change_comment_state(comment: Comment, action: str, actor: Actor) -> None:
    """Save the state of a comment after an action, with who did it, when and with which credential."""
    _, state, event = PATHS[action]
    changed = {"state": state, "state_changed_by": actor.user_id, "state_changed_with": actor.origin}
    stored = Comment.objects.filter(pk=comment.pk, post=comment.post_id)
    stored.update(**changed, state_changed_at=timezone.now())
    states = {"from": str(comment.state), "to": str(state)}
    event.record(actor, "comment", comment.pk, post_id=comment.post_id, **states)


# The states in which a comment allows an action, the one to which it leads, and its event. Those who moderate the
# comment see it in each state.
PATHS: Mapping[str, tuple[Collection[CommentState], CommentState, Audit]] = {
    "hide": ({CommentState.VISIBLE}, CommentState.HIDDEN, Audit.COMMENT_HIDDEN),
    "show": ({CommentState.HIDDEN}, CommentState.VISIBLE, Audit.COMMENT_SHOWN),
    "delete": ({CommentState.VISIBLE, CommentState.HIDDEN}, CommentState.DELETED, Audit.COMMENT_DELETED),
    "restore": ({CommentState.DELETED}, CommentState.VISIBLE, Audit.COMMENT_RESTORED),
}


@transaction.atomic
def moderate_comment(action: str, *, actor: Actor, comment_id: str) -> Comment:
    """Do an action of `PATHS` to a comment, and return it. Raises `NotFound`, and `Conflict` for its state."""
    require_credential(actor, f"{action} comments")
    known = selectors.comments.select_known_comments(actor).filter(pk=parse_id(comment_id))
    known = known.select_related("author", "post__author").defer("post__body", "post__body_html")
    locked = get_backend().lock(known, of=("self",))
    comment = require_row(locked, "comment")
    require_permission(actor, may_act(actor, comment, action), f"{action} this comment")
    if obstacle := find_obstacle(comment, action):
        raise Conflict(obstacle)
    change_comment_state(comment, action, actor)
    return comment


def find_obstacle(comment: Comment, action: str) -> str:
    """Return why the state of a comment does not allow an action, or an empty string."""
    if comment.state not in PATHS[action][0]:
        return f"It is {comment.state}."
    end = timezone.now() - RESTORABLE_FOR
    if comment.state == CommentState.DELETED and (comment.state_changed_at is None or comment.state_changed_at <= end):
        return f"It was deleted more than {RESTORABLE_FOR.days} days ago."
    return ""


def may_act(actor: Actor, comment: Comment, action: str) -> bool:
    """Return whether the policy lets the actor do this to a comment, whatever its state is."""
    post_owner = comment.post.author.user_id
    if action == "delete":
        return policy.may_delete_comment_of(actor, comment.author.user_id, post_owner)
    return policy.may_moderate_comments_on(actor, post_owner)


def select_expired_comments(now: datetime) -> QuerySet[Comment]:
    """Return the comments that cannot be restored any more, the first deleted first."""
    expired = Comment.objects.filter(state_changed_at__lt=now - RESTORABLE_FOR).order_by("state_changed_at")
    return selectors.comments.filter_comments_by_state(expired, CommentState.DELETED)


def purge_comments(*, actor: Actor) -> int:
    """Delete the rows of the comments that were deleted more than 30 days ago. Returns their number.

    Each batch is a transaction of its own. What the trigger keeps, for comments of a deleted post, goes too.
    """
    require_permission(actor, policy.may_manage_comments(actor), "purge deleted comments")
    expired = select_expired_comments(timezone.now())
    purged = 0
    while True:
        with transaction.atomic():
            rows = list(
                get_backend().lock(expired.values_list("pk", "post_id"), COMMENTS_PER_TRANSACTION, skip_locked=True)
            )
            ids, posts = [pk for pk, _ in rows], {post for _, post in rows}
            deleted = Comment.objects.filter(pk__in=ids, post__in=posts).delete()[0]
            DeletedComment.objects.filter(post__in=posts, id__in=ids).delete()
            if deleted:
                Audit.COMMENT_PURGED.record(actor, comments=deleted)
        purged += deleted
        if len(ids) < COMMENTS_PER_TRANSACTION:
            return purged
