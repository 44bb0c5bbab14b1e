"""Make the variants of images again, after the list of widths or formats has changed, while servers run."""

from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

from django.db.models import Q

from blog import policy
from blog.images.formats import PNG, list_extensions, list_widths
from blog.models import Image, ImageStatus
from blog.services.image_processing import (
    FILES,
    MISSING,
    accept,
    claim_image,
    create_work_folder,
    describe_variants,
    finish,
    keep_original,
    make_files,
    release,
    store_files,
)
from contentapi.conf import conf
from contentapi.core.identity import Actor
from contentapi.core.policy import require_permission
from contentapi.media.access import get_storage

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
    image = claim_image(REBUILDABLE & Q(pk=pk))
    if image is None:
        return BUSY
    try:
        with create_work_folder() as folder:
            outcome = make_files(image, image.name_file(image.original), folder, Event())
            if outcome is None:
                return BUSY
            if "rejection" in outcome:
                release(image)
                return str(outcome["rejection"])
            store = accept if everything else add_variants
            store(image, keep_original(image, outcome, folder), folder / FILES)
    except FileNotFoundError:
        release(image)
        return MISSING
    except BaseException:
        release(image)
        raise
    return ""


def add_variants(image: Image, result: Mapping[str, Any], folder: Path) -> None:
    """Store the files that are missing, and name them in the row. Those that it no longer names stay for a day."""
    storage = get_storage()
    missing = [name for name in result["files"] if storage.head(image.name_file(name)) is None]
    store_files(image, image.key, missing, folder)
    values = describe_variants(result, folder)
    finish(image, "ready", **values)
