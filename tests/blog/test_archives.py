"""The import of a zip file: the report of each file, limits, and archives that are broken or hostile."""

import io
import struct
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile, ZipInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blog.files import archives, importing, reading
from blog.files.archives import ArchiveReport
from blog.files.importing import ImportOutcome
from blog.files.syntax import InvalidFile
from blog.models import Author, Post, PostSource
from contentapi.core.errors import ApiError, Forbidden, Invalid, Unauthenticated
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, Actor, Role, Scope
from tests.blog.markdown_files import build_file
from tests.factories import make_actor
from tests.thoroughness import scale_examples

DAMAGED = "is damaged in the zip file, or compressed in an unknown way. Create it again."
OUTSIDE = "its path leads out of the zip file. Create the zip file from the folder of the site."


def build_archive(files: dict[str, str | bytes], compression: int = ZIP_DEFLATED) -> io.BytesIO:
    content = io.BytesIO()
    with ZipFile(content, "w", compression) as archive:
        for name, text in files.items():
            archive.writestr(ZipInfo(name), text, compression)
    return content


def import_content(content: io.BytesIO, *, dry_run: bool = False, source: str | None = None) -> ArchiveReport:
    return archives.import_archive(actor=OPERATOR, archive=content, name="site.zip", source=source, dry_run=dry_run)


def read_outcomes(report: ArchiveReport) -> dict[str, str]:
    return {item.file.path: item.reason or item.outcome for item in report.files}


def count_rows() -> list[int]:
    return [model.objects.count() for model in (Author, Post, PostSource)]


SITE: dict[str, str | bytes] = {
    "posts/a.md": build_file(title="A"),
    "posts/_index.md": build_file(title="Section"),
    "posts/bad.md": "# Soup",
    "_drafts/b.mdx": build_file(title="B"),
    "posts/image.png": b"\x89PNG",
    "__MACOSX/posts/._a.md": b"\x00\x05",
    ".git/a.md": build_file(title="Hidden"),
    "posts/.hidden.md": build_file(title="Hidden"),
}
BAD = "does not begin with front matter. The first line must be +++ (TOML), --- (YAML) or { (JSON)."


@pytest.mark.django_db
def test_plan_equals_what_the_import_does_afterwards() -> None:
    plan = import_content(build_archive(SITE), dry_run=True)
    before = count_rows()
    done = import_content(build_archive(SITE))
    again = import_content(build_archive({**SITE, "posts/a.md": build_file(title="New A")}), dry_run=True)

    outcomes = {
        "posts/a.md": "created",
        "posts/_index.md": "not a post",
        "posts/bad.md": BAD,
        "_drafts/b.mdx": "created",
    }
    assert read_outcomes(plan) == read_outcomes(done) == outcomes
    assert read_outcomes(again) == {**outcomes, "posts/a.md": "updated", "_drafts/b.mdx": "unchanged"}
    assert before == [0, 0, 0]
    assert (plan.source, plan.ignored) == ("site", 1)
    assert sorted(PostSource.objects.values_list("source", "path", "post__title", "post__status")) == [
        ("site", "_drafts/b.mdx", "B", "draft"),
        ("site", "posts/a.md", "A", "published"),
    ]


@pytest.mark.django_db
def test_progress_is_reported_after_each_file() -> None:
    calls: list[tuple[int, int]] = []

    archives.import_archive(
        actor=OPERATOR,
        archive=build_archive(SITE),
        name="site.zip",
        dry_run=True,
        report_progress=lambda done, total: calls.append((done, total)),
    )

    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("names", "source", "expected"),
    [
        (["harbour/a.md", "harbour/b/c.md"], None, ("harbour", ["a.md", "b/c.md"])),
        (["harbour/a.md", "__MACOSX/harbour/._a.md"], None, ("harbour", ["a.md"])),
        (["harbour/a.md"], "kitchen", ("kitchen", ["a.md"])),
        (["harbour/a.md", "b.md"], None, ("site", ["harbour/a.md", "b.md"])),
        (["_drafts/a.md"], None, ("site", ["_drafts/a.md"])),
        (["harbour\\a.md"], None, ("harbour", ["a.md"])),
    ],
)
def test_source_is_the_only_folder_or_the_name_of_the_archive(
    names: list[str], source: str | None, expected: tuple[str, list[str]]
) -> None:
    report = import_content(build_archive(dict.fromkeys(names, build_file())), source=source)

    assert (report.source, [item.file.path for item in report.files]) == expected


@pytest.mark.django_db
def test_archive_of_a_folder_and_the_folder_are_one_source(tmp_path: Path) -> None:
    (tmp_path / "harbour").mkdir()
    (tmp_path / "harbour" / "a.md").write_text(build_file())
    import_content(build_archive({"harbour/a.md": build_file()}))

    (file,) = reading.find_markdown_files([tmp_path / "harbour"])

    assert importing.import_file(actor=OPERATOR, file=file) == ImportOutcome.UNCHANGED


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["../a.md", "x/../../a.md", "/etc/a.md", "C:\\a.md", "..\\a.md"])
def test_path_that_leads_out_of_the_archive_is_refused(name: str) -> None:
    report = import_content(build_archive({name: build_file(title="Evil"), "good.md": build_file(title="Good")}))

    assert [item.reason for item in report.files] == [OUTSIDE, ""]
    assert [post.title for post in Post.objects.all()] == ["Good"]


def set_encryption_flag(content: bytes) -> bytes:
    at = content.index(b"PK\x01\x02")
    return content[: at + 8] + struct.pack("<H", 1) + content[at + 10 :]


@pytest.mark.django_db
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


@pytest.mark.django_db
def test_damaged_file_does_not_stop_the_others() -> None:
    content = build_archive({"a.md": build_file(title="A"), "b.md": build_file(title="B")}, ZIP_STORED).getvalue()

    report = import_content(io.BytesIO(content.replace(b'title = "A"', b'title = "X"')))

    assert read_outcomes(report) == {"a.md": DAMAGED, "b.md": "created"}
    assert [post.title for post in Post.objects.all()] == ["B"]


def damage_content(content: bytes, name: str) -> bytes:
    """Replace the first bytes of a file after its name in the local header, and then its end."""
    at = content.index(name.encode()) + len(name)
    end = content.index(b"PK", at)
    return content[:at] + b"\xff" * (end - at) + content[end:]


@pytest.mark.django_db
@pytest.mark.parametrize("compression", [ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
def test_damaged_file_of_any_compression_does_not_stop_the_others(compression: int) -> None:
    content = build_archive({"a.md": build_file(title="A"), "b.md": build_file(title="B")}, compression).getvalue()

    whole = import_content(io.BytesIO(content), dry_run=True)
    report = import_content(io.BytesIO(damage_content(content, "a.md")))

    assert read_outcomes(whole) == {"a.md": "created", "b.md": "created"}
    assert read_outcomes(report) == {"a.md": DAMAGED, "b.md": "created"}


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


@pytest.mark.parametrize(
    ("change", "number"),
    [(set_number_of_files, 10_001), (add_zip64_record, 10_001), (add_zip64_record, 1_000_000)],
)
def test_number_of_files_is_read_from_the_end_record(
    change: Callable[[bytes, int], bytes], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = change(build_archive({"a.md": build_file()}).getvalue(), number)
    monkeypatch.setattr(archives, "ZipFile", None)  # it would read the list of files

    with pytest.raises(Invalid) as refusal:
        archives.open_archive(io.BytesIO(content))

    assert refusal.value.fields == {
        "archive": [f"The zip file has {number:,} files; at most 10,000 are allowed. Split it."]
    }


def test_archive_of_zip64_is_read() -> None:
    content = add_zip64_record(build_archive({"a.md": build_file()}).getvalue(), 1)

    with archives.open_archive(io.BytesIO(content)) as opened:
        assert opened.namelist() == ["a.md"]


def test_list_of_files_that_is_too_large_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    content = build_archive({f"{number}.md": "" for number in range(30)}).getvalue()
    lying = set_number_of_files(content, 1)
    monkeypatch.setattr(archives, "MAX_LIST", 1000)
    monkeypatch.setattr(archives, "ZipFile", None)

    with pytest.raises(Invalid, match=r"The list of files in the zip file has 1,[0-9]{3} bytes; at most 1,000"):
        archives.open_archive(io.BytesIO(lying))


def test_number_of_files_in_the_list_counts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    content = set_number_of_files(build_archive({"a.md": "", "b.md": ""}).getvalue(), 1)
    monkeypatch.setattr(archives, "MAX_FILES", 1)

    with archives.open_archive(io.BytesIO(content)) as opened, pytest.raises(Invalid, match="has 2 files"):
        archives.list_content(opened, name="site.zip")


def blank_other_parts(content: bytes) -> bytes:
    """Return the archive with zeros in place of what need not be kept."""
    blank = bytearray(len(content))
    with archives.open_archive(io.BytesIO(content)) as opened:
        parts = archives.list_kept_parts(opened, io.BytesIO(content))
    assert parts == sorted(parts)
    for begin, end in parts:
        blank[begin:end] = content[begin:end]
    return bytes(blank)


def read_all(content: bytes) -> list[tuple[str, bytes | str]]:
    """Return the content of each Markdown file, or why it cannot be read."""
    found: list[tuple[str, bytes | str]] = []
    with archives.open_archive(io.BytesIO(content)) as opened:
        for file in archives.list_content(opened, name="site.zip").files:
            try:
                found.append((file.path, file.read()))
            except InvalidFile as error:
                found.append((file.path, str(error)))
    return found


@pytest.mark.parametrize("compression", [ZIP_STORED, ZIP_DEFLATED])
@pytest.mark.parametrize("prefix", [b"", b"#!/bin/sh\n"])
def test_kept_parts_are_read_as_the_whole_archive(prefix: bytes, compression: int) -> None:
    image = bytes(range(1, 256)) * 9
    content = prefix + build_archive({**SITE, "z.png": image}, compression).getvalue()

    kept = blank_other_parts(content)

    assert read_all(kept) == read_all(content)
    assert len(read_all(kept)) == 4
    assert image not in kept
    assert b"Hidden" not in kept


@pytest.mark.django_db
def test_second_file_of_one_path_is_refused() -> None:
    content = io.BytesIO()
    with ZipFile(content, "w") as archive:
        archive.writestr("a.md", build_file(title="One"))
        archive.writestr("x.md", build_file(title="X"))
        archive.writestr("./a.md", build_file(title="Two"))

    report = import_content(content)

    assert [item.outcome for item in report.files] == ["created", "created", "refused"]
    assert sorted(Post.objects.values_list("title", flat=True)) == ["One", "X"]


@pytest.mark.django_db
def test_large_file_is_refused_by_its_size_and_the_others_are_imported() -> None:
    report = import_content(build_archive({"big.md": b"x" * 2_000_001, "a.md": build_file()}))

    assert read_outcomes(report) == {
        "big.md": "the file has 2,000,001 bytes; at most 2,000,000 are allowed. Split the post.",
        "a.md": "created",
    }


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("limit", "value", "message"),
    [
        ("MAX_ARCHIVE", 100, "The zip file has {size} bytes; at most 100 are allowed. Split it."),
        ("MAX_FILES", 1, "The zip file has 2 files; at most 1 are allowed. Split it."),
        ("MAX_CONTENT", 1000, "The Markdown files have 1,001 bytes; at most 1,000 are allowed. Split the zip file."),
    ],
)
def test_archive_over_a_limit_is_refused(monkeypatch: pytest.MonkeyPatch, limit: str, value: int, message: str) -> None:
    content = build_archive({"a.md": b"x" * 1000, "b.md": b"x"})
    monkeypatch.setattr(archives, limit, value)

    with pytest.raises(Invalid) as refusal:
        import_content(content)

    assert refusal.value.fields == {"archive": [message.format(size=len(content.getvalue()))]}


@pytest.mark.django_db
def test_compression_bomb_is_refused_before_it_is_read() -> None:
    content = build_archive({f"{number}.md": b"\0" * 1_900_000 for number in range(10)})

    with pytest.raises(Invalid, match="compressed more than 100 times"):
        import_content(content)


def build_bomb(compression: int, size: int) -> bytes:
    """Return an archive whose only file has a wrong size in the list, and many zeros."""
    content = build_archive({"a.md": bytes(size)}, compression).getvalue()
    return content.replace(struct.pack("<L", size), struct.pack("<L", 40_000))


@pytest.mark.parametrize("compression", [ZIP_DEFLATED, ZIP_BZIP2])
def test_file_that_is_larger_than_its_stated_size_takes_little_memory(compression: int) -> None:
    with archives.open_archive(io.BytesIO(build_bomb(compression, 60_000_000))) as opened:
        (file,) = archives.list_content(opened, name="site.zip").files
        tracemalloc.start()
        try:
            with pytest.raises(InvalidFile):
                file.read()
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert peak < 20_000_000


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("actor", "refused"),
    [
        (ANONYMOUS, Unauthenticated),
        (Actor(user_id=1, role=Role.READER, scopes=ALL_SCOPES), Forbidden),
        (Actor(user_id=1, role=Role.AUTHOR, scopes=ALL_SCOPES), Forbidden),
        (Actor(user_id=1, role=Role.EDITOR, scopes=ALL_SCOPES - {Scope.POSTS_PUBLISH}), Forbidden),
    ],
)
@pytest.mark.parametrize("dry_run", [True, False])
def test_actor_who_may_not_import_learns_nothing(actor: Actor, refused: type[ApiError], *, dry_run: bool) -> None:
    with pytest.raises(refused):
        archives.import_archive(actor=actor, archive=io.BytesIO(b"no zip"), name="site.zip", dry_run=dry_run)


@pytest.mark.django_db
def test_editor_may_import_an_archive() -> None:
    archives.import_archive(
        actor=make_actor(Role.EDITOR), archive=build_archive({"a.md": build_file()}), name="site.zip"
    )

    assert Post.objects.count() == 1


WHOLE = build_archive({f"{number}.md": build_file() for number in range(3)}).getvalue()


@pytest.mark.property
@pytest.mark.django_db
@settings(deadline=None, max_examples=scale_examples(300))
@given(at=st.integers(0, len(WHOLE) - 1), value=st.integers(0, 255))
@example(at=WHOLE.rindex(b"0.md"), value=0)  # a file without a name
@example(at=len(WHOLE) - 5, value=WHOLE[-5] + 1)  # a directory that is declared to begin 256 bytes later
def test_archive_with_one_changed_byte_is_read_or_refused(at: int, value: int) -> None:
    content = io.BytesIO(WHOLE[:at] + bytes([value]) + WHOLE[at + 1 :])

    with suppress(Invalid):
        report = import_content(content, dry_run=True)

        assert len(report.files) <= 3
        whole = WHOLE[:at] + bytes([value]) + WHOLE[at + 1 :]
        assert read_all(blank_other_parts(whole)) == read_all(whole)
    assert count_rows() == [0, 0, 0]
