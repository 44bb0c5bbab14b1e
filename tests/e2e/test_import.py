"""The journey of an import in Chromium: upload a site, read what would happen, import it, undo it, restore it."""

import re
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.writing import Desk

SITE = Path(__file__).parents[1] / "blog" / "sites" / "jekyll"
SLUG = 3  # the column of the plan
WAIT = 120_000  # milliseconds: the worker begins an import after at most five seconds, and later on a busy machine

pytestmark = NEEDS_CHROMIUM


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return a zip file with a site of Jekyll, and a file that is refused."""
    path = tmp_path / "harbour.zip"
    with ZipFile(path, "w") as opened:
        for file in sorted(SITE.rglob("*")):
            opened.write(file, f"harbour/{file.relative_to(SITE).as_posix()}")
        opened.writestr("harbour/_posts/bad.md", "No front matter")
    return path


def upload(page: Page, archive: Path) -> None:
    page.goto("/admin/blog/importjob/add/")
    page.get_by_label("Zip file").set_input_files(archive)
    page.get_by_role("button", name="Upload and check").click()


def count_posts(desk: Desk) -> int:
    """Return the number of posts of the source."""
    return int(
        desk.execute("from blog.models import Post; print(Post.objects.filter(source__source='harbour').count())")
    )


def test_editor_imports_a_site_undoes_it_and_restores_it(desk: Desk, archive: Path) -> None:
    page = desk.open("/admin/blog/post/")
    expect(page.get_by_role("link", name="Import", exact=True)).to_be_visible()

    upload(page, archive)
    expect(page.get_by_role("heading", name="What would happen")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("link", name="new post: 7")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("bad.md"))).to_contain_text("does not begin with front matter")
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
