"""examples/site: builds against a real server, and works in Chromium for readers and for editors."""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from contentapi.frontend.build import has_node
from tests.deployment.checkout import Checkout
from tests.deployment.ports import find_free_port
from tests.deployment.processes import PATIENCE, start_process, wait_until
from tests.e2e.chromium import NEEDS_CHROMIUM, launch_chromium
from tests.e2e.example_site import Site, Visit, copy_example, serve
from tests.e2e.http_client import HttpClient

DRAFT = "Notes for the winter issue"
BUILT = "The site is built."

pytestmark = [*NEEDS_CHROMIUM, pytest.mark.skipif(not has_node(), reason="Node and npm are not installed")]


@pytest.fixture
def site(checkout: Checkout, tmp_path: Path) -> Iterator[Site]:
    """The example with its packages, served at an origin whose scripts may call the server. Nothing is built yet."""
    folder = tmp_path / "site"
    port = find_free_port()
    run = checkout.run(
        CORS_ALLOWED_ORIGINS=f"http://localhost:{port}",
        CONTENTAPI_RATE_ANONYMOUS="9999/minute",
        CONTENTAPI_WEBHOOK_NETWORKS="127.0.0.0/8",
    )
    copy_example("site", folder)
    run.wait_until_ready()
    with serve(folder / "build", port):
        yield Site(folder, run, port)


def test_example_site_builds_and_works(site: Site, subtests: pytest.Subtests) -> None:
    wait_until(lambda: is_rendered(site), "the rendering of posts with images", PATIENCE)

    site.build()

    with launch_chromium() as browser:
        with subtests.test("readers need no script"):
            check_reading(site, browser)
        with subtests.test("an editor reads drafts with a token"):
            check_drafts(site, browser)
        with subtests.test("the build contains no secret and no draft"):
            check_secrets(site)
        with subtests.test("a build without the API, or with a key that may write, fails and leaves the last one"):
            check_failing_builds(site)
    with subtests.test("the site builds itself when posts have changed"):
        check_builds(site)


def is_rendered(site: Site) -> bool:
    """Return whether the worker has rendered the texts with the addresses of this server."""
    posts: list[dict[str, Any]] = site.send("/posts?limit=100", method="GET")["data"]
    texts = [post["bodyHtml"] or "" for post in posts if "](image:" in post["body"]]
    return len(texts) == 2 and all(f'srcset="{site.api}/media/' in text for text in texts)


def check_reading(site: Site, browser: Browser) -> None:
    visit = Visit(browser, java_script_enabled=False)
    page = visit.page
    page.goto(f"{site.address}/")
    expect(page.locator("ol.posts > li")).to_have_count(5)
    expect(page.locator("main")).to_contain_text("what happens at our harbour")

    page.get_by_role("link", name="Older posts").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Newest posts, page 2 of 2")
    expect(page.locator("ol.posts > li")).to_have_count(2)
    page.get_by_role("link", name="Newer posts").click()
    expect(page).to_have_title("Harbour Notes")
    page.goto(f"{site.address}/tags/harbour/")
    teaser = page.locator("ol.posts > li", has_text="How we name our boats")
    expect(teaser).to_contain_text("By Marguerite Okafor, 1 November 2026 at 00:00 GMT, 2 comments")
    expect(teaser.locator(".excerpt")).to_contain_text("A boat is named after a person who is alive")
    page.get_by_role("link", name="How we name our boats").click()

    expect(page).to_have_title("How we name our boats · Harbour Notes")
    expect(page.locator("article time").first).to_have_attribute("datetime", re.compile("^2026-11-01T00:00:00"))
    expect(page.locator(".tags li")).to_have_text(["harbour", "history"])
    expect(page.locator(".comments li")).to_have_text(
        [re.compile("Rosa Reader.*on the list of refused names"), re.compile("Aurel Author.*the winter issue")]
    )
    page.get_by_role("link", name="Marguerite Okafor").click()
    page.get_by_role("link", name="Soup for forty").click()
    expect(page.locator("article tr", has_text="Haddock").locator("td").last).to_have_text("8 kg")
    assert (visit.reports, visit.hosts) == ([], {urlsplit(site.address).netloc, urlsplit(site.api).netloc})


def check_drafts(site: Site, browser: Browser) -> None:
    later = {"status": "scheduled", "publishAt": "2999-01-01T12:00:00Z"}
    scheduled = site.send("/posts", {"title": "Later", "body": "Soon.", **later})
    visit = Visit(browser)
    page = visit.page
    page.goto(f"{site.address}/")
    page.get_by_role("link", name="For editors").click()

    show_drafts(page, "capi_1_unknown")
    expect(page.get_by_role("alert")).to_have_text("The API key is unknown, expired or revoked.")
    assert page.evaluate("({...sessionStorage}).token") is None
    visit.reports.clear()  # the browser reports the 401

    show_drafts(page, site.key)
    expect(page.locator("main")).to_contain_text("Read as Alva Admin.")
    expect(page.locator("main")).to_contain_text("to be published 1 January 2999 at 12:00 GMT")
    page.get_by_role("link", name=DRAFT).click()
    expect(page.locator(".notice").first).to_contain_text("the status of this post is “draft”")
    expect(page.locator("article")).to_contain_text("Ask the keeper about the tea again.")
    page.goto(f"{site.address}/drafts/?post={scheduled['id']}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Later")
    expect(page.locator("main")).to_contain_text("will be published 1 January 2999 at 12:00 GMT")
    assert site.key not in page.evaluate("JSON.stringify({...localStorage}) + document.cookie")
    assert (visit.reports, visit.hosts) == ([], {urlsplit(site.address).netloc, urlsplit(site.api).netloc})

    other_tab = page.context.new_page()
    other_tab.goto(f"{site.address}/drafts/?post={scheduled['id']}")
    expect(other_tab.get_by_label("Token")).to_have_value("")

    page.get_by_role("button", name="Forget the token").click()
    expect(page.get_by_label("Token")).to_have_value("")
    assert site.key not in page.evaluate("JSON.stringify({...sessionStorage})")


def show_drafts(page: Page, token: str) -> None:
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Show drafts").click()


def check_secrets(site: Site) -> None:
    files = site.read_build()

    assert {"index.html", "feed.xml", "sitemap.xml"} <= set(files)
    assert any("How we name our boats" in text for text in files.values())
    secrets = (site.key, site.key_of_builds, DRAFT)
    assert [path for path, text in files.items() if any(secret in text for secret in secrets)] == []


def check_failing_builds(site: Site) -> None:
    before = site.read_build()
    unused = f"http://localhost:{find_free_port()}"

    unreachable = site.run_npm("run", "build", PUBLIC_API_URL=unused)
    refused = site.run_npm("exec", "vite", "build", API_KEY=site.key)

    assert unreachable.returncode != 0
    assert f"The API at {unused}/schema.graphql cannot be reached" in unreachable.stderr
    assert refused.returncode != 0
    assert "API_KEY needs the scope posts:read only, and has" in refused.stderr
    assert site.read_build() == before


def check_builds(site: Site) -> None:
    ids = [post["id"] for post in site.send("/posts?status=published&limit=5", method="GET")["data"]]
    with build_on_webhook(site) as (receiver, count_builds):
        wait_until(lambda: count_builds() == 1, "the first build", PATIENCE)
        headers = {"webhook-id": "msg_1", "webhook-timestamp": str(int(time.time())), "webhook-signature": "v1,AAAA"}
        for forged in ({}, headers):
            assert HttpClient(receiver).post("/", {"type": "events.batch"}, **forged).status == 401

        changes = [f'p{pk}: updatePost(input: {{id: {pk}, title: "Changed {pk}"}}) {{ id }}' for pk in ids]
        done = site.send("/graphql", {"query": f"mutation @atomic {{ {' '.join(changes)} }}"})
        assert "errors" not in done
        wait_until(lambda: count_builds() == 2, "the build after the changes", PATIENCE)
        page = site.read_build()["index.html"]
        assert [pk for pk in ids if f"Changed {pk}" not in page] == []


@contextmanager
def build_on_webhook(site: Site) -> Iterator[tuple[str, Callable[[], int]]]:
    """Run the receiver. Yield its address, and a function that counts its builds. All changes of a second are one."""
    address = f"http://127.0.0.1:{find_free_port()}"
    webhook = site.send("/webhooks", {"url": address, "types": ["post.*"], "coalesce": 1, "name": "Site"})
    settings = {"PORT": address.rsplit(":", 1)[1], "WEBHOOK_SECRET": webhook["secret"], "BUILD": "npm exec vite build"}
    log = site.folder / "builds.log"
    process = start_process(["npm", "run", "build-on-webhook"], log, site.environment | settings, cwd=site.folder)
    try:
        yield address, lambda: log.read_text().count(BUILT)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
        site.send(f"/webhooks/{webhook['id']}", method="DELETE")
