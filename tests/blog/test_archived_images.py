"""The images of a zip file: found as site generators find them, kept with the upload, and imported once."""

import io
import struct
import zlib
from pathlib import Path, PurePosixPath
from typing import Literal
from unicodedata import normalize
from urllib.parse import quote
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipInfo

import msgspec
import pytest
from pytest_django import Settings

from blog.files import archives, images
from blog.files.archives import Archive, get_path
from blog.files.images import UnusableImage, read_image_of_folder
from blog.models import Image, Post
from contentapi.core.errors import Invalid
from contentapi.core.identity import Actor
from contentapi.media.folder import FolderStorage
from tests.blog.archives import build_archive
from tests.blog.import_work import import_completely, list_results
from tests.blog.markdown_files import build_file
from tests.image_files import make_jpeg, make_png

Form = Literal["NFC", "NFD"]
BODY = "![](boat.jpg) ![](../images/boat.jpg) ![](/images/quay.png) ![](quay.png) ![](lost.png)"


def read(files: dict[str, str | bytes], file: str, address: str, compression: int = ZIP_STORED) -> bytes | str:
    archive = Archive(build_archive({"site/a.md": "", **files}, compression), name="site.zip")
    try:
        return archive.read_image(PurePosixPath(file), address)
    except UnusableImage as error:
        return str(error)


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("a.png", b"beside"),
        ("./a.png?v=2#x", b"beside"),
        ("../a.png", b"above"),
        ("/a.png", b"static"),
        ("img/c%20d.png", b"with a space"),
        ("/somewhere/else/only.png", "no file has this path"),
        ("else/only.png", b"only"),
        ("..\\else\\only.png", b"only"),
        ("double.png", "several files have this path"),
        ("../../../../etc/passwd", "no file has this path"),
        ("a.txt", b""),
    ],
)
def test_image_is_found_as_site_generators_do(address: str, found: bytes | str) -> None:
    files: dict[str, str | bytes] = {
        "site/posts/x/a.png": b"beside",
        "site/posts/a.png": b"above",
        "site/static/a.png": b"static",
        "site/posts/x/img/c d.png": b"with a space",
        "site/content/else/only.png": b"only",
        "site/one/double.png": b"1",
        "site/two/double.png": b"2",
        "site/posts/x/a.txt": b"text",
    }

    assert read(files, "site/posts/x/a.md", address) == found


@pytest.mark.parametrize("compression", [ZIP_STORED, ZIP_DEFLATED])
def test_image_is_read_and_a_large_one_is_refused(compression: int, settings: Settings) -> None:
    files: dict[str, str | bytes] = {"a.png": bytes(1000), "b.png": bytes(1001)}
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_image_max_bytes=1000)

    assert read(files, "a.md", "a.png", compression) == bytes(1000)
    assert read(files, "a.md", "b.png", compression) == "it has 1,001 bytes; at most 1,000 are allowed"


def test_damaged_image_is_refused() -> None:
    content = build_archive({"a.png": make_png(8, 8)}, ZIP_DEFLATED).getvalue()
    broken = content.replace(content[60:70], bytes(10), 1)
    archive = Archive(io.BytesIO(broken), name="site.zip")

    with pytest.raises(UnusableImage, match=r"^it is damaged in the zip file$"):
        archive.read_image(PurePosixPath("a.md"), "a.png")


def test_images_that_are_too_large_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_IMAGES", 15)
    content = build_archive({"a.md": build_file(), "a.png": bytes(8), "b.png": bytes(8)})

    with pytest.raises(Invalid, match="The images have 16 bytes; at most 15 are allowed"):
        Archive(content, name="site.zip")


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


def test_link_leads_to_the_image_that_is_imported_with_it(editor: Actor, media: FolderStorage) -> None:
    body = "[![Boat](small.jpg)](boat.jpg) [x](boat.jpg) [other](file.pdf) `![](boat.jpg)` [lost](lost%00.png)"
    files: dict[str, str | bytes] = {
        "a.md": build_file(body=body, title="A"),
        "small.jpg": make_jpeg(8, 8),
        "boat.jpg": make_jpeg(),
        "file.pdf": b"%PDF",
    }

    job = import_completely(editor, files)

    small, boat = (Image.objects.get(name=name).pk for name in ("small.jpg", "boat.jpg"))
    one, two = f"[![Boat](image:{small})](image:{boat})", f"[x](image:{boat})"
    assert Post.objects.get().body == f"{one} {two} [other](file.pdf) `![](boat.jpg)` [lost](lost%00.png)"
    notes = ["The image lost\N{REPLACEMENT CHARACTER}.png is not imported: no file has this path."]
    assert [(details or {})["notes"] for details in job.results.values_list("details", flat=True)] == [notes, notes]
    assert len(list(media.list_files())) == 2


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("kind", ["flag", "no flag", "Unicode path", "CP437"])
def test_names_in_a_zip_file_are_read_in_each_way_to_write_them(form: Form, kind: str) -> None:
    name = normalize("NFC" if kind == "CP437" else form, "Café.png")
    path = f"site/{name}"
    member = ZipInfo(path)
    if kind == "flag":
        member.flag_bits = 0x800
    else:
        raw = path.encode("cp437" if kind == "CP437" else "utf-8") if kind != "Unicode path" else b"site/?"
        member.orig_filename = member.filename = raw.decode("cp437")
    if kind == "Unicode path":
        value = b"\x01" + zlib.crc32(b"site/?").to_bytes(4, "little") + path.encode()
        member.extra = struct.pack("<HHI", 0x1, 4, 0) + struct.pack("<HH", 0x7075, len(value)) + value

    assert get_path(member).as_posix() == "site/Café.png"


@pytest.mark.parametrize("written", ["NFC", "NFD"])
@pytest.mark.parametrize("stored", ["NFC", "NFD"])
def test_names_of_images_are_compared_in_nfc(stored: Form, written: Form, tmp_path: Path) -> None:
    name, address = normalize(stored, "Über é.png"), quote(normalize(written, "Über é.png"))
    (tmp_path / name).write_bytes(b"image")

    assert read({name: b"image"}, "a.md", address) == b"image"
    assert read_image_of_folder(tmp_path, tmp_path / "a.md", address) == b"image"


def test_text_with_too_many_images_is_refused(editor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MAX_IMAGES", 3)
    files: dict[str, str | bytes] = {f"{number}.png": make_png(8, 8) for number in range(4)}
    body = " ".join(f"![]({name}) ![]({name})" for name in files)

    job = import_completely(editor, {**files, "a.md": build_file(body=body)})

    (reason,) = {reason for _, reason in list_results(job, is_plan=True)}
    assert reason == "the text has more than 3 images. Split the post."
    assert not Image.objects.exists()
