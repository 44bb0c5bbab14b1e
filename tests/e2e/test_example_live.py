"""examples/live: a page shows the comments on a post, and each change of them as it happens, in Chromium."""

import re
import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.deployment.checkout import Checkout
from tests.deployment.ports import find_free_port
from tests.deployment.processes import ROOT
from tests.e2e.chromium import NEEDS_CHROMIUM, launch_chromium
from tests.e2e.example_site import Site, serve

EXAMPLE = ROOT / "examples" / "live"
PATIENCE = 60_000  # milliseconds: a stream that was cut begins again after two seconds

pytestmark = NEEDS_CHROMIUM


def test_page_shows_comments_as_they_are_written_and_deleted(checkout: Checkout, tmp_path: Path) -> None:
    port, streams = find_free_port(), find_free_port()
    address = f"http://localhost:{port}"
    run = checkout.run(CORS_ALLOWED_ORIGINS=address, CONTENTAPI_STREAM_PORT=str(streams)).wait_until_ready()
    site = Site(copy_example(tmp_path, run.port, streams), run, port)
    (newest,) = site.send("/posts?status=published&limit=1", method="GET")["data"]
    assert f"/posts/{newest['id']}/comments" in (EXAMPLE / "README.md").read_text()
    post = site.send("/posts", {"title": "Fair winds", "body": "Text", "status": "published"})
    first = site.send(f"/posts/{post['id']}/comments", {"body": "Written before"})
    other = site.send("/posts?status=published&limit=2", method="GET")["data"][1]

    with serve(site.folder, port), launch_chromium() as browser:
        page = browser.new_context().new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_have_text("Fair winds")
        expect(page.get_by_role("status")).to_have_text("New comments appear by themselves.")
        require_comments(page, "Written before")

        site.send(f"/posts/{post['id']}/comments", {"body": "<b>Written</b> later"})
        require_comments(page, "<b>Written</b> later", "Written before")
        site.send(f"/posts/{other['id']}/comments", {"body": "Elsewhere"})
        delete(site, first)
        require_comments(page, "<b>Written</b> later")
    assert errors == []


def copy_example(folder: Path, port: str, streams: int) -> Path:
    """Copy the page, with the addresses of a server."""
    copied = folder / "live"
    shutil.copytree(EXAMPLE, copied)
    settings = copied / "settings.js"
    text, changes = settings.read_text(), {"API": port, "STREAMS": streams}
    for name, number in changes.items():
        text, count = re.subn(rf'({name} = "http://localhost:)\d+', rf"\g<1>{number}", text)
        assert count == 1, name
    settings.write_text(text)
    return copied


def delete(site: Site, comment: dict[str, Any]) -> None:
    site.send("/graphql", {"query": f"mutation {{ deleteComment(id: {comment['id']}) }}"})


def require_comments(page: Page, *bodies: str) -> None:
    expect(page.locator("li blockquote")).to_have_text(list(bodies), timeout=PATIENCE)
