"""The journey of an import in Chromium: upload a site, read what would happen, import it, undo it, restore it."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.desk_pages import WAIT, upload, write_site
from tests.e2e.writing import Desk

SLUG = 3  # the column of the plan

pytestmark = NEEDS_CHROMIUM


def count_posts(desk: Desk) -> int:
    """Return the number of posts of the source."""
    return int(
        desk.execute("from blog.models import Post; print(Post.objects.filter(source__source='harbour').count())")
    )


def test_editor_imports_a_site_undoes_it_and_restores_it(desk: Desk, tmp_path: Path) -> None:
    archive = tmp_path / "harbour.zip"
    write_site(archive)
    page = desk.open("/admin/blog/post/")
    expect(page.get_by_role("link", name="Import", exact=True)).to_be_visible()

    upload(page, desk.run, archive)
    expect(page.get_by_role("heading", name="What would happen")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("link", name="new post: 7")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("notes.md"))).to_contain_text("does not begin with front matter")
    soup = page.get_by_role("row", name=re.compile("soup-for-forty"))
    expect(soup).to_contain_text("Published")
    expect(page.get_by_role("columnheader").nth(SLUG)).to_have_text("Slug")
    expect(soup.locator("th, td").nth(SLUG)).to_contain_text("soup-for-forty")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="The import is finished")).to_be_visible(timeout=WAIT)
    report = page.url
    assert count_posts(desk) == 7
    page.get_by_role("link", name="_posts/2024-02-29-soup-for-forty.markdown").click()
    expect(page.locator("#id_title")).to_have_value(re.compile("Soup", re.IGNORECASE))

    page.goto(report)
    page.get_by_role("link", name="Undo the import…").click()
    page.get_by_role("button", name="Delete 7 posts").click()
    expect(page.get_by_role("heading", name="The import is undone")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("link", name="deleted again: 7")).to_be_visible()
    assert count_posts(desk) == 0
    page.goto("/admin/blog/post/deleted/")
    page.get_by_role("button", name="Restore the import of harbour.zip").click()
    page.get_by_role("button", name="Restore: 7 posts").click()
    expect(page.get_by_text("7 posts are restored.")).to_be_visible()
    assert count_posts(desk) == 7
