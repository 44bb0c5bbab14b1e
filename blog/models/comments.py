from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from blog.models.announcements import announce_comments
from blog.models.authors import Author
from blog.models.posts import MAX_ORIGIN, NEWEST, Post
from contentapi.db.ids import SharedIdField


class CommentState(models.TextChoices):
    VISIBLE = "visible"
    HIDDEN = "hidden"
    DELETED = "deleted"


class CommentQuerySet(models.QuerySet["Comment"]):
    def oldest_first(self) -> CommentQuerySet:
        return self.order_by("created_at", "id")


class Comment(models.Model):
    """A comment on a post. Nobody changes its text. `policy.VISIBLE_COMMENTS` states which comments the API shows.

    The three `state_changed_` fields describe who hid, showed, deleted or restored it. They are empty for a comment
    whose state has never changed.
    """

    shard_key = "post_id"
    id = SharedIdField("ID", primary_key=True)
    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="comments", db_index=False)
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="comments")
    body = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    state = models.CharField(
        max_length=7,
        choices=CommentState.choices,
        default=CommentState.VISIBLE,
        db_default=CommentState.VISIBLE,
        editable=False,
    )
    state_changed_at = models.DateTimeField(null=True, editable=False)
    state_changed_by = models.BigIntegerField(
        null=True, editable=False, help_text="The id of the user. The user may have been deleted."
    )
    state_changed_with = models.CharField(
        max_length=MAX_ORIGIN, default="", db_default="", editable=False, help_text="The interface and the credential."
    )

    objects: ClassVar[models.Manager[Comment]] = CommentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(body=""), name="blog_comment_body_present"),
            models.CheckConstraint(
                condition=Q(state=CommentState.VISIBLE)
                | Q(state__in=[CommentState.HIDDEN, CommentState.DELETED], state_changed_at__isnull=False),
                name="blog_comment_state_known",
            ),
        ]
        indexes = [
            # One index for the pages of the API, which have one state, and for the foreign key, which has every state.
            models.Index(fields=["post", "state", "created_at", "id"], name="blog_comment_post_state"),
            models.Index(fields=[*NEWEST], name="blog_comment_newest"),  # the admin's list and desk
            # Few comments are not visible: a list of them is read without passing the others. addComment writes none.
            models.Index(
                fields=["state", *NEWEST], condition=~Q(state=CommentState.VISIBLE), name="blog_comment_moderated"
            ),
            models.Index(
                fields=["state_changed_at"], condition=Q(state=CommentState.DELETED), name="blog_comment_deleted"
            ),
        ]
        triggers = announce_comments()

    def __str__(self) -> str:
        return self.body[:60]
