"""Rows beside a post while people write it: its working copy, preview links, and the pages that have it open.

The triggers are in PostgreSQL, so that a server of an earlier release, and SQL, can delete a post that has such rows.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from contentapi.db.ids import SharedIdField

MAX_NOTE = 200
DELETE_WRITING = """
        DELETE FROM blog_workingcopy WHERE post_id = OLD.id;
        DELETE FROM blog_previewlink WHERE post_id = OLD.id;"""  # links end with the post: a restored one has none
DELETE_ROWS = DELETE_WRITING, DELETE_WRITING


class WorkingCopy(models.Model):
    """The unpublished changes to a post, visible only to users who may edit the post.

    `content` has the fields of `CONTENT` and `slug_is_chosen`, by name, so that a new field of a post needs no
    migration here. Code that writes a row locks its post first. No two saves have the same `version`, also after the
    copy was discarded.
    """

    shard_key = "post_id"
    is_new = False  # whether the save that returns this object has created the row

    post = models.OneToOneField("blog.Post", primary_key=True, on_delete=models.DO_NOTHING, related_name="working_copy")
    content = models.JSONField(default=dict)
    base_version = models.BigIntegerField(help_text="The version of the post on which the changes are based.")
    version = models.BigIntegerField()
    publish_at = models.DateTimeField(null=True, help_text="When the worker will publish the changes.")
    scheduled_by = models.BigIntegerField(null=True, help_text="The id of the user who chose this time.")
    updated_at = models.DateTimeField(default=timezone.now)
    updated_by = models.BigIntegerField(null=True, help_text="The id of the user. The user may have been deleted.")

    class Meta:
        indexes = [
            models.Index(fields=["publish_at"], condition=Q(publish_at__isnull=False), name="blog_workingcopy_due")
        ]

    def __str__(self) -> str:
        return f"working copy of post {self.post_id}"


class PreviewMode(models.TextChoices):
    LATEST = "latest"
    VERSION = "version"
    SITE = "site"


class PreviewLink(models.Model):
    """A link that shows a text of a post that is not public. The table has only the SHA-256 of its token.

    The foreign key of the maker is no constraint: servers of an earlier release, which do not know this table, delete
    users.
    """

    shard_key = "post_id"
    id = SharedIdField("ID", primary_key=True)
    post = models.ForeignKey("blog.Post", on_delete=models.DO_NOTHING, related_name="preview_links", db_index=False)
    mode = models.CharField(max_length=10, choices=PreviewMode.choices)
    version = models.BigIntegerField(null=True, help_text="The version that a link of the mode `version` shows.")
    note = models.CharField(max_length=MAX_NOTE, default="")
    digest = models.BinaryField(max_length=32)
    maker = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="blog_previewlink_digest_unique")]
        indexes = [
            models.Index(fields=["post", "expires_at"], name="blog_previewlink_post"),
            models.Index(fields=["maker", "expires_at"], name="blog_previewlink_maker"),
        ]

    def __str__(self) -> str:
        return f"preview link {self.pk} of post {self.post_id}"


class PostPresence(models.Model):
    """A page of the admin in which a person has a post open. The page renews it; it expires after 90 seconds.

    The table is unlogged: after a crash of PostgreSQL it is empty, and the open pages fill it again.
    """

    post_id = models.BigIntegerField()
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    page = models.UUIDField(help_text="The number that the page got when it was opened.")
    opened_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["post_id", "user", "page"], name="blog_postpresence_page")]
        indexes = [models.Index(fields=["seen_at"], name="blog_postpresence_seen")]

    def __str__(self) -> str:
        return f"user {self.user_id} has post {self.post_id} open"
