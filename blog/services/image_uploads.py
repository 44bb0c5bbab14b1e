"""Uploads in two steps: a client announces a file, sends it to a signed address, and completes the upload."""

import re
from datetime import timedelta
from hashlib import file_digest
from itertools import chain
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from blog import policy
from blog.images.formats import CONTENT_TYPES, Format
from blog.models import Image, ImageUpload
from blog.services.image_processing import delete_files
from blog.services.image_room import name_upload, note_upload, require_format
from blog.services.images import clean_file_name, insert_image, list_name_problems, require_upload
from contentapi.conf import conf
from contentapi.conf.timeouts import UPLOAD_LIFETIME, UPLOADS_KEPT_FOR
from contentapi.core.errors import Conflict, Invalid, UnsupportedMediaType, require_row
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.core.policy import require_permission
from contentapi.db.engine.slots import enter_expensive_lane
from contentapi.db.ids import take_id
from contentapi.http.uploads import build_size_error
from contentapi.media.access import get_storage, translate_storage_errors
from contentapi.media.storage import Expected, Presigned

SHA256 = re.compile(r"[0-9a-f]{64}")


def create_upload(
    *, actor: Actor, name: str, content_type: str, size: int, sha_256: str
) -> tuple[ImageUpload, Presigned]:
    """Announce a file with its SHA-256 in hexadecimal digits. Returns the request with which the client sends it.

    Raises `UnsupportedMediaType`, `Invalid`, and `TooLarge` above the limit.
    """
    require_upload(actor)
    expected = Expected(content_type.strip().lower(), size, sha_256.lower())
    if expected.content_type not in CONTENT_TYPES:
        types = ", ".join(CONTENT_TYPES)
        raise UnsupportedMediaType(f"The type must be one of {types} (got {expected.content_type}).")
    name = clean_file_name(name)
    problems = list_name_problems(name)
    if not SHA256.fullmatch(expected.sha256):
        problems["sha256"] = ["This must be 64 hexadecimal digits."]
    if size < 1:
        problems["size"] = ["This must be 1 or more."]
    if problems:
        raise Invalid(problems)
    most = conf.environment.contentapi_image_max_bytes
    if size > most:
        raise build_size_error(most)
    facts = {**expected._asdict(), "sha256": bytes.fromhex(expected.sha256)}
    expires_at = timezone.now() + timedelta(seconds=UPLOAD_LIFETIME)
    upload = note_upload(actor, take_id(), actor.user_id, name=name, expires_at=expires_at, **facts)
    return upload, get_storage().presign(name_upload(upload.pk), expected)


def complete_upload(*, actor: Actor, upload_id: str) -> Image:
    """Make an image of the bytes that were sent, and return it; the same one if the upload is completed again.

    Raises `NotFound`, `UnsupportedMediaType`, and `Conflict` for a file that has not arrived, or is another one.
    """
    require_upload(actor)
    uploads = ImageUpload.objects.filter(pk=parse_id(upload_id), owner_id=actor.user_id)
    upload = require_row(uploads, "upload")
    if upload.image_id is None:
        kind = read_announced_file(upload)  # before the transaction: a bucket may be slow
        with transaction.atomic():
            upload = require_row(uploads.select_for_update(), "upload")
            if upload.image_id is None:
                facts: dict[str, Any] = {"name": upload.name, "size": upload.size, "sha256": bytes(upload.sha256)}
                image = insert_image(actor, pk=upload.pk, kind=kind, **facts)
                uploads.update(image_id=image.pk)
                return image
    return require_row(Image.objects.filter(pk=upload.image_id, deleted_at=None), "image")


def read_announced_file(upload: ImageUpload) -> Format:
    """Return the format of a file. Raises `Conflict` if it has not arrived, or is not the announced one."""
    if not connection.in_atomic_block:  # of `@atomic` or an idempotency key
        enter_expensive_lane()
    name = name_upload(upload.pk)
    with translate_storage_errors():
        if get_storage().head(name) != upload.size:
            raise Conflict("The bytes of this upload have not arrived completely.")
        with get_storage().open(name) as file:
            if file_digest(file, "sha256").digest() != bytes(upload.sha256):  # type: ignore[arg-type]
                raise Conflict("The bytes of this upload are other ones than those that were announced.")
            return require_format(file)


def purge_uploads(*, actor: Actor) -> int:
    """Delete old uploads, and the private files that no image names. Returns the number of files.

    A file without a row is what remains of a server that was killed, or of a client that never completed its upload.
    """
    require_permission(actor, policy.may_purge_images(actor), "delete unfinished uploads")
    end = timezone.now() - UPLOADS_KEPT_FOR
    ImageUpload.objects.filter(created_at__lte=end).delete()
    files = chain.from_iterable(map(get_storage().list_files, ("uploads/", "deleted/")))
    old = {file.name for file in files if file.changed_at <= end}
    left = old.difference(Image.objects.exclude(source="").values_list("source", flat=True))  # after the list
    delete_files(left)
    return len(left)
