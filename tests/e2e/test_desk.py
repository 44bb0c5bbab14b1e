"""The admin in Chromium: each page has no serious finding of axe-core, fits a phone, and is used by keys alone."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.request import Request, urlopen
from zipfile import ZipFile

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.deployment.checkout import Checkout, Run
from tests.deployment.template import Template
from tests.e2e.accessibility import find_keyboard_trap, list_serious_findings, list_serious_findings_of_the_desk
from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.conftest import stop_at_the_end
from tests.e2e.desk_pages import (
    PAGES,
    WAIT,
    WIDEN_IDS,
    find_rows,
    import_site,
    log_in,
    open_changes,
    open_conflict,
    open_schedule,
    upload,
    write_history,
)

MANY = 2000  # files: the worker checks them for half a minute
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
# Pages of which axe-core also examines the form for phones
EXAMINED_ON_A_PHONE = {"desk", "posts", "post", "image", "plan of an import", "users", "delivery"}
WITH_WIDGETS = ("desk", "posts", "post", "new post", "image", "upload", "new user", "new webhook", "plan of an import")
# Boxes of the main content that scroll and that the keyboard does not reach
STUCK = """() => [...document.querySelectorAll("main *")].filter((box) => {
  const { overflowX, overflowY } = getComputedStyle(box);
  const scrolls = (overflow, isLarger) => isLarger && /auto|scroll/.test(overflow);
  const [isWider, isHigher] = [box.scrollWidth > box.clientWidth, box.scrollHeight > box.clientHeight];
  const isScroller = scrolls(overflowX, isWider) || scrolls(overflowY, isHigher);
  return isScroller && box.tabIndex < 0 && !box.matches("textarea") && box.offsetParent;
}).map((box) => box.outerHTML.slice(0, 120))"""

pytestmark = [
    *NEEDS_CHROMIUM,
    pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed, which installs axe-core"),
]


class Content(NamedTuple):
    """A server with an object for each page of the admin, and their ids."""

    run: Run
    ids: dict[str, str]

    def open(self, browser: Browser, path: str = "/admin/", **options: object) -> Page:
        """Return a page of a new browser in which the admin is logged in."""
        page = browser.new_context(base_url=f"http://localhost:{self.run.port}", **options).new_page()  # type: ignore[arg-type]
        log_in(page, self.run, self.run.checkout)
        page.goto(path)
        return page


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory, template: Template, browser: Browser) -> Iterator[Content]:
    folder = tmp_path_factory.mktemp("desk")
    for checkout in stop_at_the_end(Checkout(folder / "a checkout", template)):
        run = checkout.run().wait_until_ready()
        page = browser.new_context().new_page()
        log_in(page, run, checkout)
        ids = {"post": write_history(page, run), **find_rows(page, run), **import_site(page, run, folder)}
        page.context.close()
        yield Content(run, ids)


def list_findings_of_progress(page: Page, axe: str, run: Run, folder: Path) -> dict[str, list[str]]:
    """Return the findings of the page of an import while the worker works on it. Then cancel the import."""
    archive = folder / "many.zip"
    with ZipFile(archive, "w") as opened:
        for number in range(MANY):
            opened.writestr(f"many/{number}.md", f"---\ntitle: Title {number}\n---\nText.")
    upload(page, run, archive)
    expect(page.locator("[data-progress-text]")).to_contain_text(re.compile("[1-9][0-9]* of 2,000"), timeout=WAIT)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    findings = {"progress of an import": list_serious_findings_of_the_desk(page, axe)}
    page.get_by_role("button", name="Cancel the import").click()
    expect(page.get_by_role("heading", name="The import was cancelled")).to_be_visible()
    return findings | {"cancelled import": list_serious_findings_of_the_desk(page, axe)}


def list_findings_on_a_phone(page: Page, axe: str, run: Run, post: str, name: str) -> list[str]:
    """Return the findings of a page that answers a form: the time of an action, or the conflict of two editors."""
    page.set_viewport_size({"width": 390, "height": 844})
    if name == "schedule":
        open_schedule(page, run)
    elif name == "conflict":
        open_conflict(page, run, post)
    else:
        page.get_by_role("button", name="Take over the other version").click()
        expect(page.locator("#my-text")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name
    return list_serious_findings_of_the_desk(page, axe)


def list_findings_of_page(page: Page, axe: str, name: str) -> dict[str, list[str]]:
    """Return the findings of a page that was opened on a phone, and then those on a desktop."""
    page.evaluate(WIDEN_IDS)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name
    findings = {f"boxes of {name}": page.evaluate(STUCK)}
    if name in EXAMINED_ON_A_PHONE:
        findings[f"{name} on a phone"] = list_serious_findings(page, axe)
    page.set_viewport_size({"width": 1280, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= DESKTOP["width"], name
    return findings | {name: list_serious_findings_of_the_desk(page, axe)}


def test_pages_of_the_admin_have_no_serious_finding(
    content: Content, browser: Browser, axe: str, tmp_path: Path
) -> None:
    run, ids = content
    page = content.open(browser, color_scheme="light", bypass_csp=True)
    findings = list_findings_of_progress(page, axe, run, tmp_path)

    for name, path in PAGES.items():
        page.set_viewport_size({"width": 390, "height": 844})
        response = page.goto(path.format(**ids))
        assert response is not None
        assert response.ok is (name != "not found"), (name, response.status)
        findings |= list_findings_of_page(page, axe, name)

    page.goto("/admin/blog/post/")
    page.locator("input.action-select").first.check()
    page.get_by_role("button", name="Filters").click()
    expect(page.locator("#changelist-filter")).to_be_visible()
    findings["actions and filters"] = list_serious_findings_of_the_desk(page, axe)
    for name in ("schedule", "conflict", "taken over"):
        findings[name] = list_findings_on_a_phone(page, axe, run, ids["post"], name)
    open_changes(page, run)
    findings["changes"] = list_serious_findings_of_the_desk(page, axe)
    page.goto("/admin/users/apikey/add/")
    page.locator("#id_name").fill("My blog")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Copy the key").click()
    expect(page.get_by_role("button", name=re.compile("Copied|Selected"))).to_be_visible()
    findings["created key"] = list_serious_findings_of_the_desk(page, axe)
    assert {name: found for name, found in findings.items() if found} == {}


def test_keyboard_leaves_pages_with_widgets(content: Content, browser: Browser) -> None:
    page = content.open(browser)
    traps = {}

    for name in WITH_WIDGETS:
        page.goto(PAGES[name].format(**content.ids))
        traps[name] = find_keyboard_trap(page, "Shift+Tab" if name == "new post" else "Tab")
    page.goto("/admin/blog/post/add/")
    for field in ("#id_title", "#id_body"):
        page.locator(field).fill("Text")
        page.keyboard.press("Tab")
        is_left = page.evaluate("selector => !document.activeElement.matches(selector)", field)
        traps[f"typed into {field}"] = "" if is_left else field

    assert {name: element for name, element in traps.items() if element} == {}


# Keys and landmarks

MOST_TABS = 8
MOST_HEIGHT = 180  # CSS pixels of a post in the list of a phone
LIST = "/admin/blog/post/"
TAGS = [f"{number:02}{'W' * 48}" for number in range(20)]
LONGEST = {"title": "W" * 200, "body": "", "tags": TAGS}
IS_FOCUSED = "selector => document.activeElement.matches(selector)"
FIRST_POST = "#result_list tbody:first-of-type a[href*='/change/']"


def create_longest_post(run: Run, **state: str) -> None:
    headers = {"Content-Type": "application/json", "X-API-Key": run.checkout.key}
    data = json.dumps({**LONGEST, **state}).encode()
    with urlopen(Request(f"http://localhost:{run.port}/posts", data, headers)) as response:
        assert response.status == 201


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


def test_keyboard_and_phone_reach_posts_and_the_sidebar(content: Content, browser: Browser) -> None:
    create_longest_post(content.run, status="published")
    create_longest_post(content.run, status="scheduled", publishAt="2999-01-01T00:00:00Z")
    page = content.open(browser, viewport=DESKTOP)
    for path in (LIST, f"{LIST}?o=-6.-5"):
        assert count_tabs_to_first_post(page, path) <= MOST_TABS, path
    first = page.locator(FIRST_POST).get_attribute("href") or ""
    for path in (first, f"{LIST}deleted/"):
        require_landmarks(page, path)

    page.goto(LIST)
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

    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(LIST)
    rows = page.locator("#result_list .data-row")
    boxes = rows.evaluate_all("rows => rows.map((row) => row.getBoundingClientRect().toJSON())")
    assert len(boxes) >= 10
    assert max(box["height"] for box in boxes) <= MOST_HEIGHT
    assert boxes[0]["y"] < PHONE["height"]  # the filters are not above the list
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    button.press("Enter")
    expect(sidebar).to_be_visible()
    close = page.get_by_role("button", name="Close the sidebar")
    expect(close).to_be_focused()
    close.press("Enter")
    expect(button).to_be_focused()
    expect(sidebar).to_be_hidden()
