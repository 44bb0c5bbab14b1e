"""The source and the path of an imported file, by which its post is found again."""

from pathlib import Path

import pytest

from blog.files import reading
from blog.files.importing import ImportOutcome
from blog.models import PostSource
from contentapi.core.errors import Invalid
from tests.blog.markdown_files import build_file, import_text


def test_file_is_identified_by_its_source_path_only(tmp_path: Path) -> None:
    outcomes = [import_text(tmp_path, build_file(), "a/soup.md"), import_text(tmp_path, build_file(), "b/soup.md")]
    outcomes += [
        import_text(tmp_path / "moved", build_file(), "a/soup.md"),
        import_text(tmp_path, build_file("draft = true"), "a/soup.md"),
    ]

    assert outcomes == [ImportOutcome.CREATED, ImportOutcome.CREATED, ImportOutcome.UNCHANGED, ImportOutcome.UPDATED]
    assert sorted(PostSource.objects.values_list("path", flat=True)) == ["a/soup.md", "b/soup.md"]


def test_files_are_imported_in_the_order_of_the_numbers_in_their_names(tmp_path: Path) -> None:
    names = ["9.md", "10.md", "a/2024-1-2.md", "a/2024-01-10.md", "b.md"]
    for name in reversed(names):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Text.")

    assert [file.path for file in reading.find_markdown_files([tmp_path])] == names


@pytest.mark.parametrize("name", ["a.md", "b.markdown", "deep/er/c.md", "d.mdx", "E.MD"])
def test_markdown_files_are_found_at_any_depth(tmp_path: Path, name: str) -> None:
    for other in (name, ".hidden.md", ".git/a.md", "a.txt", "folder.md/x.png"):
        (tmp_path / other).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / other).touch()

    (found,) = reading.find_markdown_files([tmp_path])

    assert (found.source, found.path, found.location) == (tmp_path.name, name, tmp_path / name)


def test_path_of_a_file_is_its_name_with_any_suffix(tmp_path: Path) -> None:
    (tmp_path / "soup.txt").touch()

    (found,) = reading.find_markdown_files([tmp_path / "soup.txt"])

    assert (found.source, found.path) == (tmp_path.name, "soup.txt")


def test_source_of_a_file_is_its_folder_unless_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    file = tmp_path / "site" / "soup.md"
    file.touch()

    names = [
        [found.source for found in reading.find_markdown_files(paths, source)]
        for paths, source in [
            ([file], None),
            ([tmp_path / "site", file], None),
            ([file], " kitchen "),
            ([tmp_path], "x"),
        ]
    ]

    assert names == [["site"], ["site", "site"], ["kitchen"], ["x"]]


def test_two_folders_of_one_name_need_a_named_source(tmp_path: Path) -> None:
    folders = [tmp_path / "one" / "content", tmp_path / "two" / "content"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "soup.md").touch()

    with pytest.raises(Invalid, match="Two folders have the name content"):
        reading.find_markdown_files(folders)

    assert len(reading.find_markdown_files(folders, "kitchen")) == 2


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (" ", "This must not be empty."),
        ("x" * 151, "At most 150 characters are allowed (got 151)."),
        ("a\0", "This is not UTF-8."),
    ],
)
def test_unusable_name_of_a_source_is_refused(tmp_path: Path, name: str, problem: str) -> None:
    with pytest.raises(Invalid) as refusal:
        reading.find_markdown_files([tmp_path], name)

    assert refusal.value.fields == {"source": [problem]}
