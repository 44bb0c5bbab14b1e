"""examples/next: Draft Mode shows previews on the site, in Chromium, and readers get public texts only."""

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from contentapi.frontend.build import has_node
from tests.deployment.checkout import Checkout, Run
from tests.deployment.ports import find_free_port
from tests.deployment.processes import PATIENCE, start_process, wait_until
from tests.e2e.chromium import NEEDS_CHROMIUM, launch_chromium
from tests.e2e.desk_pages import log_in
from tests.e2e.example_site import Site, copy_example
from tests.e2e.http_client import HttpClient, HttpResponse

NEXT = "node_modules/next/dist/bin/next"
TYPES = ["post.*", "author.updated", "image.*"]
KEPT = "3600"  # seconds for which a page is kept, unless a webhook says that it is old
FORGED = f"cap_{64 * '0'}"

pytestmark = [*NEEDS_CHROMIUM, pytest.mark.skipif(not has_node(), reason="Node and npm are not installed")]


class NextSite(Site):
    """A copy of the example, and what it shows. The server sends it the events of posts."""

    def __init__(self, folder: Path, run: Run, port: int) -> None:
        super().__init__(folder, run, port)
        hook = {"url": f"http://127.0.0.1:{port}/api/webhook", "types": TYPES, "name": "Next.js"}
        self.webhook = self.send("/webhooks", hook)

    @property
    def environment(self) -> dict[str, str]:
        settings = {"API_URL": self.api, "REVALIDATE": KEPT, "WEBHOOK_SECRET": self.webhook["secret"]}
        return {**super().environment, **settings, "NEXT_TELEMETRY_DISABLED": "1"}

    def build(self) -> None:
        done = self.run_npm("run", "build")
        assert done.returncode == 0, done.stdout + done.stderr

    @contextmanager
    def serve(self) -> Iterator[None]:
        """Serve the build. The files that this writes are the cache of static pages."""
        command = ["node", NEXT, "start", "--port", self.address.rsplit(":", 1)[1]]
        process = start_process(command, self.folder / "printed.log", self.environment, cwd=self.folder)
        try:
            wait_until(self.is_reachable, "the first response of the site", PATIENCE)
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)

    def is_reachable(self) -> bool:
        try:
            return self.get("/").status == 200
        except OSError:
            return False

    def write(self, title: str, **values: str) -> dict[str, Any]:
        return self.send("/posts", {"title": title, "body": "Only **mud**.", **values})

    def create_link(self, post: dict[str, Any], **values: str) -> dict[str, Any]:
        return self.send(f"/posts/{post['id']}/preview-links", values)

    def get(self, path: str) -> HttpResponse:
        """Send a request without cookies, and return the response, also if it is a redirect."""
        return HttpClient(self.address).get(path)


@pytest.fixture
def site(checkout: Checkout, tmp_path: Path) -> Iterator[NextSite]:
    """The example, built and served, at the address that CONTENTAPI_PREVIEW_URL names."""
    folder = tmp_path / "site"
    port = find_free_port()
    address = f"http://localhost:{port}/api/preview?token={{token}}&path=/blog/{{slug}}"
    run = checkout.run(CONTENTAPI_PREVIEW_URL=address, CONTENTAPI_WEBHOOK_NETWORKS="127.0.0.0/8")
    copy_example("next", folder)
    run.wait_until_ready()
    site = NextSite(folder, run, port)
    site.build()
    with site.serve():
        yield site


def test_example_shows_previews_and_readers_get_public_texts(site: NextSite, subtests: pytest.Subtests) -> None:
    with launch_chromium() as browser:
        with subtests.test("readers get static pages without drafts"):
            check_reading(site, browser)
        with subtests.test("an editor sees a draft on the site, until they leave the preview"):
            check_draft(site, browser)
        with subtests.test("a link shows the changes of a public post, and one of the whole site shows lists"):
            check_changes(site, browser)
    with subtests.test("no link leads to another site"):
        check_redirects(site)
    with subtests.test("a webhook lets the next visit make a page again"):
        check_webhook(site)
    with subtests.test("browsers get no secret"):
        check_secrets(site)


def check_reading(site: NextSite, browser: Browser) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(site.address)
    expect(page.locator("ol.posts > li")).to_have_count(7)  # and no draft, which the key of the site may read
    expect(page.locator("main")).not_to_contain_text("winter issue")
    page.get_by_role("link", name="How we name our boats").click()
    page.wait_for_url(f"{site.address}/blog/how-we-name-our-boats")
    expect(page).to_have_title("How we name our boats · Harbour Notes")
    expect(page.locator(".details")).to_have_text("By Marguerite Okafor, 1 November 2026")
    expect(page.locator(".text")).to_contain_text("A boat is named after a person who is alive")
    expect(find_line(page)).to_have_count(0)

    assert f"s-maxage={KEPT}" in read_headers(page.reload())["cache-control"]  # a static page
    post = site.write("Knots", status="published")
    site.send(f"/posts/{post['id']}", {"slug": "splices"}, "PATCH")
    old = site.get("/blog/knots")
    assert (old.status, old.headers["Location"]) == (308, "/blog/splices")
    assert site.get("/blog/notes-for-the-winter-issue").status == 404


def check_draft(site: NextSite, browser: Browser) -> None:
    post = site.write("Low tide")
    page = open_from_desk(site, browser, post)
    page.wait_for_url(f"{site.address}/blog/low-tide")
    expect(page.get_by_role("heading", level=1)).to_have_text("Low tide")
    expect(page.locator(".details")).to_contain_text("draft")
    expect(page.locator(".text strong")).to_have_text("mud")
    expect(find_line(page)).to_contain_text("Preview: this page may show what is not public.")

    site.send(f"/posts/{post['id']}", {"title": "Ebb"}, "PATCH")
    assert read_status(page.reload()) == 404  # the slug of a draft follows its title
    page.get_by_role("link", name="Show the post").click()
    page.wait_for_url(f"{site.address}/blog/ebb")
    expect(page.get_by_role("heading", level=1)).to_have_text("Ebb")
    headers = read_headers(page.reload())
    assert "no-store" in headers["cache-control"]
    assert (headers["x-robots-tag"], headers["referrer-policy"]) == ("noindex", "no-referrer")
    cookies = read_cookies(site, page)
    assert {name: (it["httpOnly"], it["secure"]) for name, it in cookies.items()} == {
        "preview-token": (True, True),
        "__prerender_bypass": (True, True),
    }
    assert cookies["preview-token"]["sameSite"] == "Lax"
    assert "cap_" not in page.content()
    assert_hidden(site, browser, page.url, "Ebb")

    page.get_by_role("link", name="Exit preview").click()
    page.wait_for_url(f"{site.address}/")
    expect(find_line(page)).to_have_count(0)
    assert read_cookies(site, page) == {}
    assert read_status(page.goto(f"{site.address}/blog/ebb")) == 404


def check_changes(site: NextSite, browser: Browser) -> None:
    site.write("Fog")
    post = site.write("Spring tide", status="published")
    site.send(f"/posts/{post['id']}/working-copy", {"title": "Neap tide"}, "PUT")
    page, reader = browser.new_context().new_page(), browser.new_context().new_page()

    page.goto(site.create_link(post)["url"])
    expect(page.get_by_role("heading", level=1)).to_have_text("Neap tide")
    page.get_by_role("link", name="Harbour Notes").click()
    page.wait_for_url(f"{site.address}/")
    expect(page.locator("ol.posts > li", has_text="Spring tide")).to_have_count(1)
    expect(page.locator("main")).not_to_contain_text("Fog")
    reader.goto(f"{site.address}/blog/spring-tide")
    expect(reader.get_by_role("heading", level=1)).to_have_text("Spring tide")

    page.goto(site.create_link(post, mode="site")["url"])
    page.get_by_role("link", name="Harbour Notes").click()
    page.wait_for_url(f"{site.address}/")
    expect(page.locator("ol.posts > li", has_text="Neap tide")).to_have_count(1)
    expect(page.locator("ol.posts > li", has_text="Fog")).to_contain_text("draft")


def check_redirects(site: NextSite) -> None:
    token = site.create_link(site.write("Jetsam"))["token"]

    for path in ("https://other.example/", "//other.example", "/blog/fog", ""):
        led = site.get(f"/api/preview?path={path}&token={token}")
        assert (led.status, led.headers["Location"]) == (307, "/blog/jetsam")
        assert "no-store" in led.headers["Cache-Control"]
    for wrong in ("", "x", FORGED, token[:-1], f"{token}%0d%0aX-API-Key:%20x", "%E2%82%AC"):
        led = site.get(f"/api/preview?path=/blog/jetsam&token={wrong}")
        assert (led.status, led.headers["Location"]) == (307, "/api/preview/exit?reason=revoked"), wrong
        assert "Set-Cookie" not in led.headers
    for reason in ("https://other.example/", "//other.example", "../blog/fog", ""):
        assert site.get(f"/api/preview/exit?reason={reason}").headers["Location"] == "/"


def check_webhook(site: NextSite) -> None:
    path, post = "/blog/dawn", site.write("Dawn", status="published")
    wait_until(lambda: "<strong>mud" in site.get(path).body, "the page of the new post")
    wait_until(lambda: site.get(path).headers["x-nextjs-cache"] == "HIT", "the static page")

    site.send(f"/posts/{post['id']}", {"body": "Only **sand**."}, "PATCH")
    wait_until(lambda: "<strong>sand" in site.get(path).body, "the page of the changed post")
    site.send(f"/posts/{post['id']}", {"slug": "dusk"}, "PATCH")
    wait_until(lambda: site.get(path).headers["Location"] == "/blog/dusk", "the page that leads to the new slug")
    site.send(f"/posts/{post['id']}", {"status": "draft"}, "PATCH")
    wait_until(lambda: site.get("/blog/dusk").status == 404, "the end of the page")

    forged = {"webhook-id": "msg_1", "webhook-timestamp": str(int(time.time())), "webhook-signature": "v1,AAAA"}
    for headers in ({}, forged):
        assert HttpClient(site.address).post("/api/webhook", {"type": "post.deleted"}, **headers).status == 401


def check_secrets(site: NextSite) -> None:
    build = site.folder / ".next"
    sent = [path for path in (build / "static").rglob("*") if path.is_file()]
    kept = [path for name in ("server/app", "cache") for path in (build / name).rglob("*") if path.is_file()]
    pages = [path for path in kept if path.suffix == ".html"]

    assert sent
    assert pages
    for_tokens = re.compile(rb"cap_[0-9a-f]{64}|Neap tide")
    for_the_key = re.compile(re.escape(site.key_of_builds.encode()) + b"|winter issue")
    assert [path for path in [*sent, *kept] if for_tokens.search(path.read_bytes())] == []
    assert [path for path in [*sent, *pages] if for_the_key.search(path.read_bytes())] == []


def open_form(site: NextSite, browser: Browser, post: dict[str, Any]) -> Page:
    page = browser.new_context().new_page()
    log_in(page, site.run, site.run.checkout)
    page.goto(f"{site.api}/admin/blog/post/{post['id']}/change/")
    return page


def open_from_desk(site: NextSite, browser: Browser, post: dict[str, Any]) -> Page:
    """Press “Preview on the site” in the form of a post. Return the page that it opens."""
    desk = open_form(site, browser, post)
    with desk.context.expect_page() as opened:
        desk.get_by_role("button", name="Preview on the site").click()
    return opened.value


def find_line(page: Page) -> Any:
    """Return the line at the top of a preview."""
    return page.get_by_role("complementary", name="Preview")


def read_headers(response: Response | None) -> dict[str, str]:
    assert response is not None
    return response.all_headers()


def read_status(response: Response | None) -> int:
    assert response is not None
    return response.status


def read_cookies(site: NextSite, page: Page) -> dict[str, Any]:
    """Return the cookies of the site by their names. Those of the desk, on another port, are sent to it too."""
    cookies = page.context.cookies(site.address)
    return {it["name"]: it for it in cookies if re.search("preview|prerender", it["name"])}


def assert_hidden(site: NextSite, browser: Browser, url: str, title: str) -> None:
    """Assert that a reader gets neither the page at an address nor its title in the list."""
    reader = browser.new_context().new_page()
    assert read_status(reader.goto(url)) == 404
    reader.goto(site.address)
    expect(reader.locator("main")).not_to_contain_text(title)
