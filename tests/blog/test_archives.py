"""The import of a zip file: the report of each file, its source, and damaged files."""

import io
import struct
from collections.abc import Callable
from contextlib import suppress
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blog.files.archives import Archive
from blog.files.syntax import InvalidFile
from blog.models import Post
from contentapi.core.errors import Invalid
from tests.blog.archives import build_archive, import_content, read_outcomes
from tests.blog.markdown_files import build_file
from tests.thoroughness import scale_examples

DAMAGED = "is damaged in the zip file, or compressed in an unknown way. Create it again."
OUTSIDE = "its path leads out of the zip file. Create the zip file from the folder of the site."


def test_source_is_the_only_folder_or_the_name_of_the_archive() -> None:
    for names, source, expected in [
        (["harbour/a.md", "harbour/b/c.md"], None, ("harbour", ["a.md", "b/c.md"])),
        (["harbour/a.md", "__MACOSX/harbour/._a.md"], None, ("harbour", ["a.md"])),
        (["harbour/a.md"], "kitchen", ("kitchen", ["a.md"])),
        (["harbour/a.md", "b.md"], None, ("site", ["harbour/a.md", "b.md"])),
        (["_drafts/a.md"], None, ("site", ["_drafts/a.md"])),
        (["harbour\\a.md"], None, ("harbour", ["a.md"])),
    ]:
        report = import_content(build_archive(dict.fromkeys(names, build_file())), source=source)

        assert (report.source, [item.file.path for item in report.files]) == expected


def test_path_that_leads_out_of_the_archive_is_refused() -> None:
    for name in ["../a.md", "x/../../a.md", "/etc/a.md", "C:\\a.md", "..\\a.md"]:
        report = import_content(build_archive({name: build_file(title="Evil"), "good.md": build_file(title="Good")}))

        assert [item.reason for item in report.files] == ["", OUTSIDE]
        assert [post.title for post in Post.objects.all()] == ["Good"]


def set_encryption_flag(content: bytes) -> bytes:
    at = content.index(b"PK\x01\x02")
    return content[: at + 8] + struct.pack("<H", 1) + content[at + 10 :]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda _: b"", "This is not a zip file, or it is damaged. Create it again."),
        (lambda _: b"# Soup", "This is not a zip file, or it is damaged. Create it again."),
        (lambda content: content[:-30], "This is not a zip file, or it is damaged. Create it again."),
        (set_encryption_flag, "The zip file is encrypted. Create it without a password."),
    ],
)
def test_unreadable_archive_is_refused_with_the_remedy(damage: Callable[[bytes], bytes], message: str) -> None:
    content = build_archive({"a.md": build_file()}).getvalue()

    with pytest.raises(Invalid) as refusal:
        import_content(io.BytesIO(damage(content)))

    assert refusal.value.fields == {"archive": [message]}


def damage_content(content: bytes, name: str) -> bytes:
    """Replace the first bytes of a file after its name in the local header, and then its end."""
    at = content.index(name.encode()) + len(name)
    end = content.index(b"PK", at)
    return content[:at] + b"\xff" * (end - at) + content[end:]


@pytest.mark.parametrize("compression", [ZIP_STORED, ZIP_DEFLATED])
def test_damaged_file_does_not_stop_the_others(compression: int) -> None:
    content = build_archive({"a.md": build_file(title="A"), "b.md": build_file(title="B")}, compression).getvalue()

    whole = import_content(io.BytesIO(content), dry_run=True)
    report = import_content(io.BytesIO(damage_content(content, "a.md")))

    assert read_outcomes(whole) == {"a.md": "created", "b.md": "created"}
    assert read_outcomes(report) == {"a.md": DAMAGED, "b.md": "created"}


def test_compression_that_no_file_manager_uses_is_refused() -> None:
    for compression in [ZIP_BZIP2, ZIP_LZMA]:
        report = import_content(build_archive({"a.md": build_file()}, compression))

        assert read_outcomes(report) == {"a.md": DAMAGED}


def test_second_file_of_one_path_is_refused() -> None:
    content = io.BytesIO()
    with ZipFile(content, "w") as archive:
        archive.writestr("a.md", build_file(title="One"))
        archive.writestr("x.md", build_file(title="X"))
        archive.writestr("./a.md", build_file(title="Two"))

    report = import_content(content)

    assert [item.outcome for item in report.files] == ["created", "created", "refused"]
    assert sorted(Post.objects.values_list("title", flat=True)) == ["One", "X"]


WHOLE = build_archive({f"{number}.md": build_file() for number in range(3)}).getvalue()


@pytest.mark.property
@settings(deadline=None, max_examples=scale_examples(300))
@given(at=st.integers(0, len(WHOLE) - 1), value=st.integers(0, 255))
@example(at=WHOLE.rindex(b"0.md"), value=0)  # a file without a name
@example(at=len(WHOLE) - 5, value=WHOLE[-5] + 1)  # a directory that is declared to begin 256 bytes later
def test_archive_with_one_changed_byte_is_read_or_refused(at: int, value: int) -> None:
    content = io.BytesIO(WHOLE[:at] + bytes([value]) + WHOLE[at + 1 :])

    with suppress(Invalid):
        for file in Archive(content, name="site.zip").files:
            with suppress(InvalidFile):
                file.read()
