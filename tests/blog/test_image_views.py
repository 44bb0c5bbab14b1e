"""Images by REST: the upload, one success and one refusal of each method."""

import hashlib
from typing import Any

import pytest
from django.db import connection

from blog.models import Image
from contentapi.core.identity import Actor, Role
from contentapi.media.folder import FolderStorage
from tests.admin_forms import log_in
from tests.blog.stored_images import list_stored, make_ready_image
from tests.conftest import make_api_key
from tests.factories import get_user, make_actor, make_image, make_post
from tests.image_files import make_jpeg, make_png
from tests.resources import send_request


def upload(actor: Actor | None, content: bytes, content_type: str = "image/jpeg", **headers: str) -> Any:
    return send_request("POST", "/images", content, actor=actor, content_type=content_type, **headers)


def test_body_becomes_an_image(media: FolderStorage, author: Actor) -> None:
    response = upload(author, make_jpeg(), Content_Disposition='attachment; filename="boat.jpg"')

    image = Image.objects.get()
    assert (response.status, response.headers["Location"]) == (201, f"/images/{image.pk}")
    assert response.headers["ETag"].startswith('"1-')
    assert response.body["status"] == "processing"
    assert response.body["name"] == "boat.jpg"
    with media.open(image.source) as file:
        assert file.read() == make_jpeg()


def test_file_of_a_form_becomes_an_image(media: FolderStorage, author: Actor) -> None:
    content = make_png()
    form = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="boat.png"\r\nContent-Type: image/png\r\n\r\n'
        + content
        + b"\r\n--b--\r\n"
    )

    response = upload(author, form, "multipart/form-data; boundary=b")

    assert (response.status, response.body["name"], response.body["contentType"]) == (201, "boat.png", "image/png")
    assert bytes(Image.objects.get().sha256) == hashlib.sha256(content).digest()
    assert len(list(media.list_files())) == 1


def test_other_body_is_refused(media: FolderStorage, author: Actor) -> None:
    for content, content_type, error in [
        (b"<svg/>", "image/svg+xml", (415, "UNSUPPORTED_MEDIA_TYPE")),
        (b"<svg/>", "image/png", (415, "UNSUPPORTED_MEDIA_TYPE")),
        (make_jpeg(), "application/json", (415, "UNSUPPORTED_MEDIA_TYPE")),
        (b"x", "multipart/form-data; boundary=b", (400, "BAD_REQUEST")),
    ]:
        response = upload(author, content, content_type)

        assert response.error[:2] == error
        assert list(media.list_files()) == []
        assert not Image.objects.exists()


def test_cookie_is_no_credential(media: FolderStorage, author: Actor) -> None:
    client = log_in(get_user(author))

    response = client.post("/images", make_jpeg(), content_type="image/jpeg")

    assert response.status_code == 401
    assert list(media.list_files()) == []


@pytest.mark.parametrize("headers", [{}, {"Idempotency_Key": "one"}])
@pytest.mark.parametrize("query", ["", "?fields=id"])
def test_request_waits_for_its_lane_without_a_transaction(
    media: FolderStorage, author: Actor, monkeypatch: pytest.MonkeyPatch, query: str, headers: dict[str, str]
) -> None:
    image, blocks = make_image(owner_id=author.user_id), connection.atomic_blocks
    outside, depths = len(blocks), list[int]()
    monkeypatch.setattr("contentapi.rest.resource.enter_expensive_lane", lambda: depths.append(len(blocks)))

    for method, path in (("POST", "/images"), ("PUT", f"/images/{image.pk}/content")):
        sent = {"actor": author, "content_type": "image/jpeg", **headers}
        assert send_request(method, path + query, make_jpeg(), **sent).status < 300  # type: ignore[arg-type]
        assert depths[0] == outside  # another request may use the connection meanwhile; then the lane is entered
        depths.clear()
    assert media


def test_repeated_upload_with_a_key_is_one_image(media: FolderStorage, author: Actor) -> None:
    key = make_api_key(author)
    headers = {"X_API_Key": key, "Idempotency_Key": "one"}

    first, again = upload(None, make_jpeg(), **headers), upload(None, make_jpeg(), **headers)
    other = upload(None, make_png(), **headers)

    assert (first.status, again.body, other.status) == (201, first.body, 422)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert list_stored() == [Image.objects.get().source]
    assert media


def test_upload_with_a_key_needs_the_permission_before_its_body() -> None:
    key = make_api_key(make_actor(Role.READER))
    headers = {"X_API_Key": key, "Idempotency_Key": "one"}

    assert upload(None, b"<svg/>", **headers).error[0] == upload(None, b"<svg/>", X_API_Key=key).error[0] == 403


def test_methods_of_an_image(author: Actor) -> None:
    image = make_ready_image(owner_id=author.user_id)
    make_post(cover_id=image.pk)
    path = f"/images/{image.pk}"

    read = send_request("GET", path, actor=author)
    changed = send_request("PATCH", path, {"alt": "Boat", "focalPoint": {"x": 0, "y": 1}}, actor=author)
    listed = send_request("GET", "/images", actor=author)
    used = send_request("DELETE", path, actor=author)
    deleted = send_request("DELETE", f"{path}?force=true", actor=author)

    assert (read.status, read.body["id"], read.body["alt"]) == (200, str(image.pk), image.alt)
    assert (changed.status, changed.body["alt"], changed.body["focalPoint"]) == (200, "Boat", {"x": 0, "y": 1})
    assert [each["id"] for each in listed.body["data"]] == [str(image.pk)]
    assert used.error[:2] == (409, "CONFLICT")
    assert (deleted.status, send_request("GET", path, actor=author).status) == (204, 404)


def test_refusals(author: Actor) -> None:
    others = make_image()

    assert send_request("GET", f"/images/{others.pk}").error[0] == 404
    assert send_request("PATCH", f"/images/{others.pk}", {"focalPoint": {"x": 0}}, actor=author).error[0] == 400
    assert send_request("DELETE", f"/images/{others.pk}?force=1", actor=author).error[0] == 400
