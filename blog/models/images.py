from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from blog.models.announcements import announce_images
from contentapi.db.ids import SharedIdField
from contentapi.media.storage import name_file

MAX_FILE_NAME = 150
MAX_ALT = 500
MAX_CAPTION = 1000
MAX_CREDIT = 300
MIDDLE = 0.5  # the focal point of an image of which nobody has chosen one
IS_WAITING = ~Q(source="") & Q(deleted_at__isnull=True)  # for the worker to process its file
IS_EXPOSED = Q(deleted_at__isnull=False) & ~Q(original="")  # deleted, with public files that the worker must delete
IS_OUTDATED = Q(outdated_at__isnull=False, source="")  # with public files of earlier versions, and not waiting
IS_LISTED = Q(deleted_at__isnull=True)
IS_SHOWN_LATE = Q(posts_outdated=True)


class ImageStatus(models.TextChoices):
    PROCESSING = "processing"
    READY = "ready"
    REJECTED = "rejected"


class ImageFormat(models.TextChoices):
    """The formats of variants in the API. `Image.formats` has the ends of their names in this order."""

    WEBP = "webp"
    JPEG = "jpeg"
    AVIF = "avif"


class Image(models.Model):
    """An uploaded image. Its row names no file that is not complete.

    `source` is the file that the worker processes, and empty afterwards: what was uploaded or, of a deleted image, what
    it is restored from. `original` and the variants, of each width in each of the `formats`, are public files of the
    folder `media/<id>-<key>`. Replaced files stay for a day. A deleted image can be restored for some time.
    """

    shard_key = ""  # each node has a copy
    id = SharedIdField("ID", primary_key=True)
    name = models.CharField(max_length=MAX_FILE_NAME)
    alt = models.CharField(max_length=MAX_ALT, default="")
    caption = models.CharField(max_length=MAX_CAPTION, default="")
    credit = models.CharField(max_length=MAX_CREDIT, default="")
    owner_id = models.BigIntegerField(null=True, help_text="The id of the user. The user may have been deleted.")
    status = models.CharField(max_length=10, choices=ImageStatus.choices, default=ImageStatus.PROCESSING)
    rejection = models.TextField(null=True, help_text="Why the file was rejected.")  # noqa: DJ001
    content_type = models.CharField(max_length=20)
    size = models.IntegerField(help_text="Of the original, in bytes.")
    width = models.IntegerField(default=0)
    height = models.IntegerField(default=0)
    focal_x = models.FloatField(default=MIDDLE)
    focal_y = models.FloatField(default=MIDDLE)
    thumbhash = models.CharField(max_length=40, default="")
    key = models.CharField(max_length=32, default="", help_text="The part of the addresses that nobody can guess.")
    original = models.CharField(max_length=12, default="", help_text="The name of the file, such as 4000.jpg.")
    widths = ArrayField(models.IntegerField(), default=list)
    formats = ArrayField(models.CharField(max_length=4), default=list)
    sha256 = models.BinaryField(max_length=32, help_text="Of the uploaded file.")
    original_sha256 = models.BinaryField(max_length=32, null=True, help_text="Of the original.")
    outdated_at = models.DateTimeField(null=True, help_text="Since when there are public files that it does not name.")
    stored = models.BigIntegerField(default=0, help_text="The bytes of all public files.")
    # Until the worker has found the posts: the change of an image writes no post of others.
    posts_outdated = models.BooleanField(default=False, db_default=False, help_text="Posts show what it was before.")
    source = models.CharField(max_length=40, default="")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often a worker has begun to process it.")
    claimed_until = models.DateTimeField(null=True, help_text="Until when it is that worker's alone.")
    version = models.BigIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now, db_default=Now())
    updated_at = models.DateTimeField(default=timezone.now, db_default=Now())
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(status__in=ImageStatus.values), name="blog_image_status_known"),
            models.CheckConstraint(
                condition=Q(focal_x__range=(0, 1), focal_y__range=(0, 1)), name="blog_image_focal_point_inside"
            ),
            models.CheckConstraint(
                condition=~Q(status=ImageStatus.READY) | (Q(width__gt=0, height__gt=0) & ~Q(key="")),
                name="blog_image_ready_with_files",
            ),
        ]
        indexes = [
            models.Index(fields=["-created_at", "-id"], condition=IS_LISTED, name="blog_image_newest"),
            models.Index(fields=["id"], condition=IS_WAITING, name="blog_image_waiting"),
            models.Index(fields=["deleted_at"], condition=~IS_LISTED, name="blog_image_deleted"),
            models.Index(fields=["id"], condition=IS_OUTDATED, name="blog_image_outdated"),
            models.Index(fields=["id"], condition=IS_SHOWN_LATE, name="blog_image_shown_late"),
            models.Index(fields=["sha256"], name="blog_image_sha256"),
            models.Index(fields=["owner_id", "updated_at"], name="blog_image_owner"),
            models.Index(fields=["original_sha256"], name="blog_image_original_sha256"),
        ]
        triggers = announce_images()

    def __str__(self) -> str:
        return self.name

    def name_file(self, name: str) -> str:
        """Return the name in the storage of one of the public files, such as `320.webp`."""
        return name_file(self.pk, self.key, name)

    def list_file_names(self) -> list[str]:
        """Return the names in the storage of all public files."""
        variants = [f"{width}.{extension}" for width in self.widths for extension in self.formats]
        names = [self.original, *variants] if self.original else []
        return [self.name_file(name) for name in dict.fromkeys(names)]

    def choose_width(self, wanted: int) -> int:
        """Return the width of the narrowest variant that is as wide as wanted, or of the widest."""
        return next((width for width in self.widths if width >= wanted), self.widths[-1])


class ImageUpload(models.Model):
    """A file that a person has sent or announced within a day. `image_id` is the image that it has become.

    A client that has announced a file sends it to a signed address. The bytes of all files count for the quota.
    """

    id = SharedIdField("ID", primary_key=True)
    owner_id = models.BigIntegerField(null=True)
    name = models.CharField(max_length=MAX_FILE_NAME)
    content_type = models.CharField(max_length=20)
    size = models.IntegerField()
    sha256 = models.BinaryField(max_length=32)
    image_id = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["created_at"], name="blog_imageupload_created"),
            models.Index(fields=["owner_id"], name="blog_imageupload_owner"),
        ]

    def __str__(self) -> str:
        return f"upload {self.pk} of {self.name}"
