"""Whole sites of Zola, Jekyll and Hugo: imported, exported, and imported into an empty database. Nothing is lost.

The sites under tests/blog/sites/ follow the documentation of Jekyll (posts, drafts, front matter) and of Hugo (page
bundles, sections, front matter in three languages).
"""

import json
from datetime import UTC, date, datetime, time
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import hypothesis
import pytest
from django.conf import settings
from hypothesis import example, given
from hypothesis import strategies as st

from blog.files import exporting, front_matter, importing
from blog.files.importing import ImportOutcome
from blog.files.reading import MarkdownFile
from blog.files.syntax import decode_value, dump_front_matter, split_front_matter
from blog.models import MAX_COAUTHORS, Author, OldSlug, Post, PostSource
from contentapi.core.identity import OPERATOR
from tests import content
from tests.blog.test_front_matter_syntax import COMMON, NUMBERS, TEXTS, TOML_TABLES, YAML_TABLES
from tests.thoroughness import scale_examples
from tests.users.command_runs import run_command

SITES = Path(__file__).parent / "sites"
JEKYLL, HUGO = SITES / "jekyll", SITES / "hugo" / "content"
REAL = settings.BASE_DIR.parent / "shared" / "content"
VALUES = (
    *content.TEXTS, "status", "publish_at", "published_at", "created_at", "updated_at", "author__name",
    "source__authors", "source__front_matter",
)  # fmt: skip

# The export writes the post's values with these keys, in its own spelling.
REWRITTEN = {
    "title", "slug", "canonical", "excerpt", "description", "date", "updated", "lastmod", "last_modified_at", "authors",
    "tags", "draft",
}  # fmt: skip


def read_posts() -> list[str]:
    return sorted(json.dumps(row, default=str) for row in Post.objects.values_list(*VALUES))


def read_exported_files(folder: Path) -> list[bytes]:
    return sorted(file.read_bytes() for file in folder.iterdir())


def delete_everything() -> None:
    Post.objects.all().delete()
    OldSlug.objects.all().delete()
    Author.objects.all().delete()


def read_state(source: str) -> dict[str, tuple[str, datetime | None, datetime | None]]:
    rows = PostSource.objects.filter(source=source).values_list(
        "path", "post__status", "post__publish_at", "post__published_at"
    )
    return {path: (status, publish_at, published_at) for path, status, publish_at, published_at in rows}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("site", "number"),
    [
        (JEKYLL, 7),
        (HUGO, 6),
        pytest.param(
            *(REAL, 750),
            marks=pytest.mark.skipif(not REAL.is_dir(), reason=f"there is no {REAL}, the real posts"),
        ),
    ],
)
def test_export_of_a_site_is_complete_and_imported_as_equal_posts(tmp_path: Path, site: Path, number: int) -> None:
    run_command("import_posts", str(site))
    before = read_posts()
    run_command("export_posts", str(tmp_path / "first"))
    require_complete_export(site, tmp_path / "first")
    delete_everything()
    run_command("import_posts", str(tmp_path / "first"))
    after = read_posts()
    run_command("export_posts", str(tmp_path / "second"))

    assert len(before) == number
    assert after == before
    assert read_exported_files(tmp_path / "second") == read_exported_files(tmp_path / "first")


def require_complete_export(site: Path, exports: Path) -> None:
    """Compare each exported file with the file that was imported: the body and the value of every key."""
    for known in PostSource.objects.select_related("post"):
        meta, body = split_front_matter((site / known.path).read_text())
        exported, exported_body = split_front_matter((exports / f"{known.post_id}.md").read_text())
        kept = {key: value for key, value in meta.items() if key not in REWRITTEN}
        assert exported_body == body
        assert set(meta) <= set(exported)
        assert {key: exported[key] for key in kept} == kept
        assert decode_value(known.front_matter).items() >= kept.items()


def test_jekyll_site_is_imported_with_its_states_and_tags() -> None:
    _, said = run_command("import_posts", str(JEKYLL))

    assert "8 files" in said
    assert "7 created, 0 updated, 0 unchanged, 1 not a post, 0 refused." in said
    future = datetime(2999, 1, 1, tzinfo=UTC)
    states = read_state("jekyll")
    assert states.pop("about.md")[0] == "published"
    assert states == {
        "_posts/2024-01-08-welcome-to-the-harbour.md": ("published", None, datetime(2024, 1, 8, 9, tzinfo=UTC)),
        "_posts/2024-02-29-soup-for-forty.markdown": ("published", None, datetime(2024, 2, 29, tzinfo=UTC)),
        "_posts/2024-03-10-not-yet.md": ("draft", None, None),
        "_posts/kitchen/2024-04-01-bread.md": ("published", None, datetime(2024, 1, 8, tzinfo=UTC)),
        "_posts/2999-01-01-the-next-millennium.md": ("scheduled", future, None),
        "_drafts/a-draft-without-a-date.md": ("draft", None, None),
    }
    assert dict(Post.objects.exclude(tags=[]).values_list("title", "tags")) == {
        "Welcome to the harbour": ["harbour", "news"],
        "Soup for forty": ["soup", "fish", "Slow cooking"],
        "Bread: the long way": ["bread", "slow baking", "kitchen"],
        "A draft without a date": ["ideas"],
    }
    assert dict(PostSource.objects.exclude(authors=[]).values_list("post__title", "authors")) == {
        "Welcome to the harbour": ["Ines Falk"],
        "Soup for forty": ["marguerite"],
        "Not yet": ["Ines Falk", "Marguerite Okafor"],
    }


def test_hugo_site_is_imported_with_its_states_and_tags() -> None:
    _, said = run_command("import_posts", str(HUGO))

    assert "8 files" in said
    assert "6 created, 0 updated, 0 unchanged, 2 not a post, 0 refused." in said
    assert read_state("content") == {
        "posts/first-light.md": ("published", None, datetime(2024, 1, 14, 6, 7, 7, tzinfo=UTC)),
        "posts/storm/index.md": ("published", None, datetime(2024, 2, 2, tzinfo=UTC)),
        "posts/winter.md": ("draft", None, None),
        "posts/jubilee.md": ("scheduled", datetime(2999, 6, 1, 10, tzinfo=UTC), None),
        "posts/reserved.mdx": ("scheduled", datetime(2999, 5, 5, tzinfo=UTC), None),
        "archive/lamp.md": ("published", None, datetime(2024, 1, 9, 10, tzinfo=UTC)),
    }
    assert dict(Post.objects.exclude(tags=[]).values_list("title", "tags")) == {
        "First light": ["lamp", "history", "lighthouse"],
        "Winter": ["winter", "ice"],
    }
    storm = PostSource.objects.get(path="posts/storm/index.md")
    assert storm.authors == ["Jo Berg", "Ines Falk"]
    assert storm.front_matter is not None
    assert (storm.front_matter or {})["authors"] == [
        {"name": "Jo Berg", "link": "https://example.invalid/jo"},
        "Ines Falk",
    ]


@st.composite
def front_matters(draw: st.DrawFn) -> dict[str, Any]:
    """Return front matter with generated values for the keys that have a meaning, and any other keys."""
    words = st.text(st.characters(exclude_categories=["Cs", "Z", "Cc"], exclude_characters=","), min_size=1, max_size=9)
    person = words | st.fixed_dictionaries({"name": words}, optional={"email": words, "weight": NUMBERS})
    people = st.lists(person, max_size=MAX_COAUTHORS + 1)
    table = {
        "title": words,
        "date": st.dates() | st.datetimes(timezones=st.just(UTC), max_value=datetime(9999, 1, 1)),  # noqa: DTZ001
    }
    optional = {
        "lastmod": st.dates(),
        "published": st.booleans(),
        "publishDate": st.dates(),
        "authors": people.filter(bool) | words,
        "author": words | st.fixed_dictionaries({"login": words}),
        "tags": st.lists(words, max_size=4) | words,
        "categories": st.lists(words, max_size=4) | words,
        "category": words,
        "summary": words,
        "excerpt": words | NUMBERS,
        "description": words,
        "taxonomies": st.fixed_dictionaries({"tags": st.lists(words, max_size=3)}, optional={"series": words}),
        "extra": st.fixed_dictionaries({}, optional={"author": words, "tags": words | NUMBERS, "x": COMMON}),
    }
    known: dict[str, Any] = draw(st.fixed_dictionaries(table, optional=optional))
    others = draw(TOML_TABLES | YAML_TABLES)
    return known | {key: value for key, value in others.items() if not has_meaning(key) and not is_time(value)}


def has_meaning(key: Any) -> bool:
    return str(key).lower() in front_matter.SPELLINGS


def is_time(value: Any) -> bool:
    """Whether a value has a time of day, which YAML cannot express; the table may need YAML for another value."""
    match value:
        case dict():
            return any(map(is_time, value.values()))
        case list():
            return any(map(is_time, value))
        case _:
            return isinstance(value, time)


@pytest.mark.property
@hypothesis.settings(max_examples=scale_examples(300), deadline=None)
@given(meta=front_matters(), body=TEXTS)
@example(meta={"title": "A", "date": date(2999, 1, 1), "": {}}, body="")  # a key that the import adds, before a table
@example(meta={"title": "A", "date": date(2000, 1, 1), "excerpt": "Long.", "summary": "Short."}, body="")
@example(meta={"title": "A", "date": date(2000, 1, 1), "excerpt": 5, "summary": "Short."}, body="")
@example(meta={"title": "A", "date": date(2000, 1, 1), "excerpt": 5, "category": "B", "description": 5}, body="")
@example(meta={"title": "A", "date": date(2000, 1, 1), "x": 1, "excerpt": 5, "y": 2, "summary": "Short."}, body="")
def test_import_of_an_export_gives_an_equal_post_and_an_equal_export(meta: dict[str, Any], body: str) -> None:
    text = f"{dump_front_matter(meta)}{body}".encode()
    first = import_and_export(text)
    second = import_and_export(first.export)

    exported, exported_body = split_front_matter(first.export.decode())
    assert second == first
    assert exported_body == body
    assert set(meta) <= set(exported)


class ImportedPost(NamedTuple):
    values: str
    export: bytes


def import_and_export(content: bytes) -> ImportedPost:
    """Import a file into an empty database. Return the post and its export."""
    delete_everything()
    file = MarkdownFile("site", "a.md", PurePath("a.md"), lambda: content)
    assert importing.import_file(actor=OPERATOR, file=file) == ImportOutcome.CREATED
    (values,) = read_posts()
    (post,) = exporting.list_posts_to_export(OPERATOR)
    return ImportedPost(values, exporting.serialize_post(exporting.to_markdown_post(post)))
