"""A generated blog of 500 files: an import keeps every address, author and time, and an export loses none."""

import io
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import tomli_w
from django.core.management import call_command

from blog.models import Author, OldSlug, Post, PostSource
from tests.blog.test_sites import delete_everything, read_exported_files

FILES = 500
FIRST_DAY = datetime(2010, 1, 4, 7, 30, tzinfo=UTC)
NAMES = [f"{first} {last}" for first in ("Ines", "Tomasz", "Zoë", "李") for last in ("Falk", "O'Hara", "Wren")]
TOPICS = ("Harbours", "Überfahrt", "Лодки", "Soup & bread", "Tide tables")

pytestmark = [pytest.mark.django_db, pytest.mark.thorough]


class Expected(NamedTuple):
    """What is stored of a file. Only the numbers of taken slugs depend on the order of the files."""

    slug: str
    old_slugs: list[str]
    canonical_url: str | None
    authors: list[str]
    created_at: datetime
    updated_at: datetime
    published_at: datetime | None
    status: str


def write_site(folder: Path) -> dict[str, Expected]:
    """Write the files in the styles of Jekyll, Zola and Hugo. Return what each must become, by its path."""
    expected = {}
    for number in range(FILES):
        path, text, expected_row = build_page(number)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
        expected[path] = expected_row
    return expected


def build_page(number: int) -> tuple[str, str, Expected]:
    day = FIRST_DAY + timedelta(days=3 * number, minutes=number % 50)
    updated = day + timedelta(days=1, seconds=5) if number % 5 == 0 else day
    names = [NAMES[(number * 5 + place * 7) % len(NAMES)] for place in range(1 + number % 4)]
    slug, meta = build_address(number, day)
    old_slugs = [f"former-{number}", f"earlier-{number}"] if number % 11 == 0 else []
    canonical = f"https://www.example.com/originals/{number}?lang=en#top" if number % 13 == 0 else None
    is_draft = number % 97 == 0
    style = ("jekyll", "zola", "hugo")[number % 3]
    updated_key = {"jekyll": "last_modified_at", "zola": "updated", "hugo": "lastmod"}[style]
    alias_key = "redirect_from" if style == "jekyll" else "aliases"
    meta |= {"date": day.isoformat(), "authors": names, "tags": [f"tag {number % 20}", "all"]}
    meta |= {updated_key: updated.isoformat()} if updated != day else {}
    meta |= {alias_key: [f"/old/{old}/" for old in old_slugs]} if old_slugs else {}
    meta |= {"canonicalURL": canonical} if canonical else {}
    meta |= {"draft": True} if is_draft else {}
    row = Expected(
        slug, sorted(old_slugs), canonical, names, day, updated, None if is_draft else day,
        "draft" if is_draft else "published",
    )  # fmt: skip
    body = f"Text {number} of **{names[0]}**.\n\n* a list\n"
    return f"{day:%Y}/{day:%Y-%m-%d}-page-{number}.md", write_front_matter(style, meta) + body, row


def build_address(number: int, day: datetime) -> tuple[str, dict[str, Any]]:
    """Return the slug of a page, and its title and address in front matter."""
    topic = TOPICS[number % 5]
    title = {"title": f"{topic} {number}"}
    if number % 40 == 7:  # a weekly page: each year has the address again
        return "weekly", title | {"permalink": f"/{day:%Y}/{number}/weekly/"}
    match number % 6:
        case 0:
            return f"page-{number}", title  # the name of the file
        case 1:
            return f"page-{number}", title | {"permalink": f"/{day:%Y/%m/%d}/page-{number}.html"}
        case 2:
            return f"page-{number}", title | {"url": f"https://blog.example.com/{day:%Y}/page-{number}/index.html"}
        case 3:
            return f"ol-{number}-i-havn", title | {"path": f"/{day:%Y}/Øl {number} i havn"}
        case 4:
            return f"short-{number}", title | {"slug": f"short-{number}", "permalink": f"/{day:%Y}/ignored-{number}/"}
    return f"page_{number}".replace("_", "-"), title | {"permalink": f"/blog/Page_{number}"}


def write_front_matter(style: str, meta: dict[str, Any]) -> str:
    if style == "hugo":
        return f"{json.dumps(meta, indent=2)}\n\n"
    if style == "zola":
        return f"+++\n{tomli_w.dumps(meta)}+++\n"
    lines = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in meta.items())
    return f"---\n{lines}---\n"


def import_site(folder: Path) -> str:
    """Import a folder. Return the counts."""
    err = io.StringIO()
    call_command("import_posts", str(folder), source="site", stderr=err)
    return err.getvalue().rsplit(": ", 1)[-1].strip()


def read_rows() -> dict[str, Expected]:
    """Return what is stored, by the path of the file. Slugs that were taken are without their numbers."""
    names = dict(Author.objects.values_list("pk", "name"))
    old_slugs: dict[int, list[str]] = {}
    for slug, post_id in OldSlug.objects.order_by("slug").values_list("slug", "post_id"):
        old_slugs.setdefault(post_id, []).append(slug)
    return {
        source.path: Expected(
            re.sub(r"^weekly-\d+$", "weekly", source.post.slug or ""),
            old_slugs.get(source.post_id, []),
            source.post.canonical_url,
            [names[pk] for pk in (source.post.author_id, *source.post.coauthor_ids)],
            source.post.created_at,
            source.post.updated_at,
            source.post.published_at,
            source.post.status,
        )
        for source in PostSource.objects.select_related("post")
    }


def read_versions() -> dict[str, tuple[str | None, int, datetime]]:
    rows = Post.objects.values_list("title", "slug", "version", "updated_at")
    return {title: (slug, version, updated) for title, slug, version, updated in rows}


def export_site(folder: Path) -> list[bytes]:
    call_command("export_posts", str(folder), stderr=io.StringIO())
    return read_exported_files(folder)


def test_large_site_keeps_its_addresses_and_authors(tmp_path: Path) -> None:
    expected = write_site(tmp_path / "site")

    first = import_site(tmp_path / "site")
    before = read_versions()
    second = import_site(tmp_path / "site")

    assert first == f"{FILES} created, 0 updated, 0 unchanged, 0 not a post, 0 refused."
    assert second == f"0 created, 0 updated, {FILES} unchanged, 0 not a post, 0 refused."
    assert read_versions() == before
    assert read_rows() == expected
    weekly = [f"weekly-{number}" for number in range(2, len(range(7, FILES, 40)) + 1)]
    assert set(Post.objects.filter(slug__startswith="weekly").values_list("slug", flat=True)) == {"weekly", *weekly}

    exported = export_site(tmp_path / "first")
    delete_everything()
    import_site(tmp_path / "first")

    assert len(exported) == FILES
    assert read_versions() == {title: (slug, 1, updated) for title, (slug, _, updated) in before.items()}
    assert export_site(tmp_path / "second") == exported
