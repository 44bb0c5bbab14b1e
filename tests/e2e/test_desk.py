"""The admin in Chromium: each page has no serious finding of axe-core, on three widths, in light and dark mode."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.deployment.checkout import Checkout, Run
from tests.deployment.template import Template
from tests.e2e.accessibility import find_keyboard_trap, install_axe, list_serious_findings_of_the_desk
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

MANY = 4000  # files: the worker checks them for a minute
WIDTHS = {390: 844, 820: 1180, 1280: 800}

pytestmark = [
    *NEEDS_CHROMIUM,
    pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed, which installs axe-core"),
]


@pytest.fixture
def axe(tmp_path: Path) -> str:
    """Return the source of axe-core."""
    return install_axe(tmp_path)


def list_findings_of_progress(page: Page, axe: str, run: Run, folder: Path) -> dict[str, list[str]]:
    """Return the findings of the page of an import while the worker works on it, by width. Then cancel the import."""
    archive = folder / "many.zip"
    with ZipFile(archive, "w") as opened:
        for number in range(MANY):
            opened.writestr(f"many/{number}.md", f"---\ntitle: Title {number}\n---\nText.")
    upload(page, run, archive)
    expect(page.locator("[data-progress-text]")).to_contain_text(re.compile("[1-9][0-9]* of 4,000"), timeout=WAIT)
    findings = {}
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.reload()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        findings[f"progress of an import {width}"] = list_serious_findings_of_the_desk(page, axe)
        expect(page.get_by_role("heading", name="The files are being checked")).to_be_visible()
    page.get_by_role("button", name="Cancel the import").click()
    expect(page.get_by_role("heading", name="The import was cancelled")).to_be_visible()
    findings["cancelled import"] = list_serious_findings_of_the_desk(page, axe)
    return findings


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
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    return list_serious_findings_of_the_desk(page, axe)


class Content(NamedTuple):
    """A server with an object for each page of the admin, and their ids."""

    run: Run
    ids: dict[str, str]


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


def test_pages_of_the_admin_have_no_serious_finding(
    content: Content, browser: Browser, axe: str, tmp_path: Path
) -> None:
    run, ids = content
    context = browser.new_context(color_scheme="light", bypass_csp=True)
    page = context.new_page()
    page.goto(f"http://localhost:{run.port}/admin/")
    findings = {"login": list_serious_findings_of_the_desk(page, axe)}
    log_in(page, run, run.checkout)
    findings |= list_findings_of_progress(page, axe, run, tmp_path)

    for name, path in PAGES.items():
        for width, height in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            response = page.goto(f"http://localhost:{run.port}{path.format(**ids)}")
            assert response is not None
            assert response.ok is (name != "not found"), (name, response.status)
            page.evaluate(WIDEN_IDS)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            findings[f"{name} {width}"] = list_serious_findings_of_the_desk(page, axe)

    page.goto(f"http://localhost:{run.port}/admin/blog/post/")
    page.locator("input.action-select").first.check()
    findings["actions"] = list_serious_findings_of_the_desk(page, axe)
    page.get_by_role("button", name="Filters").click()
    expect(page.locator("#changelist-filter")).to_be_visible()
    findings["filters"] = list_serious_findings_of_the_desk(page, axe)
    for name in ("schedule", "conflict", "taken over"):
        findings[name] = list_findings_on_a_phone(page, axe, run, ids["post"], name)
    open_changes(page, run)
    findings["changes"] = list_serious_findings_of_the_desk(page, axe)
    page.goto(f"http://localhost:{run.port}/admin/users/apikey/add/")
    page.locator("#id_name").fill("My blog")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Copy the key").click()
    expect(page.get_by_role("button", name=re.compile("Copied|Selected"))).to_be_visible()
    findings["created key"] = list_serious_findings_of_the_desk(page, axe)
    assert {name: found for name, found in findings.items() if found} == {}


def test_keyboard_leaves_every_page(content: Content, browser: Browser) -> None:
    run, ids = content
    page = browser.new_context().new_page()
    log_in(page, run, run.checkout)
    traps = {}

    for name, path in PAGES.items():
        for key in ("Tab", "Shift+Tab"):
            page.goto(f"http://localhost:{run.port}{path.format(**ids)}")
            traps[f"{name}, {key}"] = find_keyboard_trap(page, key)
    page.goto(f"http://localhost:{run.port}/admin/blog/post/add/")
    for field in ("#id_title", "#id_body"):
        page.locator(field).fill("Text")
        page.keyboard.press("Tab")
        is_left = page.evaluate("selector => !document.activeElement.matches(selector)", field)
        traps[f"typed into {field}"] = "" if is_left else field
    open_conflict(page, run, ids["post"])
    traps["conflict"] = find_keyboard_trap(page, "Tab")

    assert {name: element for name, element in traps.items() if element} == {}


def test_phone_shows_the_list_before_the_filters(run: Run, browser: Browser) -> None:
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    log_in(page, run, run.checkout)

    page.goto(f"http://localhost:{run.port}/admin/blog/post/")

    first_row = page.locator("#result_list tbody tr").first.bounding_box()
    assert first_row is not None
    assert first_row["y"] < 844
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_keyboard_opens_the_filters_and_the_editor_reads_local_times(run: Run, browser: Browser) -> None:
    page = browser.new_context(timezone_id="Pacific/Auckland").new_page()
    log_in(page, run, run.checkout)
    page.goto(f"http://localhost:{run.port}/admin/blog/post/")

    page.get_by_role("button", name="Filters").focus()
    page.keyboard.press("Enter")

    expect(page.locator("#changelist-filter")).to_be_visible()
    times = page.locator("#result_list time")
    expect(times.first).to_have_text(re.compile(r"Nov 1, 2026, 1:00\sPM"))  # midnight of UTC


def test_user_creates_a_key_which_a_refresh_does_not_show(run: Run, browser: Browser) -> None:
    page = browser.new_page()
    log_in(page, run, run.checkout)
    page.goto(f"http://localhost:{run.port}/admin/users/apikey/add/")

    page.locator("#id_name").fill("My blog")
    page.get_by_role("button", name="Save").click()
    secret = page.locator("#secret").inner_text()
    page.reload()

    assert secret not in page.content()
    expect(page.locator("body")).to_contain_text("This request has already created an API key.")
