"""The excerpt and the description in front matter."""

from pathlib import PurePath
from typing import Any

import pytest

from blog import services
from blog.files import exporting, importing
from blog.files.front_matter import MarkdownPost
from blog.files.reading import MarkdownFile
from blog.files.syntax import Table, dump_front_matter, split_front_matter
from blog.models import MAX_DESCRIPTION, MAX_EXCERPT, Post
from contentapi.core.identity import OPERATOR
from tests.blog.markdown_files import parse_post


def parse(**meta: Any) -> MarkdownPost:
    post = parse_post(f"{dump_front_matter({'title': 'Soup', **meta})}Boil.".encode(), PurePath("a.md"))
    assert post is not None
    return post


@pytest.mark.parametrize(
    ("meta", "excerpt", "description", "other"),
    [
        ({"excerpt": " A.\n", "description": "B."}, "A.", "B.", {}),
        ({"summary": "A."}, "A.", None, {"summary": "A."}),
        ({"excerpt": "A.", "summary": "B."}, "A.", None, {"excerpt": "A.", "summary": "B."}),
        ({"excerpt": "", "description": 3}, None, None, {"excerpt": "", "description": 3}),
        (
            {"excerpt": "x" * (MAX_EXCERPT + 1), "description": "x" * (MAX_DESCRIPTION + 1)},
            *(None, None),
            {"excerpt": "x" * (MAX_EXCERPT + 1), "description": "x" * (MAX_DESCRIPTION + 1)},
        ),
    ],
)
def test_texts_that_can_be_summaries_are_read(
    meta: Table, excerpt: str | None, description: str | None, other: Table
) -> None:
    post = parse(**meta)

    assert (post.content["excerpt"], post.content["description"], post.other) == (excerpt, description, other)


def import_post(**meta: Any) -> Post:
    text = f"{dump_front_matter({'title': 'Soup', **meta})}Boil.".encode()
    importing.import_file(actor=OPERATOR, file=MarkdownFile("site", "a.md", PurePath("a.md"), lambda: text))
    return Post.objects.get()


def export(post: Post) -> Table:
    post = exporting.list_posts_to_export(OPERATOR).get(pk=post.pk)
    return split_front_matter(exporting.serialize_post(exporting.to_markdown_post(post)).decode())[0]


def test_export_has_own_texts_only() -> None:
    post = import_post(description="Warm.")

    assert (post.excerpt, post.description, post.default_excerpt) == (None, "Warm.", "Boil.")
    exported = export(post)
    assert exported["description"] == "Warm."
    assert "excerpt" not in exported


@pytest.mark.parametrize(("excerpt", "summary"), [("Cold.", "Cold."), (None, None)])
def test_summary_of_the_file_follows_an_edited_excerpt(excerpt: str | None, summary: str | None) -> None:
    post = import_post(summary="Warm.", excerpt="x" * (MAX_EXCERPT + 1))
    assert export(post)["summary"] == post.excerpt == "Warm."

    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"excerpt": excerpt})

    exported = export(post)
    assert exported.get("summary") == summary
    assert exported["excerpt"] == "x" * (MAX_EXCERPT + 1)  # which is none, so that the summary is read


def test_other_summary_of_the_file_stays_while_the_post_has_an_excerpt() -> None:
    post = import_post(excerpt="Warm.", summary="Short.")
    assert (post.excerpt, export(post)["summary"]) == ("Warm.", "Short.")

    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"excerpt": "Cold."})
    assert {"excerpt": "Cold.", "summary": "Short."}.items() <= export(post).items()
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"excerpt": None})
    assert {"excerpt", "summary"}.isdisjoint(export(post))
