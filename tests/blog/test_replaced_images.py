"""Another file for an image: the earlier one is shown until the new one is ready, and stays if that is rejected."""

import hashlib
import io

import pytest

from blog import services
from blog.models import ImageStatus
from blog.services import image_processing
from contentapi.core.errors import Conflict, Forbidden, UnsupportedMediaType
from contentapi.core.identity import WORKER, Actor, Role
from contentapi.media.folder import FolderStorage
from contentapi.media.storage import compute_key, name_file
from tests.blog.stored_images import RESULT, list_public, list_stored, list_stored_after_a_day, make_ready_image, work
from tests.factories import make_actor, make_image
from tests.image_files import make_jpeg, make_png, send_file
from tests.resources import send_request

pytestmark = pytest.mark.usefixtures("process_at_once")


def test_image_shows_the_earlier_file_until_the_new_one_is_ready(author: Actor) -> None:
    image = make_ready_image(has_files=True, owner_id=author.user_id, alt="Boat")
    before = list_public(image)

    replaced = services.replace_image_file(actor=author, image_id=str(image.pk), read_file=send_file(make_png()))

    assert (replaced.status, replaced.version, list_public(image)) == (ImageStatus.READY, 2, before)
    assert {*before} < {*list_stored()}
    work()
    assert not {*before} & {*list_public(image)}
    assert services.delete_outdated_files(actor=WORKER) == 0
    assert {*before} < {*list_stored()}
    assert list_stored_after_a_day() == list_public(image)
    assert (image.width, image.size, image.alt, image.version) == (RESULT["width"], RESULT["size"], "Boat", 3)
    assert services.images.find_image_by_digest(hashlib.sha256(make_png()).digest()) == image


def test_rejected_file_changes_no_file_of_the_image(author: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    image = make_ready_image(has_files=True, owner_id=author.user_id)
    before = list_public(image)
    services.replace_image_file(actor=author, image_id=str(image.pk), read_file=send_file(make_png()))
    monkeypatch.setattr(image_processing, "process_file", lambda *_: {"rejection": "The file is damaged."})

    work()

    assert list_stored() == list_public(image) == before
    assert (image.status, image.rejection) == (ImageStatus.READY, "The file is damaged.")
    assert services.images.find_image_by_digest(hashlib.sha256(make_png()).digest()) is None


def test_image_without_files_waits_for_the_new_one(author: Actor) -> None:
    image = make_image(owner_id=author.user_id, status=ImageStatus.REJECTED, rejection="Too large.", source="")

    replaced = services.replace_image_file(actor=author, image_id=str(image.pk), read_file=send_file(make_png()))

    assert (replaced.status, replaced.rejection, replaced.content_type) == (ImageStatus.PROCESSING, None, "image/png")
    work()
    assert list_stored("media/") == list_public(image)
    assert image.status == ImageStatus.READY


def test_nothing_is_stored_for_a_refusal(author: Actor) -> None:
    own, others = make_ready_image(owner_id=author.user_id), make_ready_image()

    with pytest.raises(Conflict):
        services.replace_image_file(
            actor=author, image_id=str(own.pk), read_file=send_file(make_png()), expected_version="9"
        )
    with pytest.raises(Forbidden):
        services.replace_image_file(actor=author, image_id=str(others.pk), read_file=send_file(make_png()))
    with pytest.raises(UnsupportedMediaType):
        services.replace_image_file(actor=author, image_id=str(own.pk), read_file=send_file(b"<svg/>"))

    assert list_stored() == []


def test_file_is_replaced_by_rest(author: Actor) -> None:
    image = make_ready_image(owner_id=author.user_id)
    path = f"/images/{image.pk}/content"

    replaced = send_request("PUT", path, make_jpeg(), actor=author, content_type="image/jpeg", If_Match='"1"')
    late = send_request("PUT", path, make_jpeg(), actor=author, content_type="image/jpeg", If_Match='"1"')
    refused = send_request("PUT", path, make_jpeg(), actor=make_actor(Role.AUTHOR), content_type="image/jpeg")

    assert (replaced.status, replaced.body["id"], replaced.body["status"]) == (200, str(image.pk), "ready")
    assert replaced.headers["ETag"].startswith('"2-')
    assert (late.error[0], refused.error[0]) == (409, 403)


def test_files_of_an_interrupted_worker_are_deleted_after_the_outcome(media: FolderStorage) -> None:
    image = make_image(source="uploads/1", attempts=image_processing.MAX_ATTEMPTS)
    key = compute_key(image.pk, image.version + 1)
    media.put(name_file(image.pk, key, "320.webp"), io.BytesIO(b"x"))

    work()

    image.refresh_from_db()
    assert (image.status, image.list_file_names()) == (ImageStatus.REJECTED, [])
    assert list_stored_after_a_day() == []
