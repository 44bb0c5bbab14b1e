from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from blog.models.posts import Post, PostStatus


class PostSource(models.Model):
    """The file that a post was imported from, and values of the file for which `Post` has no field."""

    shard_key = "post_id"
    shard_claims = ["SELECT 'file', source || chr(10) || path, post_id FROM blog_postsource"]
    post = models.OneToOneField(Post, on_delete=models.CASCADE, related_name="source")
    source = models.TextField(help_text="The name of the site that the file belongs to.")
    path = models.TextField(help_text="Relative to the folder that was imported.")
    digest = models.BinaryField(max_length=32, help_text="SHA-256 of the file as it was last imported.")
    authors = ArrayField(models.TextField(), help_text="All authors named by the file; the first is the post's.")
    status = models.CharField(
        max_length=10, choices=PostStatus.choices, help_text="The state that the last import called for."
    )
    publish_at = models.DateTimeField(null=True, help_text="The time of publication that the last import called for.")
    front_matter = models.JSONField(default=dict, help_text="The keys of the file that have no field here.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "path"], name="blog_postsource_file_unique")]

    def __str__(self) -> str:
        return f"{self.source}: {self.path}"


class ImportState(models.TextChoices):
    CHECKING = "checking"
    CHECKED = "checked"
    IMPORTING = "importing"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    UNDOING = "undoing"
    UNDONE = "undone"


WORKING = (ImportState.CHECKING, ImportState.IMPORTING, ImportState.UNDOING)  # the states in which the worker works
RUNNING_IMPORT = Q(state__in=WORKING)


class ImportJob(models.Model):
    """The import of an uploaded zip file. The worker checks the files, and imports them after the owner has agreed."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    file_name = models.TextField()
    source = models.TextField(help_text="The name of the site that the files belong to.")
    status = models.CharField(
        max_length=10, choices=PostStatus.choices, help_text="The state of posts whose file has none."
    )
    state = models.CharField(max_length=10, choices=ImportState.choices, default=ImportState.CHECKING)
    total = models.PositiveIntegerField(help_text="The number of Markdown files.")
    done = models.PositiveIntegerField(default=0, help_text="The number of files that are checked or imported.")
    ignored = models.PositiveIntegerField(help_text="The number of files that are not Markdown.")
    problem = models.TextField(blank=True, help_text="Why the import failed.")
    run = models.PositiveIntegerField(default=0, help_text="How often a worker has begun or continued the work.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="The runs since the last file that was finished.")
    claimed_until = models.DateTimeField(null=True, help_text="Until when it is that worker's alone.")
    undone_by = models.BigIntegerField(null=True, help_text="The id of the user who undid the import.")
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now, help_text="When the worker last finished a file.")

    class Meta:
        verbose_name = "import"
        constraints = [
            models.CheckConstraint(condition=Q(state__in=ImportState.values), name="blog_importjob_state_known"),
            models.UniqueConstraint(
                fields=["source"], condition=Q(state=ImportState.IMPORTING), name="blog_importjob_one_per_source"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.file_name} ({self.source})"

    @property
    def is_running(self) -> bool:
        return self.state in WORKING


class ImportPiece(models.Model):
    """A part of the uploaded zip file, which is deleted when the import ends."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="pieces", db_index=False)
    number = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="blog_importpiece_unique")]

    def __str__(self) -> str:
        return f"part {self.number} of import {self.job_id}"


class ImportResult(models.Model):
    """What an import did with a file or, in its plan, would do."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="results", db_index=False)
    is_plan = models.BooleanField()
    number = models.PositiveIntegerField(help_text="The place of the file in the zip file.")
    path = models.TextField()
    outcome = models.CharField(max_length=10)
    reason = models.TextField(blank=True, help_text="Why the file was refused, and what to write instead.")
    post_id = models.BigIntegerField(null=True, help_text="The id of the post that the import has written.")
    details = models.JSONField(null=True, help_text="The post as the file describes it, and its missing images.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "is_plan", "number"], name="blog_importresult_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.path}: {self.outcome}"
