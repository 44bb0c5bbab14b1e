"""The import of a zip file: the report of each file, limits, and archives that are broken or hostile."""

import io
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blog import archives, importing
from blog.archives import ArchiveReport
from blog.importing import ImportOutcome
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

    (file,) = importing.find_markdown_files([tmp_path / "harbour"])

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
    assert count_rows() == [0, 0, 0]
