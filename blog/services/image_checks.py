"""Compare the rows of images with the files of the storage: each row has its files, and each file has a row.

Files are stored before the row that names them, and deleted after it. So a young file without a row is no finding, and
what looks missing is read again.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

from django.utils import timezone

from blog import policy
from blog.models import Image, ImageStatus
from blog.services.image_processing import MISSING, delete_files
from blog.services.image_rebuilding import rebuild_image
from blog.services.image_room import name_upload
from blog.services.images import NO_FILES
from contentapi.conf.timeouts import UPLOADS_KEPT_FOR
from contentapi.core.errors import Conflict
from contentapi.core.identity import Actor
from contentapi.core.policy import require_permission
from contentapi.db.ids import take_id
from contentapi.media.access import get_storage
from contentapi.media.storage import PUBLIC, StoredFile, is_our_name

UNNAMED_FOR = timedelta(hours=1)  # before a public file counts as left over: a worker stores files before their row


class Finding(NamedTuple):
    """A file that is missing, with the id of its image, or one that no row names; and what the repair has done."""

    name: str
    image: int | None
    repair: str = ""


def check_media(*, actor: Actor, repair: bool = False) -> Iterator[Finding]:
    """Yield the files that are missing, and then those that no row names. With `repair`, make or delete them.

    Raises `Conflict` for a storage without public files.
    """
    require_permission(actor, policy.may_purge_images(actor), "check the files of images")
    files = [file for file in get_storage().list_files() if is_our_name(file.name)]
    has_public_files = any(file.name.startswith(PUBLIC) for file in files)
    with_files = Image.objects.filter(deleted_at=None).exclude(original="")
    if not has_public_files and with_files.exists():
        raise Conflict("The storage has no public files, but images name some. Is it the right one?")
    stored, named = {file.name for file in files}, set[str]()
    rows = Image.objects.only("key", "original", "widths", "formats", "source").order_by("pk")
    for image in rows.iterator():
        names = list_named_files(image)
        named.update(names)
        if not stored.issuperset(names):
            yield from check_image(actor, image.pk, repair=repair)
    for file in files:
        if file.name not in named and is_left_over(file):
            if repair:
                delete_files([file.name])
            yield Finding(file.name, None, "deleted" if repair else "")


def check_image(actor: Actor, pk: int, *, repair: bool) -> Iterator[Finding]:
    """Yield the files that an image does not have now."""
    image = Image.objects.filter(pk=pk).first()
    lost = [name for name in list_named_files(image) if get_storage().head(name) is None] if image else []
    done = repair_image(actor, image, lost) if image and lost and repair else ""
    for name in lost:
        yield Finding(name, pk, done)


def list_named_files(image: Image) -> list[str]:
    """Return the names of all files that the row of an image names."""
    return [*([image.source] if image.source else []), *image.list_file_names()]


def is_left_over(file: StoredFile) -> bool:
    """Return whether no row names a file that is old enough to have one."""
    is_public = file.name.startswith(PUBLIC)
    if file.changed_at > timezone.now() - (UNNAMED_FOR if is_public else UPLOADS_KEPT_FOR):
        return False
    if not is_public:
        return not Image.objects.filter(source=file.name).exists()
    pk = file.name.removeprefix(PUBLIC).partition("-")[0]
    image = Image.objects.filter(pk=int(pk)).first() if pk.isdecimal() else None
    return image is None or (image.outdated_at is None and file.name not in image.list_file_names())


def repair_image(actor: Actor, image: Image, lost: list[str]) -> str:
    """Make the missing files of an image again from the best that is left. Return what was done."""
    if image.source in lost:
        status = {} if image.original else {"status": ImageStatus.REJECTED}
        Image.objects.filter(pk=image.pk, source=image.source).update(source="", rejection=MISSING, **status)
        return "rejected"
    left = [name for name in image.list_file_names() if name not in lost]
    if not left:
        Image.objects.filter(pk=image.pk, key=image.key).update(
            status=ImageStatus.REJECTED, rejection=MISSING, posts_outdated=True, **NO_FILES
        )
        return "rejected"
    if image.name_file(image.original) not in lost:
        return rebuild_image(actor=actor, pk=image.pk) or "made from the original"
    source = name_upload(take_id())
    try:
        with get_storage().open(left[-1]) as widest:
            get_storage().put(source, widest)
    except FileNotFoundError:  # another file has been accepted meanwhile
        return ""
    same = Image.objects.filter(pk=image.pk, source=image.source, key=image.key)
    same.update(source=source, attempts=0, claimed_until=None)
    return f"the worker makes them from {left[-1]}"
