"""The form of a post in Chromium without its scripts, and with texts that attack it."""

import re

from playwright.sync_api import Page, Request, Route, expect

from blog.rendering import render_markdown
from tests.blog.xss import VECTORS
from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.writing import Desk, get_tags, record_dialogs, save, write

pytestmark = NEEDS_CHROMIUM


def record_addresses(page: Page) -> list[str]:
    """Return the list of the addresses that a page requests from other servers, which grows."""
    addresses: list[str] = []

    def record(request: Request) -> None:
        if "//localhost" not in request.url:
            addresses.append(request.url)

    page.on("request", record)
    return addresses


def test_form_works_without_its_scripts(desk: Desk) -> None:
    page = desk.open("/admin/")
    page.route(re.compile("/static/blog/"), lambda route: route.abort())
    page.goto(desk.get_address("/admin/blog/post/add/"))
    expect(page.locator(".writing-count")).to_be_hidden()
    write(page, "Without scripts", "\nPlain text.")
    page.locator("#id_tags").fill("one\ntwo")

    save(page)

    assert desk.read_body("Without scripts") == "\nPlain text."


# Attacks


def test_no_attack_runs_a_script_or_sends_a_request(desk: Desk) -> None:
    """All attacks are in one page, without the frame and the policy of the preview, which come on top."""
    page = desk.browser.new_context().new_page()
    texts = [text for vector in VECTORS for text in (vector, f"Some text {vector} and more")]
    html = "".join(f"<div>{render_markdown(text)}</div>" for text in texts)
    sent: list[tuple[str, str]] = []
    hits = record_dialogs(page)

    def answer(route: Route) -> None:
        if route.request.url == "http://preview.invalid/":
            route.fulfill(body=f"<!DOCTYPE html><body>{html}</body>", content_type="text/html; charset=utf-8")
        else:
            sent.append((route.request.resource_type, route.request.url))
            route.abort()

    page.route("**/*", answer)
    page.goto("http://preview.invalid/")
    page.evaluate(
        "() => document.querySelectorAll('body *').forEach((e) => ['mouseover', 'click', 'focus', 'toggle']"
        ".forEach((name) => e.dispatchEvent(new Event(name, {bubbles: true, cancelable: true}))))"
    )

    assert page.locator("body > div").count() == len(texts)
    assert hits == []
    assert {kind for kind, _ in sent} <= {"image"}
    assert len({url for _, url in sent}) <= html.count("<img ")
    with page.expect_event("dialog"):  # the control: a script would have been noticed
        page.set_content("<img src=x onerror=alert(1)>")
    page.close()


def test_attacks_in_a_post_run_nothing_in_the_editor_and_its_preview(desk: Desk) -> None:
    page = desk.open(viewport={"width": 1280, "height": 900})
    hits, outside, images = record_dialogs(page), record_addresses(page), list[str]()
    page.on("request", lambda request: images.append(request.url) if request.resource_type == "image" else None)
    text = "# Attack\n\n" + "\n\n".join(vector for vector in VECTORS if "<!" not in vector and "<?" not in vector)

    write(page, "<img src=x onerror=alert(1)>", text)

    preview = page.frame_locator(".writing-preview iframe")
    expect(preview.locator(".text h1")).to_have_text("Attack")
    get_tags(page).fill("<img src=x onerror=alert(1)>")
    page.keyboard.press("Enter")
    expect(preview.locator(".tags")).to_have_text("<img src=x onerror=alert(1)>")

    # Images are requested in their order: with the last one, the page has done what it does with the others.
    page.route("https://pictures.invalid/**", lambda route: route.abort())
    with page.expect_request("https://pictures.invalid/sea.jpg"):
        page.locator("#id_body").fill(
            "![Boat](boat.jpg) <img src='/quay.png'> ![Sea](https://pictures.invalid/sea.jpg)"
        )
    expect(preview.locator("img")).to_have_count(3)
    assert hits == []
    assert not [url for url in images if "boat.jpg" in url or "quay.png" in url]
    allowed = r"^(data:|http://good\.invalid/x\.png|https://pictures\.invalid/sea\.jpg)"
    assert [url for url in outside if not re.search(allowed, url)] == []
