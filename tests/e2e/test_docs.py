"""The API reference at /docs in Chromium, under the page's own policy."""

import pytest
from playwright.sync_api import Browser, Page, expect

from contentapi.frontend import build
from tests.deployment.live_server import LiveServer, Site
from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.page_visits import Visit
from tests.openapi import OPERATIONS

pytestmark = [
    *NEEDS_CHROMIUM,
    pytest.mark.skipif(not build.has_node(), reason="Node and npm are not installed, which build the page"),
]


def open_operation(page: Page, name: str) -> None:
    """Open an operation by a link of the sidebar."""
    operation = OPERATIONS[name]
    address = f"tag/{operation.described['tags'][0]}/{operation.method}{operation.path}"
    page.evaluate("address => { location.hash = address }", address)
    section = page.locator(f"[id='api-1/{address}']")
    section.locator(".operation-title").wait_for()
    section.scroll_into_view_if_needed()


def test_reader_finds_an_operation_and_sends_its_request(demo_server: LiveServer, browser: Browser) -> None:
    origin = demo_server.address
    visit = Visit(browser, origin, "/docs")
    page = visit.page

    page.get_by_role("button", name="Open Search").click()
    page.get_by_role("combobox").or_(page.get_by_placeholder("Search")).first.fill("track an order")
    expect(page.get_by_role("option", name="Track an order")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{origin}/docs#tag/orders/GET/orders/{{order_id}}/tracking")

    open_operation(page, "listAuthors")
    section = page.locator("[id='api-1/tag/authors/GET/authors']")
    expect(section).to_contain_text(f"curl '{origin}/authors?limit=2'")
    section.get_by_role("button", name="Test Request").click()
    page.get_by_role("button", name="Send get request").click()
    expect(page.get_by_role("dialog")).to_contain_text("200 OK")
    expect(page.get_by_role("dialog")).to_contain_text("Ines Falk")

    assert (visit.errors, visit.hosts) == ([], {f"localhost:{demo_server.port}"})


def test_page_works_behind_a_proxy_with_tls(site: Site, browser: Browser) -> None:
    forwarded = {"extra_http_headers": {"X-Forwarded-Proto": "https"}}

    with site.serve("granian", CONTENTAPI_HTTPS="on") as server:
        for path in ("/", "/docs", "/graphql"):
            visit = Visit(browser, server.address, path, **forwarded)

            assert (visit.errors, visit.hosts) == ([], {f"localhost:{server.port}"}), path
            if path == "/docs":
                reference = visit.page.locator("#reference")
                assert reference.get_attribute("data-origin") == f"https://localhost:{server.port}"
