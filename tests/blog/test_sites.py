"""Whole sites of Zola, Jekyll and Hugo: imported, exported, and imported into an empty database. Nothing is lost.

The sites under tests/blog/sites/ follow the documentation of Jekyll (posts, drafts, front matter) and of Hugo (page
bundles, sections, front matter in three languages).
"""

import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

from blog.front_matter_syntax import decode_value, split_front_matter
from blog.models import Author, Post, PostSource

SITES = Path(__file__).parent / "sites"
JEKYLL, HUGO = SITES / "jekyll", SITES / "hugo" / "content"
REAL = settings.BASE_DIR.parent / "shared" / "content"
VALUES = (
    "title", "body", "tags", "status", "publish_at", "published_at", "created_at", "updated_at", "author__name",
    "source__authors", "source__front_matter",
)  # fmt: skip

pytestmark = pytest.mark.django_db


def run_command(*arguments: str) -> str:
    err = io.StringIO()
    call_command(*arguments, stderr=err)
    return err.getvalue()


def read_posts() -> list[str]:
    return sorted(json.dumps(row, default=str) for row in Post.objects.values_list(*VALUES))


def read_exported_files(folder: Path) -> list[bytes]:
    return sorted(file.read_bytes() for file in folder.iterdir())


def delete_everything() -> None:
    Post.objects.all().delete()
    Author.objects.all().delete()


def read_state(source: str) -> dict[str, tuple[str, datetime | None, datetime | None]]:
    rows = PostSource.objects.filter(source=source).values_list(
        "path", "post__status", "post__publish_at", "post__published_at"
    )
    return {path: (status, publish_at, published_at) for path, status, publish_at, published_at in rows}


@pytest.mark.parametrize(
    ("site", "number"),
    [
        (JEKYLL, 7),
        (HUGO, 6),
        pytest.param(
            REAL, 750, marks=pytest.mark.skipif(not REAL.is_dir(), reason=f"there is no {REAL}, the real posts")
        ),
    ],
)
def test_export_of_a_site_is_imported_as_equal_posts(tmp_path: Path, site: Path, number: int) -> None:
    run_command("import_posts", str(site))
    before = read_posts()
    run_command("export_posts", str(tmp_path / "first"))
    delete_everything()
    run_command("import_posts", str(tmp_path / "first"))
    after = read_posts()
    run_command("export_posts", str(tmp_path / "second"))

    assert len(before) == number
    assert after == before
    assert read_exported_files(tmp_path / "second") == read_exported_files(tmp_path / "first")


@pytest.mark.parametrize(
    "site",
    [
        JEKYLL,
        HUGO,
        pytest.param(REAL, marks=pytest.mark.skipif(not REAL.is_dir(), reason=f"there is no {REAL}, the real posts")),
    ],
)
def test_export_of_a_site_has_every_key_and_every_body(tmp_path: Path, site: Path) -> None:
    run_command("import_posts", str(site))
    run_command("export_posts", str(tmp_path))

    for known in PostSource.objects.select_related("post"):
        meta, body = split_front_matter((site / known.path).read_text())
        exported, exported_body = split_front_matter((tmp_path / f"{known.post_id}.md").read_text())
        assert exported_body == body
        assert set(meta) <= set(exported)
        own = {"title", "date", "updated", "lastmod", "last_modified_at", "authors", "tags", "draft"}
        kept = {key: value for key, value in meta.items() if key not in own}
        assert {key: exported[key] for key in kept} == kept
        assert decode_value(known.front_matter).items() >= kept.items()


def test_jekyll_site_is_imported_with_its_states_and_tags() -> None:
    said = run_command("import_posts", str(JEKYLL))

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
    said = run_command("import_posts", str(HUGO))

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
    assert storm.front_matter["authors"] == [
        {"name": "Jo Berg", "link": "https://example.invalid/jo"},
        "Ines Falk",
    ]


def test_export_of_edited_posts_states_their_present_values(tmp_path: Path) -> None:
    run_command("import_posts", str(JEKYLL), str(HUGO))
    edited = datetime(2025, 5, 5, tzinfo=UTC)
    Post.objects.update(tags=[], status="published", publish_at=None, updated_at=edited, published_at=edited)
    Post.objects.update(author=Author.objects.create(name="New Author"))
    before = sorted(Post.objects.values_list(*VALUES[:9]))

    run_command("export_posts", str(tmp_path))
    delete_everything()
    said = run_command("import_posts", str(tmp_path))

    assert "13 created, 0 updated, 0 unchanged, 0 not a post, 0 refused." in said
    assert sorted(Post.objects.values_list(*VALUES[:9])) == before
