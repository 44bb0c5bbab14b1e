"""Own fields in front matter, and in events."""

from pathlib import Path

import pytest

from blog import services
from blog.files.exporting import export_posts
from blog.files.syntax import InvalidFile
from blog.models import Author, Post
from contentapi.core.identity import OPERATOR
from tests.blog.markdown_files import build_file, import_text
from tests.event_log import collect_events
from tests.factories import make_author, make_post

LINES = """rating = 3
subtitle = "A line"
eventAt = 2026-11-21T09:30:00Z
sources = ["a", "b"]
level = "expert"
isSponsored = true
mood = "calm"
"""
OWN = {
    "rating": 3,
    "subtitle": "A line",
    "eventAt": "2026-11-21T09:30:00+00:00",
    "sources": ["a", "b"],
    "level": "expert",
    "isSponsored": True,
}


def test_import_and_export_have_own_fields_by_their_names(tmp_path: Path) -> None:
    import_text(tmp_path, build_file(LINES))
    post = Post.objects.get()
    (exported,) = export_posts(actor=OPERATOR, directory=tmp_path)
    text = exported.read_text()
    post.delete()
    import_text(tmp_path, text, exported.name)

    assert post.own == Post.objects.get().own == OWN
    assert 'mood = "calm"' in text
    assert text.count("rating") == 1


def test_changed_file_clears_what_it_does_not_name_any_more(tmp_path: Path) -> None:
    import_text(tmp_path, build_file(LINES))

    import_text(tmp_path, build_file("rating = 4"))

    assert Post.objects.get().own == {"rating": 4}


def test_yaml_number_is_a_text(tmp_path: Path) -> None:
    import_text(tmp_path, "---\ntitle: Soup\nsubtitle: 2024\n---\nBoil.\n")

    assert Post.objects.get().own == {"subtitle": "2024"}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('rating = "three"', "rating must be a whole number of 32 bits."),
        ("rating = 6", "rating: The largest value is 5 (got 6)."),
        ('level = "master"', "level must be one of beginner, expert."),
        ('eventAt = "soon"', "eventAt is not a date"),
    ],
)
def test_file_with_a_value_that_does_not_fit_is_refused(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(InvalidFile) as error:
        import_text(tmp_path, build_file(line))

    assert problem in str(error.value)
    assert not Post.objects.exists()


def test_event_of_a_post_names_the_changed_fields() -> None:
    post = make_post(own={"rating": 3, "subtitle": "A line", "unknown": 1})

    with collect_events() as events:
        changes = {"rating": 4, "subtitle": None, "title": "New"}
        services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes=changes)

    assert [(event.type, event.changes) for event in events] == [("post.updated", ["title", "rating", "subtitle"])]


def test_event_of_an_author_names_the_changed_field() -> None:
    author = make_author()

    with collect_events() as events:
        services.authors.edit_author(actor=OPERATOR, author_id=str(author.pk), changes={"own": {"town": "Ystad"}})

    assert [(event.type, event.changes) for event in events] == [("author.updated", ["town"])]
    assert Author.objects.get(pk=author.pk).own == {"town": "Ystad"}
