"""The admin in Chromium under its Content-Security-Policy: no page violates it, and the controls of the theme work."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.desk_pages import PAGES, send_login
from tests.e2e.page_visits import WATCH
from tests.e2e.shared_servers import SharedServer

LIST = "/admin/blog/post/"
ROWS = {"post": LIST, "comment": "/admin/blog/comment/", "user": "/admin/users/user/", "order": "/admin/orders/order/"}
LEFT_OUT = {
    "not found",  # has a policy of its own
    "differences",  # of a second version, which no post of the demo has
}
IMAGE = "https://images.example.invalid/harbour.svg"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"/>'
# In a task of its own: the browser lets the code of a debugger use `eval`.
EVALUATE = "setTimeout(() => { try { evaluated = new Function('return 1')(); } catch { evaluated = 'refused'; } })"

pytestmark = NEEDS_CHROMIUM


class Desk:
    """A page in which an admin is logged in. `problems` are violations of the policy and errors of scripts."""

    def __init__(self, server: SharedServer, browser: Browser) -> None:
        self.address, self.problems = server.live.address, list[str]()
        self.page: Page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        self.page.add_init_script(WATCH)
        self.page.on("console", self.record_message)
        self.page.on("pageerror", lambda error: self.problems.append(f"{self.page.url}: {error}"))
        send_login(self.page, self.address, server.live.site.var)

    def record_message(self, message: object) -> None:
        kind, text = getattr(message, "type", ""), getattr(message, "text", "")
        if kind in ("error", "warning"):
            self.problems.append(f"{self.page.url}: {text}")

    def open(self, path: str) -> None:
        self.page.goto(f"{self.address}{path}")

    def find_ids(self) -> dict[str, str]:
        """Return the ids of the first rows of some lists."""
        ids = {}
        for name, path in ROWS.items():
            self.open(path)
            address = self.page.locator("#result_list tbody th a").first.get_attribute("href") or ""
            ids[name] = address.split("/")[-3]
        return ids


@pytest.fixture
def desk(get_shared_server: Callable[[str], SharedServer], browser: Browser) -> Desk:
    return Desk(get_shared_server("granian"), browser)


def test_no_page_violates_the_policy(desk: Desk) -> None:
    ids = desk.find_ids()
    for name, path in PAGES.items():
        if name not in LEFT_OUT and set(re.findall(r"{(\w+)}", path)) <= ids.keys():
            desk.open(path.format(**ids))

    assert desk.problems == []


def test_controls_of_the_theme_work_without_eval(desk: Desk) -> None:
    page = desk.page
    desk.open(LIST)
    use_actions_and_filters(page)
    use_sidebar_and_colours(page)
    use_search(page)
    use_preview(desk)

    assert desk.problems == []
    page.evaluate(EVALUATE)
    page.wait_for_function("window.evaluated === 'refused'")


def use_actions_and_filters(page: Page) -> None:
    expect(page.locator("#changelist-actions")).to_be_hidden()
    page.locator("input.action-select").first.check()
    expect(page.locator("#changelist-actions")).to_be_visible()
    page.wait_for_function("!['', '0px'].includes(document.querySelector('#changelist-actions').style.width)")
    run = page.get_by_role("button", name="Run")
    expect(run).to_be_hidden()
    page.locator("select[name=action]").select_option("archive")
    expect(run).to_be_visible()
    page.get_by_role("button", name="Filters").click()
    expect(page.locator("#changelist-filter")).to_be_visible()
    page.locator("#changelist-filter .select2-selection").nth(1).click()
    expect(page.locator(".select2-results__option").first).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator("#changelist-filter")).to_be_hidden()


def use_sidebar_and_colours(page: Page) -> None:
    sidebar, control = page.locator("#nav-sidebar"), page.locator("[x-on\\:click^='sidebarDesktopOpen']")
    control.click()
    expect(sidebar).to_be_hidden()
    page.reload()
    expect(sidebar).to_be_hidden()
    control.click()
    expect(sidebar).to_be_visible()
    assert (
        page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--color-primary-600')") == "#2460b4"
    )


def use_search(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.locator("#search-input-command").fill("comment")
    page.locator("#search-input-command").press("s")  # the theme searches when a key is released
    expect(page.locator("#command-results-list li").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{ROWS['comment']}")


def use_preview(desk: Desk) -> None:
    """Show a post with an image of another site, which the policy of the form allows."""

    def fulfil(route: Route) -> None:
        route.fulfill(body=SVG, content_type="image/svg+xml")

    desk.page.route(IMAGE, fulfil)
    desk.open(f"{LIST}add/")
    desk.page.locator("#id_body").fill(f"![A harbour]({IMAGE})")
    desk.page.get_by_role("button", name="Preview", exact=True).click()
    image = desk.page.frame_locator(".writing-preview iframe").locator("img")
    expect(image).to_be_visible()
    expect(image).to_have_js_property("naturalWidth", 20)
