"""Processes that are killed between two steps of their work on images: a row never names a file that is not there.

The test ends an action before and after each change of the storage, as `kill -9` does, and cleans up afterwards.
"""

import os
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from django.utils import timezone

from blog import services
from blog.models import Image
from blog.services import image_processing
from contentapi.core.identity import OPERATOR, WORKER
from contentapi.media.folder import FolderStorage
from tests.blog.stored_images import list_stored, list_stored_after_a_day, make_files, make_ready_image, work
from tests.image_files import make_png, send_file
from tests.thoroughness import IS_THOROUGH


class Killed(BaseException):
    """The process ends here: nothing after it happens."""


def upload(_: Image) -> None:
    services.create_image(actor=OPERATOR, read_file=send_file(make_png(8, 8)))


def replace(image: Image) -> None:
    services.replace_image_file(actor=OPERATOR, image_id=str(image.pk), read_file=send_file(make_png(8, 8)))


def delete(image: Image) -> None:
    services.delete_image(actor=OPERATOR, image_id=str(image.pk))


def delete_long_ago(image: Image) -> None:
    delete(image)
    work()
    Image.objects.filter(pk=image.pk).update(deleted_at=timezone.now() - timedelta(days=31))


def restore(image: Image) -> None:
    delete(image)
    work()
    services.restore_image(actor=OPERATOR, image_id=str(image.pk))


def replace_long_ago(image: Image) -> None:
    replace(image)
    work()
    Image.objects.filter(pk=image.pk).update(outdated_at=timezone.now() - timedelta(days=2))


def do_nothing(_: Image) -> None:
    pass


# What happens before the action that is interrupted, and the action.
CASES: dict[str, tuple[Callable[[Image], None], Callable[[Image], Any]]] = {
    "upload": (do_nothing, upload),
    "replacement": (do_nothing, replace),
    "processing": (replace, lambda _: work()),
    "deletion": (delete, lambda _: work()),
    "restoring": (restore, lambda _: work()),
    "rebuilding": (
        do_nothing,
        lambda image: services.image_repairs.rebuild_image(actor=OPERATOR, pk=image.pk, everything=True),
    ),
    "end of replaced files": (replace_long_ago, lambda _: services.delete_outdated_files(actor=WORKER)),
    "deletion for good": (delete_long_ago, lambda _: services.purge_images(actor=WORKER)),
}


def interrupt(patch: pytest.MonkeyPatch, step: int) -> None:
    """End the process before (an even step) or after (an odd one) a change of the storage."""
    changes = count()

    def wrap(change: Callable[..., None]) -> Callable[..., None]:
        def change_or_end(storage: FolderStorage, *arguments: Any) -> None:
            number = 2 * next(changes)
            if number == step:
                raise Killed
            change(storage, *arguments)
            if number + 1 == step:
                raise Killed

        return change_or_end

    for name in ("put", "delete"):
        patch.setattr(FolderStorage, name, wrap(getattr(FolderStorage, name)))


def list_named() -> set[str]:
    """Return the files that rows name. The public files of a deleted image end before its row."""
    named = set[str]()
    for image in Image.objects.all():
        named.update([image.source] if image.source else [])
        named.update(image.list_file_names() if image.deleted_at is None else [])
    return named


def clean_up(media: FolderStorage) -> None:
    """Let the workers finish, a day pass, and a person repair."""
    Image.objects.update(claimed_until=None)
    work()
    list_stored_after_a_day()
    for name in list_stored():
        os.utime(media.folder / name, (0, 0))
    services.purge_uploads(actor=WORKER)
    list(services.image_repairs.check_media(actor=OPERATOR, repair=True))


def run_until_killed(action: Callable[[Image], Any], image: Image, step: int) -> bool:
    """Return whether the action ended before the step."""
    with pytest.MonkeyPatch.context() as patch:
        interrupt(patch, step)
        try:
            action(image)
        except Killed:
            return False
    return True


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES)
def test_no_row_names_a_missing_file_and_cleaning_leaves_no_file_without_a_row(
    media: FolderStorage, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.setattr(image_processing, "process_file", make_files)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # takes most of the time
    prepare, action = CASES[case]
    steps, has_ended = count(step=1 if IS_THOROUGH else 3), False
    while not has_ended:
        image = make_ready_image(has_files=True)
        prepare(image)
        has_ended = run_until_killed(action, image, next(steps))
        assert list_named() <= {*list_stored()}
        clean_up(media)
        assert list_named() == {*list_stored()}

    assert next(steps) > 2
