"""examples/site: builds against a real server, and works in Chromium for readers and for editors."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from contentapi.frontend.build import has_node
from tests.blog.xss import VECTORS
from tests.deployment.checkout import Checkout
from tests.deployment.ports import find_free_port
from tests.e2e.accessibility import install_axe, list_serious_findings
from tests.e2e.chromium import NEEDS_CHROMIUM, launch_chromium
from tests.e2e.example_images import (
    BOATS,
    LOADED,
    check_lighthouse,
    check_static_images,
    check_upload,
    wait_for_images,
)
from tests.e2e.example_site import EXAMPLE, NODE, NOT_TRACKED, Site, Visit, install, read_node_version, serve
from tests.e2e.example_site_addresses import check_addresses, check_feed, check_links_and_sitemap, write_posts
from tests.e2e.example_site_builds import check_builds

DRAFT = "Notes for the winter issue"
ODD = "</title><b>&amp; {@html x} ${y} 'q' \"q\" \\u0041 עברית 👩🏽‍🚀 e\u0301 \u2028 \U000e0041"
FORMS = [("light", 1280), ("dark", 1280), ("light", 390)]

pytestmark = [*NEEDS_CHROMIUM, pytest.mark.skipif(not has_node(), reason="Node and npm are not installed")]


@pytest.fixture
def site(checkout: Checkout, tmp_path: Path) -> Iterator[Site]:
    """The example with its packages, served at an origin whose scripts may call the server. Nothing is built yet."""
    if read_node_version() < NODE:
        pytest.skip("Node is older than 20.19, which the example needs")
    folder = tmp_path / "site"
    shutil.copytree(EXAMPLE, folder, ignore=NOT_TRACKED)
    port = find_free_port()
    run = checkout.run(
        CORS_ALLOWED_ORIGINS=f"http://localhost:{port}",
        CONTENTAPI_RATE_ANONYMOUS="9999/minute",
        CONTENTAPI_WEBHOOK_NETWORKS="127.0.0.0/8",
    )
    install(folder)
    run.wait_until_ready()
    with serve(folder / "build", port):
        yield Site(folder, run, port)


def test_example_site_builds_and_works(site: Site, tmp_path: Path, subtests: pytest.Subtests) -> None:
    axe = install_axe(tmp_path)
    write_posts(site)
    wait_for_images(site)

    site.build()

    with launch_chromium() as browser:
        with subtests.test("readers need no script"):
            check_reading(site, browser)
        with subtests.test("posts have addresses, and old ones lead to them"):
            check_addresses(site, browser)
        with subtests.test("covers and images have sizes, texts and placeholders"):
            check_static_images(site, browser)
        if "LIGHTHOUSE" in os.environ:  # its packages have 180 MB
            with subtests.test("Lighthouse finds no image without a size or a text"):
                check_lighthouse(site)
        with subtests.test("the sitemap has every page, and no link is broken"):
            check_links_and_sitemap(site)
        with subtests.test("the feed has the posts"):
            check_feed(site)
        with subtests.test("pages are accessible, and fit on a phone"):
            check_accessibility(site, browser, axe)
        with subtests.test("an unknown address gets the page for it"):
            check_unknown_address(site, browser)
        with subtests.test("an editor reads drafts with a token"):
            check_drafts(site, browser)
        with subtests.test("the page of drafts explains what it cannot show"):
            check_refusals(site, browser)
        with subtests.test("the build contains no secret and no draft"):
            check_secrets(site)
        with subtests.test("a build without the API, or with a key that may write, fails and leaves the last one"):
            check_failing_builds(site)
        with subtests.test("texts of posts cannot run scripts"):
            check_attacks(site, browser)
    with subtests.test("the site builds itself when posts have changed"):
        check_builds(site)


def check_reading(site: Site, browser: Browser) -> None:
    visit = Visit(browser, java_script_enabled=False)
    page = visit.page
    page.goto(f"{site.address}/")
    expect(page.locator("ol.posts > li")).to_have_count(5)
    expect(page.locator("main")).to_contain_text("what happens at our harbour")

    page.get_by_role("link", name="Older posts").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Newest posts, page 2 of 2")
    expect(page.locator("ol.posts > li")).to_have_count(4)
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


def check_accessibility(site: Site, browser: Browser, axe: str) -> None:
    paths = [path for path, text in site.read_pages().items() if 'http-equiv="refresh"' not in text]
    findings = {}
    for scheme, width in FORMS:
        page = Visit(browser, color_scheme=scheme, viewport={"width": width, "height": 800}).page
        for path in paths:
            page.goto(site.address + path)
            findings[f"{path} {scheme} {width}"] = list_serious_findings(page, axe)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path

    assert {"/", "/page/2/", "/404.html", "/drafts/", "/tags/harbour/", "/posts/mending-nets/"} <= set(paths)
    assert {where: found for where, found in findings.items() if found} == {}


def check_unknown_address(site: Site, browser: Browser) -> None:
    page = Visit(browser).page

    response = page.goto(f"{site.address}/posts/0/and/more")

    assert response is not None
    assert response.status == 404
    expect(page.get_by_role("heading", level=1)).to_have_text("Page not found")
    assert page.evaluate("getComputedStyle(document.body).maxWidth") != "none"  # it has its style
    page.get_by_role("link", name="See the newest posts").click()
    expect(page.locator("ol.posts > li")).to_have_count(5)


def check_drafts(site: Site, browser: Browser) -> None:
    boats = site.send("/posts/by-slug/how-we-name-our-boats", method="GET")["cover"]["image"]["id"]
    later = {"status": "scheduled", "publishAt": "2999-01-01T12:00:00Z"}
    scheduled = site.send("/posts", {"title": "Later", "body": "Soon.", "coverId": boats, **later})
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
    assert page.get_by_alt_text(BOATS).evaluate(LOADED) > 0
    assert site.key not in page.evaluate("JSON.stringify({...localStorage}) + document.cookie")
    assert (visit.reports, visit.hosts) == ([], {urlsplit(site.address).netloc, urlsplit(site.api).netloc})
    check_upload(page, site)

    other_tab = page.context.new_page()
    other_tab.goto(f"{site.address}/drafts/?post={scheduled['id']}")
    expect(other_tab.get_by_label("Token")).to_have_value("")

    page.get_by_role("button", name="Forget the token").click()
    expect(page.get_by_label("Token")).to_have_value("")
    assert site.key not in page.evaluate("JSON.stringify({...sessionStorage})")


def check_refusals(site: Site, browser: Browser) -> None:
    page = Visit(browser).page
    weak = site.run.checkout.manage(
        "create_api_key", "admin@example.com", "--name", "weak", "--scope", "comments:write"
    )
    page.goto(f"{site.address}/drafts/")
    show_drafts(page, weak.stdout.strip())
    expect(page.get_by_role("alert")).to_have_text("The token does not have the scope posts:read.")

    page.goto(f"{site.address}/drafts/?post=999999999")
    show_drafts(page, "clé")
    assert page.get_by_label("Token").evaluate("(input) => input.validity.patternMismatch")
    show_drafts(page, f" {site.key} ")
    expect(page.get_by_role("alert")).to_have_text("This post does not exist, or the token may not read it.")

    port = find_free_port()
    with serve(site.folder / "build", port):  # an origin that the server does not allow
        page.goto(f"http://localhost:{port}/drafts/")
        show_drafts(page, site.key)
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text(f"The API at {site.api} cannot be reached")
        expect(alert).to_contain_text(f"is http://localhost:{port} one of its CORS_ALLOWED_ORIGINS?")
        assert site.key not in page.evaluate("JSON.stringify({...sessionStorage})")


def show_drafts(page: Page, token: str) -> None:
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Show drafts").click()


def check_secrets(site: Site) -> None:
    files = site.read_build()

    assert "index.html" in files
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


def check_attacks(site: Site, browser: Browser) -> None:
    for number, vector in enumerate(VECTORS):
        site.send("/posts", {"title": f"Attack {number}", "body": vector, "status": "published"})
    odd = site.send("/posts", {"title": ODD, "body": f"    {ODD}\n\n|a|\n|-:|\n|1|\n", "status": "published"})
    site.build_again()
    visit = Visit(browser, bypass_csp=True)  # The sanitiser must suffice without the policy of the pages
    page = visit.page
    pages = [path for path, text in site.read_pages().items() if re.search(r"<h1>Attack \d+</h1>", text)]

    for path in pages:
        page.goto(site.address + path, wait_until="domcontentloaded")
        page.evaluate(
            "() => document.querySelectorAll('.text *').forEach((e) => ['mouseover', 'click', 'focus', 'toggle']"
            ".forEach((name) => e.dispatchEvent(new Event(name, {bubbles: true, cancelable: true}))))"
        )
        expect(page.locator("footer.site")).to_be_visible()
        assert visit.dialogs == [], path
        assert page.evaluate("document.querySelectorAll('script, iframe, body style, svg, form').length") == 0, path

    assert len(pages) == len(VECTORS)

    check_feed(site)
    page.goto(f"{site.address}/posts/{odd['slug']}/")
    expect(page).to_have_title(f"{ODD} · Harbour Notes")
    assert page.locator("h1").text_content() == ODD
    assert page.locator("article pre").text_content() == f"{ODD}\n"
    assert page.locator("article td").evaluate("(cell) => getComputedStyle(cell).textAlign").endswith("right")
