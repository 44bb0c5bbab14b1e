"""The admin with the keyboard, for screen readers and on a phone."""

from http import HTTPStatus
from typing import Any

from playwright.sync_api import Browser, Page, expect

from contentapi.demo import ADMIN
from tests.deployment.live_server import LiveServer, Site
from tests.e2e.chromium import NEEDS_CHROMIUM

pytestmark = NEEDS_CHROMIUM

MOST_TABS = 8
MOST_HEIGHT = 180  # CSS pixels of a post in the list of a phone
PHONE = {"width": 390, "height": 844}
LIST = "/admin/blog/post/"
SORTED_LIST = "/admin/blog/post/?o=-6.-5"
TAGS = ", ".join(f'"{number:02}{"W" * 48}"' for number in range(20))
LONGEST = f'title: "{"W" * 200}", body: "", tags: [{TAGS}]'
STATES = ("status: draft", "status: published", 'status: scheduled, publishAt: "2999-01-01T00:00:00Z"')
IS_FOCUSED = "selector => document.activeElement.matches(selector)"
FIRST_POST = "#result_list tbody:first-of-type a[href*='/change/']"


def create_posts(server: LiveServer) -> None:
    """Create posts with the longest title and tags."""
    for state in STATES:
        mutation = f"mutation {{ createPost(input: {{{LONGEST}, {state}}}) {{ id }} }}"
        response = server.query(mutation, X_API_Key=server.site.key)
        assert response.status == HTTPStatus.OK, response.body


def log_in(browser: Browser, server: LiveServer, site: Site, **options: Any) -> Page:
    page = browser.new_context(base_url=server.address, **options).new_page()
    page.goto("/admin/")
    page.get_by_label("Email").fill(ADMIN)
    page.locator("#id_password").fill((site.var / "demo_password").read_text())
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/admin/")
    return page


def count_tabs_to_first_post(page: Page, path: str) -> int:
    """Return how often a person presses Tab until the link of the first post has the focus, with the skip link."""
    page.goto(path)
    page.keyboard.press("Tab")
    assert page.evaluate(IS_FOCUSED, ".skip-link")
    expect(page.locator(".skip-link")).to_have_css("clip-path", "none")
    page.keyboard.press("Enter")
    for pressed in range(2, 100):
        page.keyboard.press("Tab")
        if page.evaluate(IS_FOCUSED, FIRST_POST):
            return pressed
    raise AssertionError("The link of the first post never has the focus.")


def require_landmarks(page: Page, path: str) -> None:
    """The first link of a page leads to its only landmark `main`."""
    page.goto(path)
    main = page.get_by_role("main")
    expect(main).to_have_count(1)
    expect(main.locator("#content")).to_be_visible()
    expect(page.get_by_role("banner").get_by_role("heading", level=1)).to_have_count(1)
    page.locator(".skip-link").focus()  # Tab begins at the title where a form has taken the focus
    page.keyboard.press("Enter")
    page.wait_for_function(IS_FOCUSED, arg="#main-content")


def test_keyboard_and_phone_reach_posts_and_the_sidebar(site: Site, browser: Browser) -> None:
    with site.serve("granian") as server:
        create_posts(server)
        page = log_in(browser, server, site, viewport={"width": 1280, "height": 800})
        for path in (LIST, SORTED_LIST):
            assert count_tabs_to_first_post(page, path) <= MOST_TABS, path
        first = page.locator(FIRST_POST).get_attribute("href") or ""
        for path in ("/admin/", first, f"{LIST}add/", f"{LIST}deleted/", "/admin/blog/importjob/add/"):
            require_landmarks(page, path)

        page.goto(LIST)
        expect(page.get_by_role("main").locator("#result_list")).to_have_count(1)
        sidebar, button = page.locator("#nav-sidebar"), page.get_by_role("button", name="Sidebar", exact=True)
        for key, expanded in (("Enter", "false"), ("Space", "true")):
            button.press(key)
            expect(button).to_have_attribute("aria-expanded", expanded)
            expect(sidebar).to_be_visible(visible=expanded == "true")
        menu = page.get_by_role("button", name="Alva Admin")
        menu.press("Enter")
        expect(page.get_by_role("button", name="Log out")).to_be_visible()
        page.keyboard.press("Tab")
        page.keyboard.press("Escape")
        expect(menu).to_have_attribute("aria-expanded", "false")

        page = log_in(browser, server, site, viewport=PHONE, has_touch=True)
        page.goto(LIST)
        rows = page.locator("#result_list .data-row")
        heights = rows.evaluate_all("rows => rows.map(row => row.getBoundingClientRect().height)")
        assert len(heights) >= 10
        assert max(heights) <= MOST_HEIGHT, heights
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        button = page.get_by_role("button", name="Sidebar", exact=True)
        button.press("Enter")
        expect(page.locator("#nav-sidebar")).to_be_visible()
        close = page.get_by_role("button", name="Close the sidebar")
        expect(close).to_be_focused()
        close.press("Enter")
        expect(button).to_be_focused()
        expect(page.locator("#nav-sidebar")).to_be_hidden()
