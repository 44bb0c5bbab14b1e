"""Where the focus can go and goes in the desk: to a list that scrolls on a phone, and to the first error of a form."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.shared_servers import SharedServer

# Boxes of the main content that scroll and that the keyboard does not reach
STUCK = """() => [...document.querySelectorAll("main *")].filter((box) => {
  const { overflowX, overflowY } = getComputedStyle(box);
  const scrolls = (overflow, isLarger) => isLarger && /auto|scroll/.test(overflow);
  const [isWider, isHigher] = [box.scrollWidth > box.clientWidth, box.scrollHeight > box.clientHeight];
  const isScroller = scrolls(overflowX, isWider) || scrolls(overflowY, isHigher);
  return isScroller && box.tabIndex < 0 && !box.matches("textarea") && box.offsetParent;
}).map((box) => box.outerHTML.slice(0, 120))"""

pytestmark = NEEDS_CHROMIUM


@pytest.fixture
def page(get_shared_server: Callable[[str], SharedServer], browser: Browser) -> Page:
    """Return a page of a phone in which an admin is logged in."""
    server = get_shared_server("granian")
    page = browser.new_context(base_url=server.live.address, viewport={"width": 390, "height": 844}).new_page()
    page.goto("/admin/")
    page.get_by_label("Email").fill("admin@example.com")
    page.locator("#id_password").fill((server.live.site.var / "demo_password").read_text())
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/admin/")
    return page


def test_keyboard_reaches_every_box_that_scrolls_on_a_phone(page: Page) -> None:
    found = {}
    for path in ("/admin/", "/admin/blog/post/", "/admin/blog/comment/", "/admin/users/user/", "/admin/blog/post/add/"):
        page.goto(path)
        page.wait_for_load_state("load")
        found[path] = page.evaluate(STUCK)

    assert {path: boxes for path, boxes in found.items() if boxes} == {}


def test_refused_form_has_the_focus_on_its_first_error(page: Page) -> None:
    page.goto("/admin/blog/post/add/")
    page.locator("#id_slug").fill("No Slug!")
    page.locator("#submit-row [name=_save]").click()
    expect(page.locator("#id_title")).to_be_focused()

    page.locator("#id_title").fill("A title")
    page.locator("#submit-row [name=_save]").click()
    expect(page.locator("#id_slug")).to_be_focused()
