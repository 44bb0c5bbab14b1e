"""The command export_posts: the exported files, and their import."""

from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath
from typing import Any

import pytest
from django.core.management import CommandError
from hypothesis import given, settings
from hypothesis import strategies as st

from blog.files import exporting
from blog.files.front_matter import MarkdownPost
from blog.models import (
    CONTENT_FIELDS,
    MAX_DESCRIPTION,
    MAX_TAG,
    MAX_TITLE,
    SLUG,
    Kind,
    OldSlug,
    Post,
    PostSource,
    PostStatus,
)
from tests.blog.markdown_files import parse_post
from tests.content import TEXTS, make_text
from tests.factories import make_author, make_comment, make_post
from tests.thoroughness import scale_examples
from tests.users.command_runs import run_command

MOMENT = datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=UTC)
EQUAL = (*TEXTS, "status", "publish_at", "created_at", "updated_at", "author__name")

LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).map(str.strip)
BODIES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
OF_KINDS: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.ADDRESS: st.sampled_from([None, "https://www.example.com/a?b#c"]),
    Kind.LINE: LINES,
    Kind.MARKDOWN: BODIES,
    Kind.SUMMARY: st.none() | LINES.filter(bool),
    Kind.WORDS: st.lists(LINES.filter(bool), max_size=3, unique=True),
    Kind.IMAGE: st.none(),
    Kind.IMAGE_TEXT: st.none(),
}
CONTENTS = st.fixed_dictionaries(
    {field.name: OF_KINDS[field.kind] for field in CONTENT_FIELDS}
    | {
        "title": LINES.filter(bool),
        "slug": st.none() | st.from_regex(SLUG, fullmatch=True).filter(lambda slug: slug.strip("-")),
    }
)
LINE_FIELDS = [field.name for field in CONTENT_FIELDS if field.kind == Kind.LINE]
MOMENTS = st.datetimes(timezones=st.just(UTC))


@st.composite
def markdown_posts(draw: st.DrawFn) -> MarkdownPost:
    status = draw(st.sampled_from(PostStatus))
    return MarkdownPost(
        content=draw(CONTENTS),
        authors=tuple(draw(st.lists(LINES.filter(bool).filter(lambda name: "@" not in name), max_size=3))),
        date=draw(MOMENTS),
        updated=draw(MOMENTS),
        status=status,
        publish_at=draw(MOMENTS) if status == PostStatus.SCHEDULED else None,
    )


@pytest.mark.property
@settings(max_examples=scale_examples(1200), deadline=None)
@given(post=markdown_posts())
def test_serialized_post_is_parsed_to_an_equal_post(post: MarkdownPost) -> None:
    assert parse_post(exporting.serialize_post(post), PurePath("1999-01-01-other.md")) == post


def read_exported_values() -> list[tuple[object, ...]]:
    return sorted(Post.objects.values_list(*EQUAL))


def test_exported_posts_are_imported_as_equal_posts(tmp_path: Path) -> None:
    author = make_author(name='Ines "Sea" Öz')
    make_post(author=author, title="of\u2028 \x7f \t'''", body='+++\n"""\r\n\u0085 \\', tags=["a, b", "c"])
    make_post(
        author=author,
        canonical_url="https://www.example.com/",
        excerpt="Two\nlines of 'text'",
        description="x" * MAX_DESCRIPTION,
        title="T" * MAX_TITLE,
        body="",
        tags=["x" * MAX_TAG],
        updated_at=MOMENT,
    )
    make_post(status=PostStatus.SCHEDULED, publish_at=MOMENT + timedelta(days=30000))
    make_post(status=PostStatus.SCHEDULED, publish_at=MOMENT)  # due, and not published yet
    make_post(status=PostStatus.ARCHIVED, created_at=MOMENT, **{name: make_text(name, name) for name in LINE_FIELDS})
    make_comment(make_post(status=PostStatus.DRAFT))
    before = read_exported_values()
    files = {f"{pk}.md" for pk in Post.objects.values_list("pk", flat=True)}

    said = run_command("export_posts", str(tmp_path / "new" / "folder"))
    Post.objects.all().delete()
    run_command("import_posts", str(tmp_path / "new" / "folder"), "--status", "archived")

    assert said == ("", "Posts exported: 6.\n")
    assert {file.name for file in (tmp_path / "new" / "folder").iterdir()} == files
    assert read_exported_values() == before
    run_command("import_posts", str(tmp_path / "new" / "folder"))
    assert read_exported_values() == before
    assert set(Post.objects.values_list("version", flat=True)) == {1}


def test_exported_file_has_standard_front_matter(tmp_path: Path) -> None:
    post = make_post(
        title="Tides", body="Boil.\n", status="draft", author=make_author(name="Ines"), created_at=MOMENT,
        updated_at=MOMENT, tags=["sea"], slug="high-tides", canonical_url="https://www.example.com/tides",
    )  # fmt: skip
    OldSlug.objects.create(slug="low-tides", post_id=post.pk)

    run_command("export_posts", str(tmp_path))

    assert (tmp_path / f"{post.pk}.md").read_text() == (
        '+++\ntitle = "Tides"\nslug = "high-tides"\ncanonical = "https://www.example.com/tides"\n'
        "date = 2026-02-03 04:05:06.000789+00:00\nupdated = 2026-02-03 04:05:06.000789+00:00\n"
        'authors = [\n    "Ines",\n]\ntags = [\n    "sea",\n]\ndraft = true\nstatus = "draft"\n'
        'aliases = [\n    "low-tides",\n]\n+++\nBoil.\n'
    )


@pytest.mark.parametrize(
    ("authors", "exported"),
    [(["Ines", "Jo", "Ines"], ("Ines", "Jo", "Ines")), (["Jo", "Ines"], ("Ines", "Jo")), ([], ("Ines", "Jo"))],
)
def test_export_keeps_the_source_authors_while_they_are_those_of_the_post(
    tmp_path: Path, authors: list[str], exported: tuple[str, ...]
) -> None:
    post = make_post(author=make_author(name="Ines"), coauthor_ids=[make_author(name="Jo").pk])
    PostSource.objects.create(post=post, path="a.md", digest=b"", authors=authors, status=post.status)

    run_command("export_posts", str(tmp_path))

    read = parse_post((tmp_path / f"{post.pk}.md").read_bytes(), PurePath("a.md"))
    assert read
    assert read.authors == exported


def test_folder_that_is_not_empty_is_left_unchanged(tmp_path: Path) -> None:
    make_post()
    (tmp_path / "mine.txt").write_text("mine")

    for directory, message in [(tmp_path, "is not empty"), (tmp_path / "mine.txt", "File exists")]:
        with pytest.raises(CommandError, match=message):
            run_command("export_posts", str(directory))

    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]
