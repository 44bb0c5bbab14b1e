"""Uploads from the desk, and what its scripts ask about images."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from blog import services
from blog.models import Image, ImageStatus
from contentapi.core.identity import OPERATOR, Role
from contentapi.media.folder import FolderStorage
from tests.blog.stored_images import make_ready_image
from tests.factories import make_image, make_user
from tests.image_files import make_jpeg, make_png

ADD, CHOOSE, DESCRIBE = (reverse(f"admin:blog_image_{name}") for name in ("add", "choose", "describe"))
SCRIPT = {"Accept": "application/json"}


def build_file(name: str = "boat.jpg", content: bytes | None = None) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, make_jpeg() if content is None else content)


def upload(client: Client, *files: SimpleUploadedFile, headers: Mapping[str, str] | None = None) -> Any:
    return client.post(ADD, {"file": files}, headers=headers)


def test_script_uploads_a_file_and_gets_the_image(editor_client: Client, media: FolderStorage) -> None:
    response = upload(editor_client, build_file(), headers=SCRIPT)

    image = Image.objects.get()
    assert response.status_code == 201
    assert response.json() == {
        "image": {
            "id": str(image.pk),
            "name": "boat.jpg",
            "alt": "",
            "isWaiting": True,
            "problem": "",
            "thumbnail": "",
            "focalX": 0.5,
            "focalY": 0.5,
        }
    }
    with media.open(image.source) as file:
        assert file.read() == make_jpeg()


@pytest.mark.usefixtures("media")
def test_name_of_a_file_keeps_the_joiners_of_its_script(editor_client: Client) -> None:
    name = "क्\u200dष.jpg"

    editor_client.post(ADD, {"name": name, "file": build_file(name)}, headers=SCRIPT)

    assert Image.objects.get().name == name


@pytest.mark.usefixtures("media")
def test_form_uploads_several_files_and_names_those_that_are_no_images(editor_client: Client) -> None:
    both = upload(editor_client, build_file(), build_file("sail.png", make_png()))
    mixed = upload(editor_client, build_file("no.png", b"<svg/>"), build_file("oar.jpg"))
    none = upload(editor_client)

    assert (both.status_code, both["Location"]) == (302, reverse("admin:blog_image_changelist"))
    assert (mixed.status_code, none.status_code) == (200, 200)
    assert "no.png: The file must be one of image/jpeg" in mixed.text
    assert "Choose a file." in none.text
    assert sorted(Image.objects.values_list("name", flat=True)) == ["boat.jpg", "oar.jpg", "sail.png"]


@pytest.mark.usefixtures("media")
def test_script_learns_what_is_wrong_with_a_file(editor_client: Client, settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_image_max_bytes=500)

    wrong, large, none = (
        upload(editor_client, build_file("no.png", b"<svg/>"), headers=SCRIPT),
        upload(editor_client, build_file(), headers=SCRIPT),
        upload(editor_client, headers=SCRIPT),
    )

    assert [response.status_code for response in (wrong, large, none)] == [415, 413, 400]
    assert large.json()["problem"].startswith("The file is too large. At most 500 bytes are allowed")
    assert not Image.objects.exists()


@pytest.mark.usefixtures("media")
def test_upload_needs_the_session_and_a_token_of_the_page() -> None:
    strict, anonymous = Client(enforce_csrf_checks=True), Client()
    strict.force_login(make_user(Role.EDITOR))

    assert upload(strict, build_file(), headers=SCRIPT).status_code == 403
    assert upload(anonymous, build_file(), headers=SCRIPT)["Location"].startswith("/admin/login/")
    assert not Image.objects.exists()


def test_other_file_for_an_image_waits_for_the_worker(editor_client: Client, media: FolderStorage) -> None:
    image = make_ready_image(has_files=True, alt="A boat")

    response = editor_client.post(
        reverse("admin:blog_image_replace", args=[image.pk]), {"file": build_file()}, follow=True
    )

    assert "The new file is being processed." in response.text
    found = Image.objects.get(pk=image.pk)
    assert (found.status, found.version, found.alt) == (ImageStatus.READY, image.version + 1, "A boat")
    with media.open(found.source) as file:
        assert file.read() == make_jpeg()


def test_choice_has_a_page_of_images_that_a_post_can_use(editor_client: Client) -> None:
    for number in range(25):
        make_ready_image(name=f"boat{number}.jpg", alt="")
    make_image(name="bad.jpg", status="rejected")
    services.delete_image(actor=OPERATOR, image_id=str(make_ready_image(name="gone.jpg").pk))

    first, second, found, none = (
        editor_client.get(CHOOSE, parameters).text
        for parameters in ({}, {"page": "2"}, {"q": "boat24"}, {"q": "nothing"})
    )

    assert (first.count("data-image="), second.count("data-image="), found.count("data-image=")) == (24, 1, 1)
    assert "boat24.jpg" in first
    assert "Older images" in first
    assert "boat0.jpg" in second
    assert "bad.jpg" not in first
    assert "gone.jpg" not in first
    assert "No image has these words" in none


def test_images_are_described_by_their_ids(editor_client: Client) -> None:
    image, other = make_ready_image(alt="A boat", focal_x=0.2), make_image()

    found = editor_client.get(DESCRIBE, {"ids": f"{image.pk},{other.pk},x,999999999"}).json()["images"]

    by_id = {each["id"]: each for each in found}
    assert by_id.keys() == {str(image.pk), str(other.pk)}
    described = by_id[str(image.pk)]
    assert (described["alt"], described["focalX"], described["isWaiting"]) == ("A boat", 0.2, False)
    assert described["thumbnail"].endswith("/320.webp")
    assert editor_client.get(DESCRIBE).json() == {"images": []}


def test_text_of_an_image_is_saved_by_those_who_may_change_it(client: Client) -> None:
    author = make_user(Role.AUTHOR)
    own, other = make_image(owner_id=author.pk), make_image()
    client.force_login(author)

    saved, long, refused = (
        client.post(reverse("admin:blog_image_alt", args=[image.pk]), {"alt": alt})
        for image, alt in ((own, "A boat"), (own, "x" * 501), (other, "Mine"))
    )

    assert (saved.status_code, saved.json()["image"]["alt"]) == (200, "A boat")
    assert (long.status_code, refused.status_code) == (422, 403)
    assert "problem" in refused.json()
