"""Which files of images a person may store: of which formats, how many bytes of all, and how many may wait."""

from typing import IO, Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from blog.images.formats import CONTENT_TYPES, SIGNATURE, Format, detect_format
from blog.models import IS_WAITING, Image, ImageUpload
from contentapi.conf import conf
from contentapi.core.errors import RateLimited, TooLarge, UnsupportedMediaType
from contentapi.core.identity import Actor
from contentapi.http.uploads import SentFile
from contentapi.media.access import put_file
from users.storage import build_image_bytes

MAX_WAITING = 20  # images of a person that the worker has not processed


@transaction.atomic
def require_room(actor: Actor, owner_id: int | None, size: int) -> None:
    """Raise `TooLarge` if a file does not fit beside what its owner stores, and `RateLimited` if too many images wait.

    Uploads of one person are counted in turn, until the transaction ends. Those of an import may wait in any number.
    """
    if owner_id is None:
        return
    get_user_model().objects.select_for_update(no_key=True).filter(pk=owner_id).first()
    if actor.interface != "import" and Image.objects.filter(IS_WAITING, owner_id=owner_id).count() >= MAX_WAITING:
        message = f"At most {MAX_WAITING} images of a person may wait to be processed. Try again shortly."
        raise RateLimited(message, headers={"Retry-After": "5"}, limit="images that wait")
    used, most = measure_images(owner_id), conf.environment.contentapi_image_quota
    if used + size > most:
        raise TooLarge(
            f"A person may store at most {most:,} bytes of images; {used:,} bytes are in use.",
            limit="bytes of images",
        )


def measure_images(owner_id: int | None) -> int:
    """Return the bytes of images that a person stores."""
    people = get_user_model().objects.filter(pk=owner_id or 0).annotate(used=build_image_bytes())
    return int(people.values_list("used", flat=True).first() or 0)


def note_upload(actor: Actor, pk: int, owner_id: int | None, **file: Any) -> ImageUpload:
    """Note a file that is announced or stored, after `require_room`: its bytes count for as long as it is kept."""
    require_room(actor, owner_id, file["size"])
    return ImageUpload.objects.create(pk=pk, owner_id=owner_id, **file)


def require_format(file: IO[bytes]) -> Format:
    """Return the format of a file by its first bytes. Raises `UnsupportedMediaType`."""
    file.seek(0)
    kind = detect_format(file.read(SIGNATURE))
    if kind is None:
        raise UnsupportedMediaType(f"The file must be one of {', '.join(CONTENT_TYPES)}. Its first bytes are of none.")
    file.seek(0)
    return kind


def store_upload(actor: Actor, pk: int, owner_id: int | None, image_id: int, sent: SentFile, kind: Format) -> None:
    """Store the file of an image, if there is room for it."""
    facts = {"content_type": kind.content_type, "size": sent.size, "sha256": sent.sha256}
    upload = note_upload(actor, pk, owner_id, image_id=image_id, expires_at=timezone.now(), **facts)
    try:
        put_file(name_upload(pk), sent.file)
    except BaseException:
        upload.delete()
        raise


def name_upload(pk: int) -> str:
    """Return the name in the storage of a file that was uploaded."""
    return f"uploads/{pk}"
