"""The command import_posts: output, counts and errors. test_importing.py tests the import of one file."""

import re
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core.management import CommandError, call_command

from blog.files import importing
from blog.files.reading import LimitedParser
from blog.models import Author, Post
from tests.blog.test_limited_parsing import SLOW

UNREADABLE = Path("/proc/self/mem")
NO_FRONT_MATTER = "does not begin with front matter. The first line must be +++ (TOML), --- (YAML) or { (JSON)."
SECONDS = re.compile(r"\d+\.\d s")


class CommandResult(NamedTuple):
    """The output of the command on stdout and stderr, without its duration, and its error message."""

    out: str
    err: str
    error: str | None


@pytest.fixture
def run_import(db: None, capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ARG001
    def run(*paths: Path, **options: Any) -> CommandResult:
        message = None
        try:
            call_command("import_posts", *map(str, paths), **options)
        except CommandError as error:
            message = str(error)
        out, err = capsys.readouterr()
        return CommandResult(out, SECONDS.sub("N s", err), message)

    return run


def write_files(folder: Path, **texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)
    return folder


def build_file(title: str = "Soup", lines: str = "") -> str:
    return f'+++\ntitle = "{title}"\n{lines}\n+++\nBoil.\n'


def read_titles() -> list[str]:
    return sorted(Post.objects.values_list("title", flat=True))


def test_files_of_a_folder_are_imported_and_counted_on_stderr(tmp_path: Path, run_import: Any) -> None:
    write_files(tmp_path, a=build_file("A"), b=build_file("B"), _index=build_file("Section"))

    first, again = run_import(tmp_path), run_import(tmp_path)

    counts = "0 updated, {unchanged} unchanged, 1 not a post, 0 refused."
    assert first == CommandResult("", f"3 files in N s: 2 created, {counts.format(unchanged=0)}\n", None)
    assert again == CommandResult("", f"3 files in N s: 0 created, {counts.format(unchanged=2)}\n", None)
    assert read_titles() == ["A", "B"]


def test_bad_files_are_named_and_the_others_are_imported(tmp_path: Path, run_import: Any) -> None:
    write_files(tmp_path, a="# Soup", b=build_file("B"), c=build_file("x" * 201), d=build_file("D"))

    response = run_import(tmp_path)

    lines = [
        f"{tmp_path}/a.md: {NO_FRONT_MATTER}",
        f"{tmp_path}/c.md: title: At most 200 characters are allowed (got 201).",
        "4 files in N s: 2 created, 0 updated, 0 unchanged, 0 not a post, 2 refused.",
    ]
    assert response.err.splitlines() == lines
    assert response.out == ""
    assert response.error == "2 of 4 files could not be imported; each is named above."
    assert read_titles() == ["B", "D"]


@pytest.mark.thorough
def test_command_parses_in_a_child_process_with_limits(tmp_path: Path, run_import: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(importing, "LimitedParser", partial(LimitedParser, seconds=0.2))
    write_files(tmp_path, b=build_file("B"))
    (tmp_path / "a.md").write_bytes(SLOW)

    response = run_import(tmp_path)

    assert "a.md: cannot be parsed with 512 MiB of memory and N s of CPU time." in response.err
    assert read_titles() == ["B"]


@pytest.mark.skipif(not UNREADABLE.exists(), reason=f"there is no {UNREADABLE}, a file that nobody can read")
def test_unreadable_file_is_named_and_the_others_are_imported(tmp_path: Path, run_import: Any) -> None:
    write_files(tmp_path, a=build_file())

    response = run_import(UNREADABLE, tmp_path)

    assert response.err.startswith(f"{UNREADABLE}: [Errno ")
    assert response.error == "1 of 2 files could not be imported; each is named above."
    assert read_titles() == ["Soup"]


def test_missing_path_stops_the_command_before_it_imports(tmp_path: Path, run_import: Any) -> None:
    response = run_import(write_files(tmp_path, a=build_file()), tmp_path / "none")

    assert response == CommandResult("", "", f"There is no {tmp_path}/none.")
    assert read_titles() == []


def test_folder_without_markdown_files_is_an_error(tmp_path: Path, run_import: Any) -> None:
    (tmp_path / "a.txt").touch()

    response = run_import(tmp_path)

    assert response == CommandResult(
        "", "", "There are no Markdown files (.md, .markdown, .mdx) under the given paths."
    )


def test_second_file_with_the_same_source_path_is_a_bad_file(tmp_path: Path, run_import: Any) -> None:
    one, two = (
        write_files(tmp_path / "one", soup=build_file("One")),
        write_files(tmp_path / "two", soup=build_file("Two")),
    )

    response = run_import(one, two, source="site")

    assert response.err.splitlines() == [
        f"{two}/soup.md: another file of this import has the path soup.md in the source site too",
        "2 files in N s: 1 created, 0 updated, 0 unchanged, 0 not a post, 1 refused.",
    ]
    assert response.error == "1 of 2 files could not be imported; each is named above."
    assert read_titles() == ["One"]


@pytest.mark.parametrize("status", ["draft", "published", "archived"])
def test_status_option_applies_to_new_posts_that_are_not_drafts(tmp_path: Path, run_import: Any, status: str) -> None:
    write_files(tmp_path, a=build_file("A"), b=build_file("B", "draft = true"))

    run_import(tmp_path, status=status)

    assert dict(Post.objects.values_list("title", "status")) == {"A": status, "B": "draft"}


@pytest.mark.parametrize("status", ["scheduled", "lost"])
def test_status_that_new_posts_cannot_have_is_rejected(tmp_path: Path, status: str) -> None:
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("import_posts", str(write_files(tmp_path, a=build_file())), f"--status={status}")


def test_dry_run_reports_the_same_counts_and_changes_nothing(tmp_path: Path, run_import: Any) -> None:
    run_import(write_files(tmp_path, a=build_file("A"), b=build_file("B")))
    before = list(Post.objects.order_by("pk").values())

    response = run_import(
        write_files(tmp_path, b=build_file("New B", 'authors = ["Ines"]'), c=build_file("C"), d=""), dry_run=True
    )

    assert response.err.splitlines() == [
        f"{tmp_path}/d.md: {NO_FRONT_MATTER}",
        "4 files in N s: 1 created, 1 updated, 1 unchanged, 0 not a post, 1 refused. "
        "Nothing was changed: this was a dry run.",
    ]
    assert response.error == "1 of 4 files could not be imported; each is named above."
    assert list(Post.objects.order_by("pk").values()) == before
    assert not Author.objects.filter(name="Ines").exists()
