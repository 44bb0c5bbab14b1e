"""Make files of images again: variants, after their list has changed, and what is missing, while servers run.

`check_media` compares rows and files: each row has its files, and each file has a row. Files are stored before the row
that names them, and deleted after it. So a young file without a row is no finding, and what looks missing is read
again.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from django.db.models import Q
from django.utils import timezone

from blog import policy
from blog.images.formats import PNG, list_extensions, list_widths
from blog.models import Image, ImageStatus
from blog.services import image_processing as processing
from blog.services.image_room import name_upload
from blog.services.images import NO_FILES
from contentapi.conf import conf
from contentapi.conf.timeouts import UPLOADS_KEPT_FOR
from contentapi.core.errors import Conflict
from contentapi.core.identity import Actor
from contentapi.core.policy import require_permission
from contentapi.db.ids import take_id
from contentapi.media.access import get_storage
from contentapi.media.storage import PUBLIC, StoredFile, is_our_name

UNNAMED_FOR = timedelta(hours=1)  # before a public file counts as left over: a worker stores files before their row
REBUILDABLE = Q(status=ImageStatus.READY, source="", deleted_at=None) & ~Q(original="")
BUSY = "Another process is working on it, or it was deleted."


def list_outdated_images(*, actor: Actor, everything: bool = False) -> list[int]:
    """Return the ids of the images whose variants are others than those that are made now; or of all images."""
    require_permission(actor, policy.may_purge_images(actor), "rebuild images")
    images = Image.objects.filter(REBUILDABLE).only("width", "height", "widths", "formats").order_by("pk")
    return [image.pk for image in images if everything or is_outdated(image)]


def is_outdated(image: Image) -> bool:
    has_alpha, with_avif = PNG.extension in image.formats, conf.environment.contentapi_image_avif == "on"
    extensions = list_extensions(has_alpha=has_alpha, with_avif=with_avif)
    return image.widths != list_widths(image.width, image.height) or image.formats != extensions


def rebuild_image(*, actor: Actor, pk: int, everything: bool = False) -> str:
    """Make the variants that an image does not have; those that are no longer made are deleted later.

    With `everything`, make all of them, at new addresses: a file never changes at its address. The original stays in
    any case. Returns why the image stays as it is, or an empty text.
    """
    require_permission(actor, policy.may_purge_images(actor), "rebuild images")
    image = processing.claim_image(REBUILDABLE & Q(pk=pk))
    if image is None:
        return BUSY
    try:
        with processing.create_work_folder() as created:
            outcome = processing.make_files(image, image.name_file(image.original), created.path, Event())
            if outcome is None or "rejection" in outcome:
                return str(outcome["rejection"]) if outcome else BUSY
            store = processing.accept if everything else add_variants
            files = created.path / processing.FILES
            store(image, processing.keep_original(image, outcome, created.path), files)
            return ""
    except FileNotFoundError:
        return processing.MISSING
    finally:
        processing.release(image)  # without an effect once the outcome is stored


def add_variants(image: Image, result: Mapping[str, Any], folder: Path) -> None:
    """Store the files that are missing, and name them in the row. Those that it no longer names stay for a day."""
    storage = get_storage()
    missing = [name for name in result["files"] if storage.head(image.name_file(name)) is None]
    processing.store_files(image, image.key, missing, folder)
    processing.finish(image, "ready", **processing.describe_variants(result, folder))


class Finding(NamedTuple):
    """A file that is missing, with the id of its image, or one that no row names; and what the repair has done."""

    name: str
    image: int | None
    repair: str = ""


def check_media(*, actor: Actor, repair: bool = False) -> Iterator[Finding]:
    """Yield missing and unnamed files; `repair` makes or deletes them. Raises `Conflict` without any public file."""
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
                processing.delete_files([file.name])
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
        Image.objects.filter(pk=image.pk, source=image.source).update(source="", rejection=processing.MISSING, **status)
        return "rejected"
    left = [name for name in image.list_file_names() if name not in lost]
    if not left:
        Image.objects.filter(pk=image.pk, key=image.key).update(
            status=ImageStatus.REJECTED, rejection=processing.MISSING, posts_outdated=True, **NO_FILES
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
