"""The images of a zip file: found as site generators find them, kept with the upload, and imported once."""

import io
from pathlib import PurePosixPath
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED

import msgspec
import pytest
from pytest_django import Settings

from blog.files import archives
from blog.files.archived_images import ArchivedImages
from blog.models import Image, Post
from contentapi.core.errors import Invalid
from contentapi.core.identity import Actor, Role
from contentapi.media.folder import FolderStorage
from tests.blog.archives import build_archive
from tests.blog.import_work import import_completely, list_results
from tests.blog.markdown_files import build_file
from tests.factories import make_user
from tests.image_files import make_jpeg, make_png
from users.authentication import build_session_actor

BODY = "![](boat.jpg) ![](../images/boat.jpg) ![](/images/quay.png) ![](quay.png) ![](lost.png)"


@pytest.fixture
def editor(db: None) -> Actor:  # noqa: ARG001
    return build_session_actor(make_user(Role.EDITOR))


def read(files: dict[str, str | bytes], file: str, address: str, compression: int = ZIP_STORED) -> bytes | None:
    with archives.open_archive(build_archive(files, compression)) as opened:
        members = archives.list_members(opened)
        images = ArchivedImages(opened, members, archives.find_common_folder(members))
        return images.read(PurePosixPath(file), address)


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("a.png", b"beside"),
        ("./a.png?v=2#x", b"beside"),
        ("../a.png", b"above"),
        ("/a.png", b"static"),
        ("img/c%20d.png", b"with a space"),
        ("/somewhere/else/only.png", None),
        ("else/only.png", b"only"),
        ("double.png", None),
        ("../../../../etc/passwd", None),
        ("a.md", None),
    ],
)
def test_image_is_found_as_site_generators_do(address: str, found: bytes | None) -> None:
    files: dict[str, str | bytes] = {
        "site/posts/x/a.png": b"beside",
        "site/posts/a.png": b"above",
        "site/static/a.png": b"static",
        "site/posts/x/img/c d.png": b"with a space",
        "site/content/else/only.png": b"only",
        "site/one/double.png": b"1",
        "site/two/double.png": b"2",
        "site/posts/x/a.md": b"text",
    }

    assert read(files, "site/posts/x/a.md", address) == found


@pytest.mark.parametrize("compression", [ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
def test_image_of_any_compression_is_read_and_a_large_one_is_none(compression: int, settings: Settings) -> None:
    files: dict[str, str | bytes] = {"a.png": bytes(1000), "b.png": bytes(1001)}
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_image_max_bytes=1000)

    assert read(files, "a.md", "a.png", compression) == bytes(1000)
    assert read(files, "a.md", "b.png", compression) is None


def test_damaged_image_is_none() -> None:
    content = build_archive({"a.png": make_png(8, 8)}, ZIP_DEFLATED).getvalue()
    broken = content.replace(content[60:70], bytes(10), 1)
    with archives.open_archive(io.BytesIO(broken)) as opened:
        images = ArchivedImages(opened, opened.infolist(), "")

        assert images.read(PurePosixPath("a.md"), "a.png") is None


def test_images_that_are_too_large_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_IMAGES", 15)
    content = build_archive({"a.md": build_file(), "a.png": bytes(8), "b.png": bytes(8)})

    with (
        archives.open_archive(content) as opened,
        pytest.raises(Invalid, match="The images have 16 bytes; at most 15 are allowed"),
    ):
        archives.list_content(opened, name="site.zip")


def test_images_of_an_upload_are_imported_once(editor: Actor, media: FolderStorage) -> None:
    files: dict[str, str | bytes] = {
        "posts/a.md": build_file('cover = "boat.jpg"', body=BODY, title="A"),
        "posts/b.md": build_file(body="![](boat.jpg)", title="B"),
        "posts/boat.jpg": make_jpeg(),
        "images/boat.jpg": make_jpeg(),
        "static/images/quay.png": make_png(),
    }

    job = import_completely(editor, files)

    assert list_results(job, is_plan=False) == [("posts/a.md", "created"), ("posts/b.md", "created")]
    boat, quay = Image.objects.order_by("name")
    first, second = Post.objects.order_by("title")
    one, two = f"![](image:{boat.pk})", f"![](image:{quay.pk})"
    assert first.body.strip() == f"{one} {one} {two} {two} ![](lost.png)"
    assert second.body.strip() == one
    assert (first.cover_id, boat.owner_id) == (boat.pk, editor.user_id)
    assert len(list(media.list_files())) == 2
