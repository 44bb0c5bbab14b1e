"""The limits of a zip file that is imported: its list of files, their sizes, and who may import it."""

import io
import struct
import tracemalloc
from collections.abc import Callable
from zipfile import ZIP_STORED

import pytest

from blog.files import archives, jobs
from blog.files.archives import Archive
from blog.files.syntax import InvalidFile
from contentapi.core.errors import ApiError, Forbidden, Invalid, Unauthenticated
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, Actor, Role, Scope
from tests.blog.archives import build_archive, import_content, read_outcomes
from tests.blog.markdown_files import build_file


def add_zip64_record(content: bytes, number: int) -> bytes:
    """Return the archive with an end record of ZIP64 that states this number of files."""
    at = content.index(b"PK\x05\x06")
    size, offset = struct.unpack("<LL", content[at + 12 : at + 20])
    record = struct.pack("<4sQHHLLQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, number, number, size, offset)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, at, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return content[:at] + record + locator + end


def set_number_of_files(content: bytes, number: int) -> bytes:
    at = content.index(b"PK\x05\x06")
    return content[: at + 8] + struct.pack("<HH", number, number) + content[at + 12 :]


def test_archive_of_zip64_is_read() -> None:
    content = add_zip64_record(build_archive({"a.md": build_file()}).getvalue(), 1)

    assert [file.path for file in Archive(io.BytesIO(content), name="site.zip").files] == ["a.md"]


@pytest.mark.parametrize("change", [set_number_of_files, add_zip64_record])
def test_too_many_files_are_refused_whatever_number_is_stated(
    change: Callable[[bytes, int], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = change(build_archive({"a.md": "", "b.md": ""}).getvalue(), 1)
    monkeypatch.setattr(archives, "MAX_FILES", 1)
    monkeypatch.setattr("zipfile.ZipInfo", None)

    with pytest.raises(Invalid, match="The zip file has 2 files; at most 1 are allowed"):
        Archive(io.BytesIO(content), name="site.zip")


def test_files_of_a_zip_file_in_the_zip_file_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = build_archive({"b.md": "", "c.md": "", "d.md": "", "e.md": ""}).getvalue()
    content = build_archive({"a.md": build_file(), "inner.zip": inner, "text.txt": b"x" * 100_000}, ZIP_STORED)
    monkeypatch.setattr(archives, "MAX_FILES", 3)

    assert [file.path for file in Archive(content, name="site.zip").files] == ["a.md"]
    assert archives.open_archive(content).read("inner.zip") == inner


def test_large_file_is_refused_by_its_size_and_the_others_are_imported() -> None:
    report = import_content(build_archive({"big.md": b"x" * 2_000_001, "a.md": build_file()}))

    assert read_outcomes(report) == {
        "big.md": "the file has 2,000,001 bytes; at most 2,000,000 are allowed. Split the post.",
        "a.md": "created",
    }


@pytest.mark.parametrize(
    ("limit", "value", "message"),
    [
        ("MAX_ARCHIVE", 100, "The zip file has {size} bytes; at most 100 are allowed. Split the zip file."),
        ("MAX_FILES", 1, "The zip file has 2 files; at most 1 are allowed. Split the zip file."),
        ("MAX_NAMES", 7, "The names in the zip file have 8 bytes; at most 7 are allowed. Split the zip file."),
        ("MAX_CONTENT", 1000, "The Markdown files have 1,001 bytes; at most 1,000 are allowed. Split the zip file."),
    ],
)
def test_archive_over_a_limit_is_refused(monkeypatch: pytest.MonkeyPatch, limit: str, value: int, message: str) -> None:
    content = build_archive({"a.md": b"x" * 1000, "b.md": b"x"})
    monkeypatch.setattr(archives, limit, value)

    with pytest.raises(Invalid) as refusal:
        import_content(content)

    assert refusal.value.fields == {"archive": [message.format(size=len(content.getvalue()))]}


def test_file_that_is_larger_than_its_stated_size_takes_little_memory() -> None:
    size = 60_000_000
    content = build_archive({"a.md": bytes(size)}).getvalue()
    bomb = content.replace(struct.pack("<L", size), struct.pack("<L", 40_000))
    (file,) = Archive(io.BytesIO(bomb), name="site.zip").files
    tracemalloc.start()
    try:
        with pytest.raises(InvalidFile):
            file.read()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 20_000_000


@pytest.mark.parametrize(
    ("actor", "refused"),
    [
        *((actor, Unauthenticated) for actor in (ANONYMOUS, OPERATOR)),
        (Actor(user_id=1, role=Role.AUTHOR, scopes=ALL_SCOPES), Forbidden),
        (Actor(user_id=1, role=Role.EDITOR, scopes=ALL_SCOPES - {Scope.POSTS_PUBLISH}), Forbidden),
    ],
)
def test_actor_who_may_not_import_learns_nothing(actor: Actor, refused: type[ApiError]) -> None:
    with pytest.raises(refused):
        jobs.create_import_job(actor=actor, archive=io.BytesIO(b"no zip"), name="site.zip")
