"""A new field of a post: the start of the server names every place that lacks it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from blog.checks import list_errors, list_lists_of_fields
from blog.models import Post

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("blog", "contentapi", "orders", "users", "schema", "manage.py")
# Only these two places are changed by the test: the model and the SDL.
NEW_FIELD = {
    "blog/models/posts.py": [
        (
            '    ContentField("body"',
            '    ContentField("cover_caption", Kind.LINE, "cover caption", 300, "B"),\n    ContentField("body"',
        ),
        (
            "    body = models.TextField(blank=True",
            "    cover_caption = models.CharField(max_length=300, blank=True)\n    body = models.TextField(blank=True",
        ),
    ],
    "schema/blog.graphql": [
        ("type Post implements Node {\n", "type Post implements Node {\n  coverCaption: String!\n"),
        ("type WorkingCopy {\n", "type WorkingCopy {\n  coverCaption: String!\n"),
    ],
}


def copy_project(folder: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "static", "demo")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)


def edit(folder: Path, changes: dict[str, list[tuple[str, str]]]) -> None:
    for name, replacements in changes.items():
        text = (folder / name).read_text()
        for old, new in replacements:
            assert text.count(old) == 1, f"{name} has not exactly one {old!r}"
            text = text.replace(old, new)
        (folder / name).write_text(text)


def start_server(folder: Path) -> str:
    """Load the application of a server. Return what it prints before it refuses to start."""
    left_out = ("DJANGO", "COVERAGE")  # the coverage of a copy is no coverage of the project
    environment = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    command = [sys.executable, "-c", "import contentapi.wsgi"]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 1, run.stderr
    return run.stderr


@pytest.mark.servers
def test_start_names_every_place_that_lacks_a_new_field(tmp_path: Path) -> None:
    copy_project(tmp_path)
    edit(tmp_path, NEW_FIELD)

    printed = start_server(tmp_path)

    found = re.findall(r"^blog\.E001: (.+) lacks cover_caption\.\n\tHINT: Add it in (.+)\.$", printed, re.MULTILINE)
    assert sorted(found) == [
        ("The fragment PostResource", "schema/resources/post.graphql"),
        ("The fragment WorkingCopyResource", "schema/resources/workingcopy.graphql"),
        ("The type CreatePostInput", "schema/blog.graphql"),
        ("The type SaveWorkingCopyInput", "schema/blog.graphql"),
        ("The type UpdatePostInput", "schema/blog.graphql"),
    ]


@pytest.mark.servers
def test_start_names_a_column_in_no_list_and_a_criterion_without_its_column(tmp_path: Path) -> None:
    copy_project(tmp_path)
    column = "    body = models.TextField(blank=True"
    edit(
        tmp_path,
        {
            "blog/models/posts.py": [(column, f"    mood = models.TextField(blank=True)\n{column}")],
            "blog/selectors/posts.py": [
                ('LOOKUPS = {"author": "author", ', 'LOOKUPS = {"author": "author", "mood": "mood", '),
                (
                    "    search: list[str] | None = None\n",
                    "    search: list[str] | None = None\n    mood: str | None = None\n",
                ),
            ],
        },
    )

    printed = start_server(tmp_path)

    assert "CONTENT_FIELDS, VERSIONED or UNVERSIONED lacks mood.\n\tHINT: Add it in blog/models/posts.py." in printed
    assert "The search index PostSearch lacks mood.\n\tHINT: Add it in blog/models/search.py." in printed
    assert "The type PostFilter lacks mood.\n\tHINT: Add it in schema/blog.graphql." in printed


def test_column_of_another_length_than_its_field_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Post._meta.get_field("excerpt"), "max_length", 20)

    assert [error.msg for error in list_errors()] == ["The column excerpt has another length than CONTENT_FIELDS."]


def test_project_itself_lacks_nothing() -> None:
    assert list_errors() == []
    assert all(each.names for each in list_lists_of_fields())
