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
    page = desk.browser.new_page()
    html = ""
    sent: list[tuple[str, str]] = []
    hits = record_dialogs(page)

    def answer(route: Route) -> None:
        if route.request.url == "http://preview.invalid/":
            route.fulfill(body=f"<!DOCTYPE html><body>{html}</body>", content_type="text/html; charset=utf-8")
        else:
            sent.append((route.request.resource_type, route.request.url))
            route.abort()

    page.route("**/*", answer)
    for vector in VECTORS:
        for text in (vector, f"Some text {vector} and more"):
            html = render_markdown(text)
            sent.clear()
            page.goto("http://preview.invalid/")  # without the frame and the policy of the preview, which come on top
            page.evaluate(
                "() => document.querySelectorAll('body *').forEach((e) => ['mouseover', 'click', 'focus', 'toggle']"
                ".forEach((name) => e.dispatchEvent(new Event(name, {bubbles: true, cancelable: true}))))"
            )
            assert hits == [], vector
            assert {kind for kind, _ in sent} <= {"image"}, (vector, sent)
            assert len({url for _, url in sent}) <= html.count("<img "), (vector, sent)
    page.close()


def test_control_of_the_attacks_runs_without_the_sanitiser(desk: Desk) -> None:
    page = desk.browser.new_page()
    hits = record_dialogs(page)

    with page.expect_event("dialog"):
        page.set_content("<img src=x onerror=alert(1)>")

    assert hits == ["alert"]
    page.close()


def test_attacks_in_a_post_run_nothing_in_the_editor_and_its_preview(desk: Desk) -> None:
    page = desk.open(viewport={"width": 1280, "height": 900})
    hits, outside = record_dialogs(page), record_addresses(page)
    text = "# Attack\n\n" + "\n\n".join(vector for vector in VECTORS if "<!" not in vector and "<?" not in vector)

    write(page, "<img src=x onerror=alert(1)>", text)

    expect(page.frame_locator(".writing-preview iframe").locator(".text h1")).to_have_text("Attack")
    get_tags(page).fill("<img src=x onerror=alert(1)>")
    page.keyboard.press("Enter")
    page.wait_for_timeout(1_500)
    assert hits == []
    assert [url for url in outside if not re.search(r"^(data:|http://good\.invalid/x\.png)", url)] == []


def test_relative_image_of_the_preview_loads_nothing(desk: Desk) -> None:
    page = desk.open(viewport={"width": 1280, "height": 800})
    images: list[str] = []
    page.route("https://pictures.invalid/**", lambda route: route.abort())
    page.on("request", lambda request: images.append(request.url) if request.resource_type == "image" else None)

    relative = "![Boat](images/boat.jpg) ![Mole](/mole.png) <img src='../quay.png' alt='Quay'>"
    with page.expect_request("https://pictures.invalid/sea.jpg"):
        page.locator("#id_body").fill(f"{relative}\n\n![Sea](https://pictures.invalid/sea.jpg)")
        expect(page.frame_locator(".writing-preview iframe").locator("img")).to_have_count(4)
    assert [url for url in images if "pictures.invalid" not in url and not url.startswith("data:")] == []
