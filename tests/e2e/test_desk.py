"""The admin in Chromium: each page has no serious finding of axe-core, on three widths, in light and dark mode."""

import re
import shutil
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.accessibility import find_keyboard_trap, install_axe, list_serious_findings
from tests.e2e.checkout import Checkout, Run
from tests.e2e.chromium import NEEDS_CHROMIUM

SITE = Path(__file__).parents[1] / "blog" / "sites" / "jekyll"
WAIT = 30_000  # milliseconds: the clock begins an import after at most five seconds
MANY = 4000  # files: the clock checks them for a minute
WIDTHS = {390: 844, 820: 1180, 1280: 800}
PAGES = {
    "desk": "/admin/",
    "posts": "/admin/blog/post/",
    "post": "/admin/blog/post/{post}/change/",
    "new post": "/admin/blog/post/add/",
    "deletion": "/admin/blog/post/{post}/delete/",
    "history": "/admin/blog/post/{post}/history/",
    "differences": "/admin/blog/post/{post}/history/2/",
    "earlier version": "/admin/blog/post/{post}/history/1/",
    "deleted posts": "/admin/blog/post/deleted/",
    "comments": "/admin/blog/comment/",
    "comment": "/admin/blog/comment/{comment}/change/",
    "authors": "/admin/blog/author/",
    "author": "/admin/blog/author/add/",
    "imports": "/admin/blog/importjob/",
    "upload": "/admin/blog/importjob/add/",
    "plan of an import": "/admin/blog/importjob/{plan}/change/",
    "report of an import": "/admin/blog/importjob/{report}/change/",
    "keys": "/admin/users/apikey/",
    "new key": "/admin/users/apikey/add/",
    "users": "/admin/users/user/",
    "new user": "/admin/users/user/add/",
    "user": "/admin/users/user/{user}/change/",
    "password of a user": "/admin/users/user/{user}/password/",
    "applications": "/admin/oauth2_provider/application/",
    "new application": "/admin/oauth2_provider/application/add/",
    "application": "/admin/oauth2_provider/application/{application}/change/",
    "new secret": "/admin/oauth2_provider/application/{application}/act/renew-secret/",
    "orders": "/admin/orders/order/",
    "order": "/admin/orders/order/{order}/change/",
    "shipping": "/admin/orders/order/{order}/act/ship/",
    "password": "/admin/password_change/",
    "not found": "/admin/nothing/",
}

pytestmark = [
    *NEEDS_CHROMIUM,
    pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed, which installs axe-core"),
]


@pytest.fixture
def axe(tmp_path: Path) -> str:
    """Return the source of axe-core."""
    return install_axe(tmp_path)


def log_in(page: Page, run: Run, checkout: Checkout) -> None:
    page.goto(f"http://localhost:{run.port}/admin/")
    page.get_by_label("Email").fill("admin@example.com")
    page.locator("#id_password").fill((checkout.folder / "var/demo_password").read_text())
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"http://localhost:{run.port}/admin/")


def find_post(page: Page, run: Run) -> str:
    """Return the id of the first post in the list."""
    page.goto(f"http://localhost:{run.port}/admin/blog/post/")
    address = page.locator("a[href*='/admin/blog/post/'][href*='/change/']").first.get_attribute("href") or ""
    return address.rstrip("/").split("/")[-2]


def write_history(page: Page, run: Run) -> str:
    """Delete the first post of the list, and change the next one. Return the id of the latter."""
    page.goto(f"http://localhost:{run.port}/admin/blog/post/{find_post(page, run)}/delete/")
    page.get_by_role("button", name="Yes").click()
    post = find_post(page, run)
    page.goto(f"http://localhost:{run.port}/admin/blog/post/{post}/change/")
    page.locator("#id_title").fill("New title")
    page.locator("#id_body").fill("New text.")
    page.locator("#submit-row [name=_save]").click()
    page.wait_for_url(f"http://localhost:{run.port}/admin/blog/post/")
    return post


# The ids of applications are random. Show the widest one.
WIDEN_IDS = """
    for (const value of document.querySelectorAll(".readonly")) {
        if (/^[A-Za-z0-9]{40}$/.test(value.textContent.trim())) value.textContent = "W".repeat(40);
    }
"""


def find_rows(page: Page, run: Run) -> dict[str, str]:
    """Hide a comment, pay an order, register an application. Return their ids and that of a user."""
    found = {}
    for name, model in {"comment": "blog/comment", "order": "orders/order", "user": "users/user"}.items():
        page.goto(f"http://localhost:{run.port}/admin/{model}/")
        page.locator("#result_list tbody th a").first.click()
        found[name] = page.url.split("/")[-3]
        button = {"comment": "Hide", "order": "Mark as paid"}.get(name)
        if button:
            page.get_by_role("button", name=button, exact=True).click()
            page.wait_for_load_state()
    page.goto(f"http://localhost:{run.port}/admin/oauth2_provider/application/add/")
    page.locator("#id_name").fill("Harbour reader")
    page.locator("#id_redirect_uris").fill("https://reader.example.com/callback")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("body")).to_contain_text("shown this once")
    page.goto(f"http://localhost:{run.port}/admin/oauth2_provider/application/")
    page.locator("#result_list tbody th a").first.click()
    return found | {"application": page.url.split("/")[-3]}


def write_site(archive: Path) -> None:
    """Write a zip file with a site of Jekyll, and a file that is refused."""
    with ZipFile(archive, "w") as opened:
        for file in sorted(SITE.rglob("*.m*")):
            opened.write(file, f"harbour/{file.relative_to(SITE).as_posix()}")
        opened.writestr("harbour/_posts/notes.md", "A file without front matter")


def upload(page: Page, run: Run, archive: Path) -> str:
    """Upload a zip file. Return the id of the import."""
    page.goto(f"http://localhost:{run.port}/admin/blog/importjob/add/")
    page.get_by_label("Zip file").set_input_files(archive)
    page.get_by_role("button", name="Upload and check").click()
    page.wait_for_url("**/change/")
    return page.url.rstrip("/").split("/")[-2]


def import_site(page: Page, run: Run, folder: Path) -> dict[str, str]:
    """Import a site, and upload it again. Return the ids of the report and of the plan."""
    archive = folder / "harbour.zip"
    write_site(archive)
    report = upload(page, run, archive)
    page.get_by_role("heading", name="What would happen").wait_for(timeout=WAIT)
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("heading", name="The import is finished").wait_for(timeout=WAIT)
    plan = upload(page, run, archive)
    page.get_by_role("heading", name="What would happen").wait_for(timeout=WAIT)
    return {"report": report, "plan": plan}


def list_findings_of_progress(page: Page, axe: str, run: Run, folder: Path) -> dict[str, list[str]]:
    """Return the findings of the page of an import while the clock works on it, by width. Then cancel the import."""
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
        findings[f"progress of an import {width}"] = list_serious_findings(page, axe)
        expect(page.get_by_role("heading", name="The files are being checked")).to_be_visible()
    page.get_by_role("button", name="Cancel the import").click()
    expect(page.get_by_role("heading", name="The import was cancelled")).to_be_visible()
    findings["cancelled import"] = list_serious_findings(page, axe)
    return findings


def open_schedule(page: Page, run: Run) -> None:
    """Open the page that asks for the time of a selected post."""
    page.goto(f"http://localhost:{run.port}/admin/blog/post/")
    page.locator("input.action-select").first.check()
    page.locator("select[name=action]").select_option("schedule")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".page-title")).to_contain_text("Schedule: 1 post")


def open_conflict(page: Page, run: Run, post: str) -> None:
    """Save a post in two pages that opened the same version. Leaves the conflict open in this page."""
    path = f"http://localhost:{run.port}/admin/blog/post/{post}/change/"
    page.goto(path)
    other = page.context.new_page()
    other.goto(path)
    for each, sentence in ((other, " Their sentence."), (page, " My sentence.")):
        body = each.locator("#id_body")
        body.fill(body.input_value() + sentence)
        with each.expect_navigation():
            each.locator("#submit-row [name=_save]").click()
    other.close()
    expect(page.locator(".page-title")).to_contain_text("has changed since you opened it")


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
    return list_serious_findings(page, axe)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_of_the_admin_have_no_serious_finding(
    checkout: Checkout, browser: Browser, axe: str, scheme: Any, tmp_path: Path
) -> None:
    run = checkout.run().wait_until_ready()
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(f"http://localhost:{run.port}/admin/")
    findings = {f"{scheme} login": list_serious_findings(page, axe)}
    log_in(page, run, checkout)
    ids = {"post": write_history(page, run), **find_rows(page, run), **import_site(page, run, tmp_path)}
    for name, found in list_findings_of_progress(page, axe, run, tmp_path).items():
        findings[f"{scheme} {name}"] = found

    for name, path in PAGES.items():
        for width, height in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            response = page.goto(f"http://localhost:{run.port}{path.format(**ids)}")
            assert response is not None
            assert response.ok is (name != "not found"), (name, response.status)
            page.evaluate(WIDEN_IDS)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            findings[f"{scheme} {name} {width}"] = list_serious_findings(page, axe)

    page.goto(f"http://localhost:{run.port}/admin/blog/post/")
    page.locator("input.action-select").first.check()
    findings[f"{scheme} actions"] = list_serious_findings(page, axe)
    page.get_by_role("button", name="Filters").click()
    expect(page.locator("#changelist-filter")).to_be_visible()
    findings[f"{scheme} filters"] = list_serious_findings(page, axe)
    for name in ("schedule", "conflict", "taken over"):
        findings[f"{scheme} {name}"] = list_findings_on_a_phone(page, axe, run, ids["post"], name)
    page.goto(f"http://localhost:{run.port}/admin/users/apikey/add/")
    page.locator("#id_name").fill("My blog")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Copy the key").click()
    expect(page.get_by_role("button", name=re.compile("Copied|Selected"))).to_be_visible()
    findings[f"{scheme} created key"] = list_serious_findings(page, axe)
    assert {name: found for name, found in findings.items() if found} == {}


def test_keyboard_leaves_every_page(checkout: Checkout, browser: Browser, tmp_path: Path) -> None:
    run = checkout.run().wait_until_ready()
    page = browser.new_context().new_page()
    log_in(page, run, checkout)
    ids = {"post": write_history(page, run), **find_rows(page, run), **import_site(page, run, tmp_path)}
    traps = {}

    for name, path in PAGES.items():
        for key in ("Tab", "Shift+Tab"):
            page.goto(f"http://localhost:{run.port}{path.format(**ids)}")
            traps[f"{name}, {key}"] = find_keyboard_trap(page, key)
    page.goto(f"http://localhost:{run.port}/admin/blog/post/add/")
    for field in ("#id_title", "#id_body", "#id_tags-ts-control"):
        page.locator(field).fill("Text")
        page.keyboard.press("Tab")
        is_left = page.evaluate("selector => !document.activeElement.matches(selector)", field)
        traps[f"typed into {field}"] = "" if is_left else field
    open_conflict(page, run, ids["post"])
    traps["conflict"] = find_keyboard_trap(page, "Tab")

    assert {name: element for name, element in traps.items() if element} == {}


def test_phone_shows_the_list_before_the_filters(checkout: Checkout, browser: Browser) -> None:
    run = checkout.run().wait_until_ready()
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    log_in(page, run, checkout)

    page.goto(f"http://localhost:{run.port}/admin/blog/post/")

    first_row = page.locator("#result_list tbody tr").first.bounding_box()
    assert first_row is not None
    assert first_row["y"] < 844
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_keyboard_opens_the_filters_and_the_editor_reads_local_times(checkout: Checkout, browser: Browser) -> None:
    run = checkout.run().wait_until_ready()
    page = browser.new_context(timezone_id="Pacific/Auckland").new_page()
    log_in(page, run, checkout)
    page.goto(f"http://localhost:{run.port}/admin/blog/post/")

    page.get_by_role("button", name="Filters").focus()
    page.keyboard.press("Enter")

    expect(page.locator("#changelist-filter")).to_be_visible()
    times = page.locator("#result_list time")
    expect(times.first).to_have_text(re.compile(r"Nov 1, 2026, 1:00\sPM"))  # midnight of UTC


def test_user_creates_a_key_which_a_refresh_does_not_show(checkout: Checkout, browser: Browser) -> None:
    run = checkout.run().wait_until_ready()
    page = browser.new_page()
    log_in(page, run, checkout)
    page.goto(f"http://localhost:{run.port}/admin/users/apikey/add/")

    page.locator("#id_name").fill("My blog")
    page.get_by_role("button", name="Save").click()
    secret = page.locator("#secret").inner_text()
    page.reload()

    assert secret not in page.content()
    expect(page.locator("body")).to_contain_text("This request has already created an API key.")
