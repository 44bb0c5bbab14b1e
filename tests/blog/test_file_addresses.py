"""The addresses in front matter: an import keeps them, and an export writes them."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from blog import services
from blog.files import exporting
from blog.files.addresses import read_old_slugs, read_slug, refresh_address
from blog.models import OldSlug, Post
from contentapi.core.identity import OPERATOR
from tests.blog.markdown_files import build_file, import_text, parse_post


@pytest.mark.parametrize(
    ("meta", "slug"),
    [
        ({"slug": "rust-1.0", "permalink": "/other/"}, "rust-1-0"),
        ({"slug": 2026}, "2026"),
        ({"slug": date(2026, 1, 5)}, "2026-01-05"),
        ({"slug": "!", "url": "/a/b/"}, "b"),
        ({"permalink": "/2015/05/15/Rust-1.0.html"}, "rust-1-0"),
        ({"permalink": "https://www.example.com/blog/soup/index.html?a=b"}, "soup"),
        ({"permalink": "/:year/:title/", "url": "/soup"}, "soup"),
        ({"path": "2015/05/15/h%C3%B6he"}, "hohe"),
        ({"url": "/", "permalink": ["a"]}, None),
        ({}, None),
    ],
)
def test_slug_is_that_of_the_file_or_the_last_segment_of_its_address(meta: dict[str, Any], slug: str | None) -> None:
    assert read_slug(meta) == slug


def test_old_slugs_are_the_last_segments_of_the_aliases() -> None:
    meta = {"aliases": ["/2014/soup.html", "/soup/"], "redirect_from": "/old-soup"}

    assert read_old_slugs(meta) == ["soup", "old-soup"]


def test_refreshed_address_differs_in_the_last_segment_only() -> None:
    for address, refreshed in [
        ("/2015/Soup.html", "/2015/tides.html"),
        ("/a/soup/", "/a/tides/"),
        ("/:year/:title/", "/:year/:title/"),
        ("/a/tides", "/a/tides"),
    ]:
        assert refresh_address(address, "tides") == refreshed
        assert refresh_address(refreshed, "tides-2") == refreshed


def export() -> dict[int, str]:
    posts = exporting.list_posts_to_export(OPERATOR)
    return {post.pk: exporting.serialize_post(exporting.to_markdown_post(post)).decode() for post in posts}


def test_imported_addresses_are_kept_exported_and_imported_again(tmp_path: Path) -> None:
    lines = 'permalink = "/2015/hot-soup/"\naliases = ["/cold-soup/"]\ncanonicalURL = "https://www.example.com/a"'
    import_text(tmp_path, build_file(lines), "a.md")
    import_text(tmp_path, build_file('slug = "hot-soup"'), "b.md")
    import_text(tmp_path, build_file(title="!"), "!.md")

    first, second, third = Post.objects.order_by("pk")
    assert (first.slug, second.slug, third.slug) == ("hot-soup", "hot-soup-2", f"post-{third.pk}")
    assert first.canonical_url == "https://www.example.com/a"
    assert OldSlug.objects.get().post_id == first.pk
    before = list(export().values())
    Post.objects.all().delete()
    OldSlug.objects.all().delete()
    for number, text in enumerate(before):
        import_text(tmp_path, text, f"{number}.md")
    assert list(export().values()) == before
    assert OldSlug.objects.get().slug == "cold-soup"


def test_changed_file_keeps_the_slug_of_a_public_post_unless_it_states_another(tmp_path: Path) -> None:
    import_text(tmp_path, build_file())
    import_text(tmp_path, build_file(title="Stew"))
    assert Post.objects.get().slug == "soup"

    import_text(tmp_path, build_file('slug = "goulash"', title="Stew"))

    assert Post.objects.get().slug == "goulash"
    assert OldSlug.objects.get().slug == "soup"


def test_export_states_a_slug_that_was_changed_here(tmp_path: Path) -> None:
    import_text(tmp_path, build_file('url = "/2015/hot-soup/"'))
    post = Post.objects.get()
    changes = {"slug": "stew", "canonical_url": "https://www.example.com/"}

    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes=changes)

    (text,) = export().values()
    parsed = parse_post(text.encode(), tmp_path / "a.md")
    assert parsed
    assert (parsed.content["slug"], parsed.content["canonical_url"]) == ("stew", "https://www.example.com/")
    assert parsed.other == {"url": "/2015/stew/", "aliases": ["hot-soup"]}


def test_canonical_that_is_no_address_stays_in_the_file() -> None:
    text = f"---\n{yaml.safe_dump({'title': 'Soup', 'canonical': True})}---\nBoil."

    parsed = parse_post(text.encode(), Path("a.md"))

    assert parsed
    assert (parsed.content["canonical_url"], parsed.other) == (None, {"canonical": True})
