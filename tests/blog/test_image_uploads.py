"""Uploads in two steps: announced, sent, completed, and what remains of the unfinished ones."""

import hashlib
import io
import os
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from blog import services
from blog.models import Image, ImageUpload
from contentapi.core.errors import ApiError, Conflict, Invalid, NotFound, TooLarge, UnsupportedMediaType
from contentapi.core.identity import WORKER, Actor, Role
from contentapi.media.folder import FolderStorage
from tests.blog.stored_images import list_stored
from tests.factories import make_actor, make_image
from tests.image_files import make_jpeg

CONTENT = make_jpeg()
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def announce(actor: Actor, **changes: Any) -> ImageUpload:
    values = {"name": "boat.jpg", "content_type": "image/jpeg", "size": len(CONTENT), "sha_256": DIGEST}
    return services.create_upload(actor=actor, **{**values, **changes})[0]


def store(media: FolderStorage, announced: ImageUpload, content: bytes = CONTENT) -> None:
    media.put(f"uploads/{announced.pk}", io.BytesIO(content))


def test_completed_upload_is_an_image_and_completing_it_again_the_same_one(media: FolderStorage, author: Actor) -> None:
    announced = announce(author)
    store(media, announced)

    image = services.complete_upload(actor=author, upload_id=str(announced.pk))
    again = services.complete_upload(actor=author, upload_id=str(announced.pk))

    assert image == again == Image.objects.get()
    assert (image.name, image.size, image.content_type) == ("boat.jpg", len(CONTENT), "image/jpeg")
    assert bytes(image.sha256).hex() == DIGEST
    assert list_stored() == [image.source]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"content_type": "image/svg+xml"}, UnsupportedMediaType, "must be one of image/jpeg"),
        ({"sha_256": "abc"}, Invalid, "sha256: This must be 64 hexadecimal digits."),
        ({"name": "boats/"}, Invalid, r"name: This must have 1 to 150 characters \(got 0\)."),
        ({"name": "x" * 151}, Invalid, r"name: This must have 1 to 150 characters \(got 151\)."),
        ({"size": 0}, Invalid, "size: This must be 1 or more."),
        ({"size": 26_214_401}, TooLarge, r"At most 26,214,400 bytes are allowed \(CONTENTAPI_IMAGE_MAX_BYTES\)"),
    ],
)
def test_invalid_announcement_is_refused(
    author: Actor, changes: dict[str, Any], error: type[ApiError], message: str
) -> None:
    with pytest.raises(error, match=message):
        announce(author, **changes)


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "have not arrived"), (CONTENT[:-1], "have not arrived"), (CONTENT[:-1] + b"x", "are other ones")],
)
def test_file_that_was_not_announced_is_not_completed(
    media: FolderStorage, author: Actor, content: bytes | None, message: str
) -> None:
    announced = announce(author)
    if content is not None:
        store(media, announced, content)

    with pytest.raises(Conflict, match=message):
        services.complete_upload(actor=author, upload_id=str(announced.pk))

    assert not Image.objects.exists()


def test_upload_of_another_user_is_not_found(media: FolderStorage, author: Actor) -> None:
    announced = announce(author)
    store(media, announced)

    with pytest.raises(NotFound):
        services.complete_upload(actor=make_actor(Role.ADMIN), upload_id=str(announced.pk))


def test_unfinished_uploads_and_files_without_a_row_are_deleted_after_a_day(
    media: FolderStorage, author: Actor, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    new, old, yesterday = announce(author), announce(author), timezone.now() - timedelta(hours=24)
    waiting = make_image(source="uploads/waiting")
    for name in ("uploads/waiting", "uploads/x", "deleted/3", f"uploads/{new.pk}", f"uploads/{old.pk}"):
        media.put(name, io.BytesIO(CONTENT))
        if name != f"uploads/{new.pk}":
            os.utime(media.folder / name, (0, 0))
    (media.folder / "uploads/.abc.partial").write_bytes(b"half")
    os.utime(media.folder / "uploads/.abc.partial", (0, 0))
    ImageUpload.objects.filter(pk=old.pk).update(created_at=yesterday)

    with django_assert_num_queries(2):  # of all files together: an original of each deleted image is among them
        assert services.purge_uploads(actor=WORKER) == 4

    assert list(ImageUpload.objects.all()) == [new]
    assert list_stored() == sorted([waiting.source, f"uploads/{new.pk}"])
