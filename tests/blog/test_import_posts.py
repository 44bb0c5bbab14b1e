"""The command: what it says, what it counts, how it ends. What becomes of a file is in test_importing.py."""

import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from blog.models import Author, Post, PostSource

CONTENT = settings.BASE_DIR.parent / "shared" / "content"
UNREADABLE = Path("/proc/self/mem")
SECONDS = re.compile(r"\d+\.\d s")


class Said(NamedTuple):
    """What a run of the command left on stdout and stderr, the time it took left out, and why it failed."""

    out: str
    err: str
    failure: str | None


@pytest.fixture
def said(db: None, capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ARG001
    def run(*paths: Path, **options: Any) -> Said:
        failure = None
        try:
            call_command("import_posts", *map(str, paths), **options)
        except CommandError as error:
            failure = str(error)
        out, err = capsys.readouterr()
        return Said(out, SECONDS.sub("N s", err), failure)

    return run


def write(folder: Path, **texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)
    return folder


def soup(title: str = "Soup", lines: str = "") -> str:
    return f'+++\ntitle = "{title}"\n{lines}\n+++\nBoil.\n'


def titles() -> list[str]:
    return sorted(Post.objects.values_list("title", flat=True))


def test_a_folder_is_imported_and_the_count_goes_to_stderr(tmp_path: Path, said: Any) -> None:
    write(tmp_path, a=soup("A"), b=soup("B"), _index=soup("Section"))

    first, again = said(tmp_path), said(tmp_path)

    counts = "0 updated, {unchanged} unchanged, 1 not a post, 0 bad."
    assert first == Said("", f"3 files in N s: 2 created, {counts.format(unchanged=0)}\n", None)
    assert again == Said("", f"3 files in N s: 0 created, {counts.format(unchanged=2)}\n", None)
    assert titles() == ["A", "B"]


def test_a_changed_file_is_counted_as_updated(tmp_path: Path, said: Any) -> None:
    said(write(tmp_path, a=soup("A"), b=soup("B")))

    answer = said(write(tmp_path, a=soup("New A")))

    assert answer == Said("", "2 files in N s: 0 created, 1 updated, 1 unchanged, 0 not a post, 0 bad.\n", None)
    assert titles() == ["B", "New A"]


def test_bad_files_are_named_and_the_good_ones_imported(tmp_path: Path, said: Any) -> None:
    write(tmp_path, a="# Soup", b=soup("B"), c=soup("x" * 201), d=soup("D"))

    answer = said(tmp_path)

    lines = [
        f"{tmp_path}/a.md: does not begin with front matter (+++ or ---)",
        f"{tmp_path}/c.md: title: At most 200 characters are allowed (got 201).",
        "4 files in N s: 2 created, 0 updated, 0 unchanged, 0 not a post, 2 bad.",
    ]
    assert answer.err.splitlines() == lines
    assert answer.out == ""
    assert answer.failure == "2 of 4 files could not be imported; each is named above."
    assert titles() == ["B", "D"]


def test_a_file_that_its_yaml_reader_stumbles_over_does_not_stop_the_import(tmp_path: Path, said: Any) -> None:
    write(tmp_path, a="---\ntitle: !!int ''\n---\n", b=soup("B"))

    answer = said(tmp_path)

    assert answer.failure == "1 of 2 files could not be imported; each is named above."
    assert answer.err.startswith(f"{tmp_path}/a.md: ")
    assert titles() == ["B"]


@pytest.mark.skipif(not UNREADABLE.exists(), reason=f"there is no {UNREADABLE}, a file that nobody can read")
def test_a_file_that_cannot_be_read_is_named_and_the_others_imported(tmp_path: Path, said: Any) -> None:
    write(tmp_path, a=soup())

    answer = said(UNREADABLE, tmp_path)

    assert answer.err.startswith(f"{UNREADABLE}: [Errno ")
    assert answer.failure == "1 of 2 files could not be imported; each is named above."
    assert titles() == ["Soup"]


@pytest.mark.parametrize("good", [True, False])
def test_a_missing_path_stops_the_command_before_it_imports(tmp_path: Path, said: Any, *, good: bool) -> None:
    paths = [write(tmp_path, a=soup()), tmp_path / "none"] if good else [tmp_path / "none"]

    answer = said(*paths)

    assert answer == Said("", "", f"There is no {tmp_path}/none.")
    assert titles() == []


def test_a_folder_without_markdown_is_an_error(tmp_path: Path, said: Any) -> None:
    (tmp_path / "a.txt").touch()

    answer = said(tmp_path)

    assert answer == Said("", "", "There are no Markdown files (.md, .markdown) under the given paths.")


def test_a_second_file_known_by_the_same_path_is_bad_and_the_first_ones_post_stays(tmp_path: Path, said: Any) -> None:
    one, two = write(tmp_path / "one", soup=soup("One")), write(tmp_path / "two", soup=soup("Two"))

    answer = said(one, two)

    assert answer.err.splitlines() == [
        f"{two}/soup.md: another file of this import has the path soup.md too",
        "2 files in N s: 1 created, 0 updated, 0 unchanged, 0 not a post, 1 bad.",
    ]
    assert answer.failure == "1 of 2 files could not be imported; each is named above."
    assert titles() == ["One"]


def test_two_folders_with_a_section_each_are_imported_without_a_complaint(tmp_path: Path, said: Any) -> None:
    one = write(tmp_path / "one", a=soup("One"), _index=soup("Section"))
    two = write(tmp_path / "two", b=soup("Two"), _index=soup("Section"))

    answer = said(one, two)

    assert answer == Said("", "4 files in N s: 2 created, 0 updated, 0 unchanged, 2 not a post, 0 bad.\n", None)
    assert titles() == ["One", "Two"]


@pytest.mark.parametrize("status", ["draft", "published", "archived"])
def test_the_status_asked_for_is_that_of_new_posts_and_a_draft_is_a_draft(
    tmp_path: Path, said: Any, status: str
) -> None:
    write(tmp_path, a=soup("A"), b=soup("B", "draft = true"))

    said(tmp_path, status=status)

    assert dict(Post.objects.values_list("title", "status")) == {"A": status, "B": "draft"}


@pytest.mark.parametrize("status", ["scheduled", "lost"])
def test_a_status_that_no_new_post_can_have_is_refused(tmp_path: Path, status: str) -> None:
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("import_posts", str(write(tmp_path, a=soup())), f"--status={status}")


def test_a_dry_run_counts_and_names_as_the_real_one_would_and_changes_nothing(tmp_path: Path, said: Any) -> None:
    said(write(tmp_path, a=soup("A"), b=soup("B")))
    before = list(Post.objects.order_by("pk").values())

    answer = said(write(tmp_path, b=soup("New B", 'authors = ["Ines"]'), c=soup("C"), d=""), dry_run=True)

    assert answer.err.splitlines() == [
        f"{tmp_path}/d.md: does not begin with front matter (+++ or ---)",
        "4 files in N s: 1 created, 1 updated, 1 unchanged, 0 not a post, 1 bad. "
        "Nothing was changed: this was a dry run.",
    ]
    assert answer.failure == "1 of 4 files could not be imported; each is named above."
    assert list(Post.objects.order_by("pk").values()) == before
    assert not Author.objects.filter(name="Ines").exists()


def read_by_other_means(file: Path) -> dict[str, Any] | None:
    """Read a post of the Rust blog with nothing of ours: None for its sections and its page of a template."""
    _, front_matter, body = file.read_bytes().decode().split("+++\n", 2)
    meta = tomllib.loads(front_matter)
    if "path" not in meta:
        return None
    year, month, day = re.search(r"(\d+)/(\d+)/(\d+)/", meta["path"]).groups()  # type: ignore[union-attr]
    return {
        "source__path": file.relative_to(CONTENT).as_posix(),
        "title": meta["title"],
        "author__name": meta["authors"][0],
        "source__authors": meta["authors"],
        "created_at": datetime(int(year), int(month), int(day), tzinfo=UTC),
        "body": body,
        "tags": [],
        "status": "draft" if meta.get("draft") else "published",
    }


@pytest.mark.skipif(not CONTENT.is_dir(), reason=f"there is no {CONTENT}, the real posts")
def test_every_real_post_comes_in_as_its_file_says(said: Any) -> None:
    files = sorted(CONTENT.rglob("*.md"))
    posts = {post["source__path"]: post for file in files if (post := read_by_other_means(file))}

    answer = said(CONTENT)

    counts = "750 created, 0 updated, 0 unchanged, 4 not a post, 0 bad"
    assert answer == Said("", f"754 files in N s: {counts}.\n", None)
    fields = next(iter(posts.values()))
    assert {post["source__path"]: post for post in Post.objects.values(*fields)} == posts
    assert PostSource.objects.count() == len(posts) == 750
