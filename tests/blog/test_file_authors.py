"""The authors in front matter: an import makes the first the author and the others co-authors; an export names them."""

from pathlib import Path

import pytest

from blog.files.syntax import InvalidFile
from blog.models import Author, OldSlug, Post
from tests.blog.markdown_files import build_file, import_text
from tests.blog.test_file_addresses import export


def name_writers(post: Post) -> list[str]:
    return [post.author.name, *(author.name for author in Author.objects.in_order_of(post.coauthor_ids))]


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ('authors = ["Ines", "Jo", "Kim"]', ["Ines", "Jo", "Kim"]),
        ('authors = "Ines, Jo"', ["Ines", "Jo"]),
        ('authors = ["Ines", "Jo", "Ines", "Jo"]', ["Ines", "Jo"]),
        ('author = ["Ines", {name = "Jo", url = "/jo"}]', ["Ines", "Jo"]),
        ('[taxonomies]\nauthors = ["Ines", "Jo"]', ["Ines", "Jo"]),
        ("", ["Unknown author"]),
    ],
)
def test_authors_of_a_file_are_kept_exported_and_imported_again(tmp_path: Path, lines: str, names: list[str]) -> None:
    import_text(tmp_path, build_file(lines))
    (before,) = export().values()
    assert name_writers(Post.objects.get()) == names

    Post.objects.all().delete()
    OldSlug.objects.all().delete()  # as on another site
    import_text(tmp_path, before, "again.md")

    assert name_writers(Post.objects.get()) == names
    assert list(export().values()) == [before]


def test_changed_file_changes_the_coauthors(tmp_path: Path) -> None:
    import_text(tmp_path, build_file('authors = ["Ines", "Jo"]'))
    import_text(tmp_path, build_file('authors = ["Jo", "Kim", "Ines"]'))

    post = Post.objects.get()
    assert (name_writers(post), post.version) == (["Jo", "Kim", "Ines"], 2)


def test_file_with_too_many_authors_is_refused(tmp_path: Path) -> None:
    names = [f"Author {number}" for number in range(12)]

    with pytest.raises(InvalidFile, match="the file names 12 authors; at most 11 are allowed"):
        import_text(tmp_path, build_file(f"authors = {names}"))

    assert not Post.objects.exists()
