"""The command that makes variants again, with files instead of images, and a child process that writes names."""

from typing import Any

import msgspec
import pytest
from django.core.management import CommandError, call_command
from django.db.models import Q

from blog import services
from blog.models import Image
from blog.services import image_processing
from contentapi.core.identity import OPERATOR
from contentapi.media.folder import FolderStorage
from tests.blog.stored_images import list_public, list_stored, list_stored_after_a_day, make_ready_image

pytestmark = pytest.mark.usefixtures("process_at_once")


def make_outdated_image(**values: Any) -> Image:
    """Return an image of 400 by 200 pixels, which has a variant of 100 pixels, and none of 320."""
    names = {"original": "400.jpg", "widths": [100, 400], "formats": ["webp", "jpg"]}
    return make_ready_image(has_files=True, width=400, height=200, **names, **values)


def read(media: FolderStorage, image: Image, name: str) -> str:
    with media.open(image.name_file(name)) as file:
        return file.read().decode()


def test_missing_variants_are_made_and_others_stay(media: FolderStorage) -> None:
    image, current = make_outdated_image(), make_ready_image(has_files=True)
    key, original = image.key, read(media, image, "400.jpg")

    call_command("rebuild_images")

    assert image.name_file("100.webp") in list_stored()  # pages that are open name it
    assert list_stored_after_a_day() == sorted([*list_public(image), *list_public(current)])
    assert (image.key, image.widths, image.version, current.version) == (key, [320, 400], 2, 1)
    assert (read(media, image, "400.jpg"), read(media, image, "320.webp")) == (original, "320.webp")
    assert services.image_repairs.list_outdated_images(actor=OPERATOR) == []


def test_all_variants_get_new_addresses_and_the_original_its_bytes(media: FolderStorage) -> None:
    image = make_outdated_image()
    key, original = image.key, read(media, image, "400.jpg")

    call_command("rebuild_images", everything=True)

    assert len(list_stored()) == 2 * len(list_public(image))
    assert list_stored_after_a_day() == list_public(image)
    assert image.key != key
    assert (read(media, image, "400.jpg"), read(media, image, "400.webp")) == (original, "400.webp")
    assert image.stored == sum(file.size for file in media.list_files())


def test_avif_is_made_when_it_is_switched_on(settings: Any) -> None:
    make_ready_image(has_files=True)
    assert services.image_repairs.list_outdated_images(actor=OPERATOR) == []

    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_image_avif="on")

    assert len(services.image_repairs.list_outdated_images(actor=OPERATOR)) == 1


def test_image_that_cannot_be_rebuilt_stays(
    media: FolderStorage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    busy, damaged, lost = make_outdated_image(), make_outdated_image(), make_outdated_image()
    image_processing.claim_image(Q(pk=busy.pk))
    media.delete(lost.name_file("400.jpg"))
    monkeypatch.setattr(image_processing, "process_file", lambda *_: {"rejection": "Damaged."})
    before = list_stored()

    with pytest.raises(CommandError, match="Images that stay as they are: 3"):
        call_command("rebuild_images")

    assert list_stored() == before
    shown = capsys.readouterr()
    assert shown.out == "0\n"
    assert f"Image {damaged.pk} stays as it is. Damaged." in shown.err
    damaged.refresh_from_db()
    assert (damaged.claimed_until, damaged.attempts, damaged.widths) == (None, 0, [100, 400])
