"""Writes of comments."""

from collections.abc import Collection

from django.db import transaction
from django.utils import timezone

from blog import policy, selectors
from blog.models import Comment, CommentState
from blog.models.audit import Audit
from blog.services.authors import get_or_create_own_author_id, require_author
from contentapi.core.entity_tags import UNCHANGING, ExpectedVersion, require_version
from contentapi.core.errors import Invalid, require_found
from contentapi.core.identity import Actor
from contentapi.core.policy import require_credential, require_permission
from contentapi.db.distribution import get_backend
from contentapi.projection import PreparedInsert

COMMENTS = PreparedInsert(Comment)
COMMENT_EVENTS = {
    CommentState.VISIBLE: Audit.COMMENT_SHOWN,
    CommentState.HIDDEN: Audit.COMMENT_HIDDEN,
    CommentState.DELETED: Audit.COMMENT_DELETED,
}


@transaction.atomic
def add_comment(*, actor: Actor, post_id: str, body: str, author_id: str | None = None) -> Comment:
    """Comment on a post that the actor may see. None is the actor's own author profile.

    Raises `NotFound` for the post and `Invalid` for the rest.
    """
    require_credential(actor, "comment")
    post = require_found(selectors.select_post_by_id(actor, post_id).queryset().first(), "post")
    require_permission(actor, policy.may_comment(actor), "comment")
    if author_id is not None:
        require_permission(actor, policy.may_manage_comments(actor), "comment as this author")
    if not body.strip():
        raise Invalid({"body": ["This must not be empty."]})
    author = get_or_create_own_author_id(actor) if author_id is None else require_author(author_id).id
    return require_found(COMMENTS.create(post_id=post.pk, author_id=author, body=body), "comment")


@transaction.atomic
def delete_comment(
    *, actor: Actor, comment_id: str, post_id: str | None = None, expected_version: ExpectedVersion = None
) -> str:
    """Delete a visible comment; with `post_id`, only a comment of this post. Returns its id. Raises `NotFound`.

    `blog.services.moderation` can restore it for some time.
    """
    comment = get_comment_for_update(actor, comment_id, "delete comments", post_id=post_id)
    owner, post_owner = comment.author.user_id, comment.post.author.user_id
    require_permission(actor, policy.may_delete_comment_of(actor, owner, post_owner), "delete this comment")
    require_version("comment", UNCHANGING, expected_version)
    change_comment_state([comment], CommentState.DELETED, actor)
    return comment_id


def get_comment_for_update(actor: Actor, comment_id: str, action: str, *, post_id: str | None = None) -> Comment:
    """Return a comment that the actor may see, with its author and post. It is locked until the transaction ends."""
    require_credential(actor, action)
    comments = selectors.select_comment_by_id(actor, comment_id, post_id=post_id).queryset()
    comments = comments.select_related("author", "post__author")
    return require_found(get_backend().lock(comments, of=("self",)).first(), "comment")


def change_comment_state(comments: Collection[Comment], state: CommentState, actor: Actor) -> None:
    """Save a new state of some comments, with who changed it, when and with which credential."""
    ids, posts = [comment.pk for comment in comments], {comment.post_id for comment in comments}
    Comment.objects.filter(pk__in=ids, post__in=posts).update(
        state=state,
        state_changed_at=timezone.now(),
        state_changed_by=actor.user_id,
        state_changed_with=actor.origin,
    )
    for comment in comments:
        event = Audit.COMMENT_RESTORED if comment.state == CommentState.DELETED else COMMENT_EVENTS[state]
        states = {"from": str(comment.state), "to": str(state)}
        event.record(actor, "comment", comment.pk, post_id=comment.post_id, **states)
