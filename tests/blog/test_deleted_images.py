"""The files of deleted images: nobody can fetch them, and an image can be restored until it is deleted for good."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.utils import timezone

from blog import services
from blog.models import Image, ImageStatus
from blog.services import image_deletion, image_processing
from contentapi.core.identity import WORKER, Role
from contentapi.media.folder import FolderStorage
from tests.blog.stored_images import (
    RESULT,
    list_public,
    list_stored,
    list_stored_after_a_day,
    make_files,
    make_ready_image,
    work,
)
from tests.factories import make_actor
from tests.image_files import make_jpeg, send_file

pytestmark = pytest.mark.usefixtures("process_at_once")


def test_deleted_image_has_no_public_file_and_can_be_restored(media: FolderStorage) -> None:
    editor, image = make_actor(Role.EDITOR), make_ready_image(has_files=True)
    services.delete_image(actor=editor, image_id=str(image.pk))

    work()

    image.refresh_from_db()
    assert list_stored() == [image.source]
    with media.open(image.source) as file:
        assert file.read().endswith(b"/700.jpg")
    assert services.restore_image(actor=editor, image_id=str(image.pk)).status == ImageStatus.PROCESSING
    work()
    assert list_stored("media/") == list_public(image)
    assert image.status == ImageStatus.READY


def test_image_that_is_restored_before_the_worker_came_keeps_its_files(media: FolderStorage) -> None:
    assert media
    editor, image = make_actor(Role.EDITOR), make_ready_image(has_files=True)
    services.delete_image(actor=editor, image_id=str(image.pk))
    services.restore_image(actor=editor, image_id=str(image.pk))

    work()

    assert list_stored() == list_public(image)
    assert image.status == ImageStatus.READY


@pytest.mark.parametrize(
    ("outcome", "restored_from"), [(RESULT, b"400.jpg"), ({"rejection": "It is damaged."}, b"/700.jpg")]
)
def test_image_that_is_deleted_while_its_new_file_waits_is_restored_from_the_newest_good_one(
    media: FolderStorage, monkeypatch: pytest.MonkeyPatch, outcome: dict[str, Any], restored_from: bytes
) -> None:
    def process(source: Path, folder: Path, may_continue: Callable[[], bool]) -> dict[str, Any]:
        make_files(source, folder, may_continue)
        return outcome

    monkeypatch.setattr(image_processing, "process_file", process)
    editor, image = make_actor(Role.EDITOR), make_ready_image(has_files=True)
    services.replace_image_file(actor=editor, image_id=str(image.pk), read_file=send_file(make_jpeg()))
    services.delete_image(actor=editor, image_id=str(image.pk))

    work()

    image.refresh_from_db()
    assert (list_stored("media/"), list_stored("deleted/")) == ([], [image.source])
    with media.open(image.source) as file:
        assert file.read().endswith(restored_from)


def test_image_that_is_restored_while_its_files_are_deleted_is_made_again(
    media: FolderStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert media
    editor, image = make_actor(Role.EDITOR), make_ready_image(has_files=True)
    services.delete_image(actor=editor, image_id=str(image.pk))
    delete = image_deletion.delete_unnamed_files

    def restore_first(hidden: Image) -> None:
        services.restore_image(actor=editor, image_id=str(image.pk))
        delete(hidden)

    with monkeypatch.context() as patch:
        patch.setattr(image_deletion, "delete_unnamed_files", restore_first)
        services.hide_deleted_images(actor=WORKER, stop=Event())
    image.refresh_from_db()
    assert (image.status, image.list_file_names()) == (ImageStatus.PROCESSING, [])

    work()

    assert list_stored_after_a_day() == list_public(image)


def test_public_files_of_earlier_versions_end_with_the_image(media: FolderStorage) -> None:
    editor, image = make_actor(Role.EDITOR), make_ready_image(has_files=True)
    services.replace_image_file(actor=editor, image_id=str(image.pk), read_file=send_file(make_jpeg()))
    work()
    assert len({name.split("/")[1] for name in list_stored("media/")}) == 2
    services.delete_image(actor=editor, image_id=str(image.pk))

    work()

    assert list_stored("media/") == []
    assert media


def test_image_is_deleted_for_good_after_thirty_days(media: FolderStorage) -> None:
    assert media
    images = [make_ready_image(has_files=True) for _ in range(2)]
    Image.objects.update(deleted_at=timezone.now() - timedelta(days=29))
    work()
    Image.objects.filter(pk=images[0].pk).update(deleted_at=timezone.now() - timedelta(days=30))

    assert services.purge_images(actor=WORKER) == 1

    assert list(Image.objects.values_list("pk", flat=True)) == [images[1].pk]
    assert list_stored() == list(Image.objects.values_list("source", flat=True))
