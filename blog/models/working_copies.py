from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils import timezone

# In PostgreSQL, so that a server of an earlier release, and SQL, can delete a post that has a working copy.
DELETE_WORKING_COPY = pgtrigger.Trigger(
    name="delete_working_copy",
    operation=pgtrigger.Delete,
    when=pgtrigger.After,
    func="DELETE FROM blog_workingcopy WHERE post_id = OLD.id; RETURN NULL;",
)


class WorkingCopy(models.Model):
    """The unpublished changes of a post. Only users who may edit the post can see them.

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
