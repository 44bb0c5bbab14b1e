"""`check_media`: files that are missing, files that no image names, and what the repair makes of them."""

import io
import os
import time
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from blog import services
from blog.models import Image, ImageStatus
from contentapi.conf.timeouts import UPLOADS_KEPT_FOR
from contentapi.core.identity import OPERATOR
from contentapi.media.folder import FolderStorage
from contentapi.media.storage import name_file
from tests.blog.stored_images import list_public, list_stored, list_stored_after_a_day, make_ready_image, work
from tests.factories import make_image

pytestmark = pytest.mark.usefixtures("process_at_once")
AN_HOUR = timedelta(hours=1, minutes=1)


def leave(media: FolderStorage, name: str, age: timedelta) -> str:
    """Store a file as it looks after some time."""
    media.put(name, io.BytesIO(b"x"))
    then = time.time() - age.total_seconds()
    os.utime(media.folder / name, (then, then))
    return name


def check(*, repair: bool = False) -> list[tuple[str, int | None]]:
    return [
        (finding.name, finding.image) for finding in services.image_repairs.check_media(actor=OPERATOR, repair=repair)
    ]


def test_nothing_is_found_while_images_are_uploaded_processed_and_deleted(media: FolderStorage) -> None:
    make_ready_image(has_files=True)
    media.put(make_image().source, io.BytesIO(b"x"))
    hidden = make_ready_image(has_files=True)
    services.delete_image(actor=OPERATOR, image_id=str(hidden.pk))
    work()
    media.put("uploads/1", io.BytesIO(b"x"))  # of a request that has not written the row yet
    media.put(name_file(7, "0" * 32, "320.webp"), io.BytesIO(b"x"))  # of a worker at work
    (media.folder / "lost+found").mkdir()

    assert check() == []
    call_command("check_media")


def test_old_files_that_no_image_names_are_deleted(media: FolderStorage) -> None:
    image = make_ready_image(has_files=True)
    left = [
        leave(media, name_file(image.pk, "0" * 32, "320.webp"), AN_HOUR),
        leave(media, image.name_file("100.webp"), AN_HOUR),
        leave(media, name_file(2**63, "0" * 32, "320.webp"), AN_HOUR),
        leave(media, "uploads/1", UPLOADS_KEPT_FOR + AN_HOUR),
        leave(media, f"deleted/{image.pk}", UPLOADS_KEPT_FOR + AN_HOUR),
    ]
    leave(media, "uploads/2", AN_HOUR)

    assert sorted(check()) == sorted((name, None) for name in left)
    with pytest.raises(CommandError, match="missing or left over: 5"):
        call_command("check_media")
    assert {*left} < {*list_stored()}
    call_command("check_media", repair=True)

    assert list_stored() == sorted([*list_public(image), "uploads/2"])
    assert check() == []


def test_missing_variants_are_made_from_the_original(media: FolderStorage) -> None:
    names = {"original": "400.jpg", "widths": [320, 400], "width": 400, "height": 200}
    image = make_ready_image(has_files=True, **names)
    lost = [image.name_file(name) for name in ("320.webp", "400.webp")]
    for name in lost:
        media.delete(name)

    assert check(repair=True) == [(name, image.pk) for name in lost]

    assert list_stored() == list_public(image)
    assert check() == []


def test_missing_original_is_made_from_the_widest_variant(media: FolderStorage) -> None:
    image = make_ready_image(has_files=True, original="4000.jpg", width=4000, height=2000)
    media.delete(image.name_file("4000.jpg"))
    widest = image.name_file("700.jpg")

    check(repair=True)

    image.refresh_from_db()
    with media.open(image.source) as file:
        assert file.read() == widest.encode()
    work()
    assert check() == []
    assert list_stored_after_a_day() == list_public(image)
    assert (image.status, image.width) == (ImageStatus.READY, 400)


def test_image_of_which_nothing_is_left_is_rejected(media: FolderStorage) -> None:
    image, waiting, replaced = make_ready_image(), make_image(), make_ready_image(has_files=True, source="uploads/9")

    found = check(repair=True)

    assert {pk for _, pk in found} == {image.pk, waiting.pk, replaced.pk}
    states = dict(Image.objects.values_list("pk", "status"))
    assert states == {image.pk: "rejected", waiting.pk: "rejected", replaced.pk: "ready"}
    assert check() == []
    assert list_stored() == list_public(replaced)
    assert media


def test_deleted_image_whose_original_is_missing_holds_up_no_other(media: FolderStorage) -> None:
    lost, other = make_ready_image(), make_ready_image(has_files=True)
    for image in (lost, other):
        services.delete_image(actor=OPERATOR, image_id=str(image.pk))

    work()

    lost.refresh_from_db()
    assert (lost.status, lost.original) == (ImageStatus.READY, "700.jpg")  # a folder may not be mounted
    Image.objects.filter(pk=lost.pk).update(deleted_at=timezone.now() - timedelta(days=1), claimed_until=None)
    make_ready_image(has_files=True)
    work()
    lost.refresh_from_db()
    assert (lost.status, lost.original, lost.source) == (ImageStatus.REJECTED, "", "")
    other.refresh_from_db()
    assert list_stored("deleted/") == [other.source]
    assert media


def test_storage_without_files_is_perhaps_another_one(media: FolderStorage) -> None:
    image = make_ready_image()

    with pytest.raises(CommandError, match="Is it the right one"):
        call_command("check_media", repair=True)

    image.refresh_from_db()
    assert image.status == ImageStatus.READY
    assert media
