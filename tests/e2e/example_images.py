"""Checks of the images in the example sites: sizes, placeholders, texts, and what Chromium loads."""

import base64
import json
import os
import re
import subprocess
from collections.abc import Iterable
from typing import Any
from urllib.request import urlopen

from playwright.sync_api import Browser, Page, Route, expect

from tests.deployment.processes import PATIENCE, wait_until
from tests.e2e.chromium import CHROMIUM
from tests.e2e.example_site import Site, Visit
from tests.e2e.example_site_addresses import read_metadata
from tests.image_files import make_png

BOATS = "Three rowing boats: a red one, a yellow one and a blue one"
TIDE = "A curve of the height of the sea in a day: high water at five in the morning and in the evening"
MEDIA = "**/media/**"
LIGHTHOUSE = "lighthouse@13.5.0"
AUDITS = ("unsized-images", "image-alt", "cumulative-layout-shift")
ELEMENT = re.compile(r"<img [^>]*>")
LOADED = "(image) => { image.scrollIntoView(); return image.decode().then(() => image.naturalWidth) }"  # may be lazy
PLACE_OF_TEXT = "document.querySelector('article .text').getBoundingClientRect().top"
BACKGROUND = "(image) => getComputedStyle(image).backgroundImage"
# A script of another origin: two steps with GraphQL, and the bytes to the signed address
UPLOAD = """async ([api, key, data]) => {
    const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    const sha256 = Array.from(digest, (each) => each.toString(16).padStart(2, "0")).join("");
    async function mutate(query, input) {
        const headers = { "Content-Type": "application/json", "X-API-Key": key };
        const body = JSON.stringify({ query, variables: { input } });
        const response = await fetch(`${api}/graphql`, { method: "POST", headers, body });
        return Object.values((await response.json()).data)[0];
    }
    const { id, url, method, headers } = await mutate(
        `mutation ($input: CreateUploadInput!) {
            createUpload(input: $input) { id url method headers { name value } }
        }`,
        { name: "boat.png", contentType: "image/png", size: bytes.length, sha256 },
    );
    const sent = Object.fromEntries(headers.map(({ name, value }) => [name, value]));
    const { status } = await fetch(url, { method, headers: sent, body: bytes });
    const { image } = await mutate(
        `mutation ($input: CompleteUploadInput!) {
            completeUpload(input: $input) { image { name contentType } }
        }`,
        { id },
    );
    return [status, image.name, image.contentType];
}"""
# The width of a window, the pixels of its screen for one of CSS, and the width of the file that fits a cover there
CHOICES = ((300, 1, 320), (600, 1, 640), (1280, 2, 1280))


def wait_for_images(site: Site) -> None:
    """Wait until the worker has rendered the texts with the addresses of this server."""
    address = f'srcset="{site.api}/media/'

    def is_rendered() -> bool:
        posts: list[dict[str, Any]] = site.send("/posts?limit=100", method="GET")["data"]
        texts = [post["bodyHtml"] or "" for post in posts if "](image:" in post["body"]]
        return len(texts) == 2 and all(address in text for text in texts)

    wait_until(is_rendered, "the rendering of posts with images", PATIENCE)


def check_static_images(site: Site, browser: Browser) -> None:
    check_elements(site.read_pages().values())
    page = check_post(browser, f"{site.address}/posts/how-we-name-our-boats/")
    assert page.locator(".placeholder").evaluate("(image) => image.naturalWidth") > 0
    found = read_metadata(page)
    assert re.fullmatch(rf"{site.api}/media/\d+-[0-9a-f]{{32}}/1280\.jpg", found["og:image"])
    assert found["og:image:alt"] == BOATS

    page = check_inline_image(browser, f"{site.address}/posts/reading-a-tide-table/")
    assert "og:image" not in read_metadata(page)
    page.goto(site.address)
    expect(page.locator(".posts .cover")).to_have_count(2)


def check_next_images(site: Site, browser: Browser) -> None:
    wait_for_images(site)  # no page of these posts is made yet, except of the first
    posts = [f"{site.address}/blog/{slug}" for slug in ("how-we-name-our-boats", "reading-a-tide-table")]
    check_elements(map(read_page, [site.address, *posts]))
    page = check_post(browser, posts[0])
    assert "data:image/png" in page.get_by_alt_text(BOATS).evaluate(BACKGROUND)
    assert read_metadata(page)["og:image"].startswith(f"{site.api}/media/")

    page = check_inline_image(browser, posts[1])
    page.goto(site.address)
    expect(page.locator("ol.posts > li > .cover")).to_have_count(4)


def read_page(address: str) -> str:
    with urlopen(address, timeout=PATIENCE) as response:  # noqa: S310 - loopback
        text: str = response.read().decode()
    return text


def check_elements(pages: Iterable[str]) -> None:
    """Assert that each image has its size, and the attribute for its text."""
    elements = [element for page in pages for element in ELEMENT.findall(page)]
    assert elements
    assert [it for it in elements if not all(f' {name}="' in it for name in ("width", "height", "alt"))] == []


def check_post(browser: Browser, address: str) -> Page:
    """Check the cover of a post. Return its page."""
    for width, scale, chosen in CHOICES:
        page = open_page(browser, width=width, scale=scale)
        page.goto(address)
        cover = page.get_by_alt_text(BOATS)
        assert cover.evaluate(LOADED) > 0
        assert cover.evaluate("(image) => image.currentSrc").endswith(f"/{chosen}.webp"), width
    return check_stable_text(browser, address)


def check_stable_text(browser: Browser, address: str) -> Page:
    """Assert that the text of a post stays where it is when the cover arrives. Return its page."""
    page = open_page(browser)
    held: list[Route] = []
    page.route(MEDIA, lambda route: held.append(route))
    with page.expect_request(MEDIA):
        page.goto(address, wait_until="domcontentloaded")
    # Without the style sheet, which that does not wait for, the text is elsewhere.
    expect(page.locator("body")).to_have_css("max-width", "704px", timeout=PATIENCE * 1000)
    cover, before = page.get_by_alt_text(BOATS), page.evaluate(PLACE_OF_TEXT)
    assert cover.evaluate("(image) => image.naturalWidth") == 0

    for route in held:
        route.continue_()
    page.unroute(MEDIA)

    assert cover.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 0
    assert page.evaluate(PLACE_OF_TEXT) == before
    return page


def check_inline_image(browser: Browser, address: str) -> Page:
    page = open_page(browser, width=390)
    page.goto(address)
    image = page.get_by_alt_text(TIDE)
    assert image.evaluate(LOADED) > 0
    expect(image).to_have_attribute("loading", "lazy")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    return page


def check_lighthouse(site: Site) -> None:
    """Assert that Lighthouse finds no image without a size or a text, and no shift."""
    command = ["npx", "--yes", LIGHTHOUSE, "--quiet", "--output=json", f"--only-audits={','.join(AUDITS)}"]
    flags = "--chrome-flags=--headless --no-sandbox"
    for path in ("/", "/posts/how-we-name-our-boats/", "/posts/reading-a-tide-table/"):
        printed = subprocess.run(
            [*command, flags, site.address + path],
            env={**os.environ, "CHROME_PATH": str(CHROMIUM)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        audits = json.loads(printed)["audits"]
        assert {name: audits[name]["score"] for name in AUDITS} == dict.fromkeys(AUDITS, 1), path


def check_upload(page: Page, site: Site) -> None:
    """Assert that a script of a page, whose origin the API allows, can upload an image."""
    given = [site.api, site.key, base64.b64encode(make_png(40, 30)).decode()]
    assert page.evaluate(UPLOAD, given) == [200, "boat.png", "image/png"]


def open_page(browser: Browser, *, width: int = 1280, scale: int = 1) -> Page:
    viewport = {"width": width, "height": 800}
    return Visit(browser, viewport=viewport, device_scale_factor=scale).page
