from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils import timezone

from contentapi.db.ids import SharedIdField

MAX_NOTE = 200
# In PostgreSQL, so that a server of an earlier release, and SQL, can delete a post that has links. They end with it: a
# post that is restored later has none.
DELETE_PREVIEW_LINKS = pgtrigger.Trigger(
    name="delete_preview_links",
    operation=pgtrigger.Delete,
    when=pgtrigger.After,
    func="DELETE FROM blog_previewlink WHERE post_id = OLD.id; RETURN NULL;",
)


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
