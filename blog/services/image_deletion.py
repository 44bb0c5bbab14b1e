"""The deletion of the files of images: of those that are deleted, and of those that have others now."""

from functools import partial
from threading import Event

from django.db.models import Q
from django.utils import timezone

from blog import policy
from blog.models import Image, ImageStatus
from blog.models.audit import Audit
from blog.models.images import IS_EXPOSED, IS_OUTDATED
from blog.services import image_processing as processing
from blog.services.images import DELETED, NO_FILES
from contentapi.conf.timeouts import OLD_FILES_KEPT_FOR, RESTORABLE_FOR
from contentapi.core.identity import Actor
from contentapi.core.policy import require_permission
from contentapi.db.ids import take_id
from contentapi.media.access import get_storage
from contentapi.media.storage import PUBLIC, compute_key, name_file
from contentapi.worker.items import try_item


def delete_outdated_files(*, actor: Actor) -> int:
    """Delete the public files that no image has named for some time. Returns the number of images."""
    require_permission(actor, policy.may_purge_images(actor), "delete files of images")
    is_due = IS_OUTDATED & Q(outdated_at__lte=timezone.now() - OLD_FILES_KEPT_FOR)
    return processing.work_on_images("purge_images", is_due, delete_outdated_files_of)


def delete_outdated_files_of(image: Image) -> None:
    delete_unnamed_files(image)
    processing.select_claimed(image).update(outdated_at=None, claimed_until=None, attempts=0)


def delete_unnamed_files(image: Image) -> None:
    """Delete the public files that an image does not name, also those of interrupted workers.

    Another worker may store files of a later version meanwhile: their key is none of these.
    """
    keys = {image.key, *(compute_key(image.pk, version) for version in range(1, image.version + 1))}
    folders = tuple(name_file(image.pk, key, "") for key in keys)
    named = {*image.list_file_names()}
    names = [name for name in list_public_files(image) if name.startswith(folders) and name not in named]
    for name in names:
        if not processing.renew(image):  # another worker has taken over: it may store a file of one of these names
            break
        processing.delete_files([name])


def list_public_files(image: Image) -> list[str]:
    return [file.name for file in get_storage().list_files(f"{PUBLIC}{image.pk}-")]


def hide_deleted_images(*, actor: Actor, stop: Event) -> int:
    """Delete the public files of deleted images, and keep what each is restored from. Returns the number of images."""
    require_permission(actor, policy.may_purge_images(actor), "delete files of images")
    return processing.work_on_images("images", IS_EXPOSED, partial(hide_image, stop=stop), stop)


def hide_image(image: Image, stop: Event) -> None:
    """Keep the original of a deleted image under a name that is not public, and delete its public files.

    Somebody may restore the image meanwhile. Before the row has the new name nothing is deleted; afterwards the
    restored image is processed from it.
    """
    if image.source and not image.source.startswith(DELETED):  # its new file is what will be restored
        processing.process_image(image, stop)
        return
    lost = {}
    if not image.source:  # otherwise a worker was interrupted
        kept = f"{DELETED}{take_id()}"
        try:
            with get_storage().open(image.name_file(image.original)) as original:
                get_storage().put(kept, original)
        except FileNotFoundError:
            if not processing.is_lost(image.deleted_at or image.updated_at) and not list_public_files(image):
                raise
            kept, lost = "", {"status": ImageStatus.REJECTED, "rejection": processing.MISSING}  # it cannot be restored
        if not processing.select_claimed(image).filter(IS_EXPOSED).update(source=kept):
            processing.release(image)
            return
        image.source = kept
    image.original = ""
    delete_unnamed_files(image)
    processing.select_claimed(image).update(**NO_FILES, **lost, claimed_until=None, attempts=0)


def purge_images(*, actor: Actor) -> int:
    """Delete for good what was deleted long ago. Returns the number of images."""
    require_permission(actor, policy.may_purge_images(actor), "delete images for good")
    images = Image.objects.filter(deleted_at__lte=timezone.now() - RESTORABLE_FOR, original="").order_by("pk")
    return sum(bool(try_item("purge_images", f"image {image.pk}", purge_image, actor, image)) for image in images)


def purge_image(actor: Actor, image: Image) -> bool:
    """Delete an image for good. Return whether it is still the deleted one."""
    if not Image.objects.filter(pk=image.pk, deleted_at=image.deleted_at).delete()[0]:
        return False
    Audit.IMAGE_PURGED.record(actor, "image", image.pk)
    processing.delete_files([image.source])
    processing.delete_files(list_public_files(image))
    return True
