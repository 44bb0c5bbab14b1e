"""The services of images: who may do what, what is stored, and what a deletion means for posts."""

from collections.abc import Callable
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from django.utils import timezone

from blog import services
from blog.models import Image, ImageStatus, ImageUpload
from blog.selectors.images import select_image_by_id, select_images
from contentapi.core.errors import ApiError, Conflict, Forbidden, Invalid, NotFound, Unauthenticated, Unavailable
from contentapi.core.errors import UnsupportedMediaType as Unsupported
from contentapi.core.identity import ANONYMOUS, Actor, Role, Scope
from contentapi.core.text import convert_to_camel
from contentapi.http.uploads import SentFile
from contentapi.media.folder import FolderStorage
from tests.blog.stored_images import make_ready_image
from tests.factories import make_actor, make_author, make_image, make_post, make_working_copy
from tests.image_files import make_jpeg, make_png, send_file


def test_uploaded_file_is_stored_before_the_row_that_names_it(media: FolderStorage) -> None:
    author, content = make_actor(Role.AUTHOR), make_jpeg()

    image = services.create_image(actor=author, read_file=send_file(content))

    stored = Image.objects.get(pk=image.pk)
    assert (stored.status, stored.owner_id, stored.name) == (ImageStatus.PROCESSING, author.user_id, "boat.jpg")
    assert (stored.content_type, stored.size, stored.width) == ("image/jpeg", len(content), 0)
    with media.open(stored.source) as file:
        assert file.read() == content


def test_storage_that_fails_is_unavailable_and_leaves_no_image(
    media: FolderStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(FolderStorage, "put", fail)
    with pytest.raises(Unavailable):
        services.create_image(actor=make_actor(Role.AUTHOR), read_file=send_file(make_png()))

    assert not Image.objects.exists()
    assert not ImageUpload.objects.exists()
    assert media


def test_bytes_decide_and_not_the_name(media: FolderStorage) -> None:
    author = make_actor(Role.AUTHOR)
    image = services.create_image(actor=author, read_file=send_file(make_png(), "boat.svg"))

    assert image.content_type == "image/png"
    with pytest.raises(Unsupported, match="must be one of image/jpeg, image/png"):
        services.create_image(actor=author, read_file=send_file(b"<svg/>", "boat.png"))
    assert [file.name for file in media.list_files()] == [image.source]


def test_name_has_no_folder_and_nothing_that_cannot_be_shown(media: FolderStorage) -> None:
    assert media
    author = make_actor(Role.AUTHOR)
    for sent, name in [
        ("C:\\photos\\boat.jpg", "boat.jpg"),
        ("../../etc/passwd", "passwd"),
        ("a\0b\nc.jpg", "abc.jpg"),
        ("", "image"),
        ("folder/" * 50 + "x" * 150, "x" * 150),
        (" Böt.jpg ", "Böt.jpg"),
        (
            "क्\u200dष \U0001f469\u200d\U0001f52c 10.00\u202fAM.png",
            "क्\u200dष \U0001f469\u200d\U0001f52c 10.00\u202fAM.png",
        ),
        ("boat\u202egpj.exe", "boatgpj.exe"),
    ]:
        assert services.create_image(actor=author, read_file=send_file(make_png(), sent)).name == name


def test_name_that_is_too_long_is_refused_before_the_file_is_stored(media: FolderStorage) -> None:
    with pytest.raises(Invalid, match=r"name: This must have 1 to 150 characters \(got 151\)."):
        services.create_image(actor=make_actor(Role.AUTHOR), read_file=send_file(make_png(), "x" * 151))

    assert list(media.list_files()) == []


def test_name_that_a_person_cannot_choose_is_shortened() -> None:
    assert services.images.shorten_file_name("photos/" + "x" * 300 + ".jpg") == "x" * 146 + ".jpg"


@pytest.mark.parametrize(
    ("actor", "error"),
    [
        (ANONYMOUS, Unauthenticated),
        (Actor(1, Role.READER, frozenset(Scope)), Forbidden),
        (Actor(1, Role.ADMIN, frozenset(Scope) - {Scope.IMAGES_WRITE}), Forbidden),
    ],
)
def test_caller_without_the_permission_is_refused_before_the_file_is_read(actor: Actor, error: type[ApiError]) -> None:
    def read() -> SentFile:
        raise AssertionError

    with pytest.raises(error):
        services.create_image(actor=actor, read_file=read)


def test_changes_are_a_new_version_and_equal_values_none() -> None:
    editor, image = make_actor(Role.EDITOR), make_image(alt="Boat")
    changes = {"alt": " A boat ", "caption": "c", "credit": "d", "name": "n.jpg", "focal_point": {"x": 0.25, "y": 1}}

    changed = services.edit_image(actor=editor, image_id=str(image.pk), changes=changes, expected_version="1")
    again = services.edit_image(actor=editor, image_id=str(image.pk), changes=changes, expected_version="2")

    assert (changed.version, again.version) == (2, 2)
    stored = Image.objects.get(pk=image.pk)
    assert (stored.alt, stored.caption, stored.credit, stored.name) == ("A boat", "c", "d", "n.jpg")
    assert (stored.focal_x, stored.focal_y) == (0.25, 1)
    with pytest.raises(Conflict, match="is at version 2"):
        services.edit_image(actor=editor, image_id=str(image.pk), changes={}, expected_version="1")


def test_invalid_change_names_the_field() -> None:
    texts = {"alt": (None, "x" * 501), "caption": ("x" * 1001,), "credit": ("x" * 301,), "name": ("x" * 151, " ")}
    points = (None, {"x": -0.1, "y": 0}, {"x": 0, "y": 1.1})
    editor, image = make_actor(Role.EDITOR), make_image()

    for name, values in {**texts, "focal_point": points}.items():
        for value in values:
            with pytest.raises(Invalid) as raised:
                services.edit_image(actor=editor, image_id=str(image.pk), changes={name: value})

            assert list(raised.value.fields) == [convert_to_camel(name)]


def test_unused_image_is_deleted_and_can_be_restored() -> None:
    editor, image = make_actor(Role.EDITOR), make_ready_image()

    assert services.delete_image(actor=editor, image_id=str(image.pk)) == str(image.pk)

    assert not select_image_by_id(editor, str(image.pk)).exists()
    assert not select_images(editor).exists()
    with pytest.raises(NotFound):
        services.delete_image(actor=editor, image_id=str(image.pk))
    restored = services.restore_image(actor=editor, image_id=str(image.pk))
    assert (restored.status, restored.version) == (ImageStatus.READY, 3)
    with pytest.raises(NotFound):
        services.restore_image(actor=editor, image_id=str(image.pk))


def test_image_that_was_deleted_long_ago_cannot_be_restored() -> None:
    image = make_ready_image(deleted_at=timezone.now() - timedelta(days=30))

    with pytest.raises(NotFound):
        services.restore_image(actor=make_actor(Role.EDITOR), image_id=str(image.pk))


USES: dict[str, Callable[[int], tuple[dict[str, Any], dict[str, Any]]]] = {  # the values of a post and of its copy
    "cover": lambda pk: ({"cover_id": pk}, {}),
    "text": lambda pk: ({"body": f"![a](image:{pk})\n"}, {}),
    "rendered text": lambda pk: ({"body": f"![](image:{pk})"}, {}),
    "text of the copy": lambda pk: ({}, {"body": f"![a](image:{pk})"}),
    "cover of the copy": lambda pk: ({}, {"cover_id": pk}),
}


def test_deletion_of_an_image_that_a_post_uses_needs_force() -> None:
    editor = make_actor(Role.EDITOR)
    for use, describe in USES.items():
        image = make_ready_image()
        make_post(body=f"![a](image:{image.pk}0)")
        of_post, of_copy = describe(image.pk)
        post = make_post(title=use, **of_post)
        if of_copy:
            make_working_copy(post, **of_copy)
        if use == "rendered text":
            services.render_posts(Event())

        with pytest.raises(Conflict) as raised:
            services.delete_image(actor=editor, image_id=str(image.pk))

        assert raised.value.message == (
            f"The image is used by “{use}”. Remove it there, or delete it although it is used."
        )
        services.delete_image(actor=editor, image_id=str(image.pk), force=True)
        assert Image.objects.get(pk=image.pk).deleted_at is not None


def test_conflict_names_no_post_that_the_caller_may_not_see() -> None:
    author = make_actor(Role.AUTHOR)
    image = make_ready_image(owner_id=author.user_id)
    make_post(title="Hidden", status="draft", cover_id=image.pk, author=make_author())
    make_post(title="Seen", cover_id=image.pk)

    with pytest.raises(Conflict) as raised:
        services.delete_image(actor=author, image_id=str(image.pk))

    assert "used by “Seen”, 1 other post." in raised.value.message
    assert "Hidden" not in raised.value.message
