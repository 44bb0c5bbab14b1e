"""The worker's work on images: claims, outcomes, interruptions, and the files of deleted images."""

import io
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from signal import SIGKILL
from threading import Event
from typing import Any

import pytest
from django.utils import timezone

from blog import services
from blog.models import IS_WAITING, Image, ImageStatus, Post
from blog.services import image_processing
from contentapi.core.identity import WORKER
from contentapi.core.limited_child import ChildEnded
from contentapi.media.folder import FolderStorage
from tests.blog.stored_images import Process, list_public, list_stored, make_files, make_ready_image, work
from tests.concurrency import run_in_threads
from tests.factories import make_image, make_post
from tests.image_files import make_jpeg


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Callable[[Process], None]:
    """Return a function that replaces the child process."""
    return lambda function: monkeypatch.setattr(image_processing, "process_file", function)


@pytest.fixture(autouse=True)
def process_at_once(process: Callable[[Process], None]) -> None:
    process(make_files)


@pytest.fixture
def waiting(media: FolderStorage) -> Image:
    image = make_image(source="uploads/1")
    media.put(image.source, io.BytesIO(make_jpeg()))
    return image


def test_processed_image_names_its_files_and_has_no_source(waiting: Image) -> None:
    assert work() == 1

    assert list_stored("media/") == list_public(waiting)
    assert len(list_public(waiting)) == 4
    assert list_stored("uploads/") == ["uploads/1"]  # for a backup of the row before
    assert (waiting.status, waiting.width, waiting.height, waiting.size) == (ImageStatus.READY, 400, 200, 9)
    assert (waiting.source, waiting.claimed_until, waiting.attempts, waiting.version) == ("", None, 0, 2)
    assert work() == 0


def test_rejected_image_has_the_reason_and_no_file(waiting: Image, process: Callable[[Process], None]) -> None:
    process(lambda *_: {"rejection": "The file is damaged."})

    work()

    waiting.refresh_from_db()
    assert (waiting.status, waiting.rejection) == (ImageStatus.REJECTED, "The file is damaged.")
    assert list_stored() == []


def test_image_waits_for_a_missing_file_for_a_day(waiting: Image, media: FolderStorage) -> None:
    media.delete(waiting.source)

    work()

    waiting.refresh_from_db()
    assert (waiting.status, waiting.source, waiting.attempts) == (ImageStatus.PROCESSING, "uploads/1", 0)
    Image.objects.update(claimed_until=None, updated_at=timezone.now() - timedelta(days=1))
    work()
    waiting.refresh_from_db()
    assert waiting.rejection is None  # an empty folder is perhaps not mounted
    make_ready_image(has_files=True)
    Image.objects.update(claimed_until=None)
    work()
    waiting.refresh_from_db()
    assert waiting.rejection == "The uploaded file is missing. Upload the image again."


def test_claimed_image_is_left_to_its_worker_until_the_claim_ends(waiting: Image) -> None:
    claimed = image_processing.claim_image(IS_WAITING)

    assert claimed == waiting
    assert work() == 0
    Image.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert work() == 1


def test_worker_whose_claim_has_ended_changes_nothing(waiting: Image) -> None:
    first = image_processing.claim_image(IS_WAITING)
    assert first is not None
    Image.objects.update(claimed_until=None)
    second = image_processing.claim_image(IS_WAITING)
    assert second is not None

    assert not image_processing.finish(first, "ready", status=ImageStatus.READY)
    image_processing.reject(first, "late")

    waiting.refresh_from_db()
    assert (waiting.status, waiting.attempts) == (ImageStatus.PROCESSING, 2)
    assert list_stored() == [waiting.source]


def test_worker_that_stops_gives_the_image_back(waiting: Image, process: Callable[[Process], None]) -> None:
    stop = Event()

    def interrupt(_: Path, __: Path, may_continue: Callable[[], bool]) -> None:
        stop.set()
        assert not may_continue()

    process(interrupt)
    services.image_processing.process_images(actor=WORKER, stop=stop)

    waiting.refresh_from_db()
    assert (waiting.status, waiting.claimed_until, waiting.attempts) == (ImageStatus.PROCESSING, None, 0)


def test_image_that_the_storage_refuses_waits_and_holds_up_no_other(
    waiting: Image, media: FolderStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(FolderStorage, "put", fail)
        assert work() == 0
    other = make_image(source="uploads/2")
    media.put(other.source, io.BytesIO(b"x"))

    assert work() == 1

    waiting.refresh_from_db()
    assert (waiting.status, waiting.attempts, waiting.source) == (ImageStatus.PROCESSING, 0, "uploads/1")
    assert list_stored("media/") == list_public(other)
    Image.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert work() == 1


@pytest.mark.parametrize(("status", "attempts"), [(-SIGKILL, 1), (1, 0)])
def test_child_that_says_nothing_about_the_image_rejects_none(
    waiting: Image, process: Callable[[Process], None], status: int, attempts: int
) -> None:
    def fail(*_: Any) -> dict[str, Any]:
        raise ChildEnded(status)

    process(fail)
    assert work() == 0

    waiting.refresh_from_db()
    assert (waiting.status, waiting.attempts, waiting.rejection) == (ImageStatus.PROCESSING, attempts, None)
    assert list_stored() == [waiting.source]
    assert work() == 0


def test_image_that_ends_the_worker_again_and_again_is_rejected(waiting: Image) -> None:
    Image.objects.update(attempts=image_processing.MAX_ATTEMPTS)

    work()

    waiting.refresh_from_db()
    assert waiting.rejection == "The processing was interrupted several times. Upload the image again."


def test_posts_are_rendered_again_when_their_image_changes(waiting: Image) -> None:
    post = make_post(body=f"![Boat](image:{waiting.pk})")
    services.render_posts(Event())
    post.refresh_from_db()
    assert "<img" not in str(post.body_html)

    work()
    assert Post.objects.get(pk=post.pk).body_html == post.body_html
    services.render_posts(Event())

    assert "<img" in str(Post.objects.get(pk=post.pk).body_html)
    assert Post.objects.get(pk=post.pk).version == post.version


def test_post_that_was_saved_while_its_image_changed_is_rendered_later(waiting: Image) -> None:
    post = make_post(body=f"![Boat](image:{waiting.pk})")
    work()
    services.render_posts(Event())
    Post.objects.filter(pk=post.pk).update(body_html="<p>Boat</p>\n")  # of a transaction that did not see the image

    services.images.render_late_posts()
    services.render_posts(Event())

    assert "<img" in str(Post.objects.get(pk=post.pk).body_html)
    Image.objects.update(updated_at=timezone.now() - timedelta(minutes=3))
    services.images.render_late_posts()
    assert services.render_posts(Event()) == 0


@pytest.mark.django_db(transaction=True)
def test_two_workers_never_process_the_same_image(media: FolderStorage, process: Callable[[Process], None]) -> None:
    seen: list[str] = []

    def note(source: Path, folder: Path, may_continue: Callable[[], bool]) -> dict[str, Any]:
        seen.append(source.read_text())
        return make_files(source, folder, may_continue)

    process(note)
    for number in range(8):
        media.put(f"uploads/{number}", io.BytesIO(str(number).encode()))
        make_image(source=f"uploads/{number}")

    run_in_threads(work, 3)

    assert sorted(seen) == [str(number) for number in range(8)]
    assert {*Image.objects.values_list("status", flat=True)} == {ImageStatus.READY}
