"""The pages for developers have no serious finding of axe-core, in dark mode and on a phone in light mode."""

import shutil

import pytest
from playwright.sync_api import Browser, expect

from contentapi.frontend import build
from tests.deployment.checkout import Checkout
from tests.deployment.live_server import LiveServer
from tests.e2e.accessibility import find_keyboard_trap, list_serious_findings
from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.page_visits import FORMS, Visit

pytestmark = [
    *NEEDS_CHROMIUM,
    pytest.mark.skipif(not build.has_node(), reason="Node and npm are not installed"),
    pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed, which installs axe-core"),
]


OPERATION = "tag/posts/POST/posts"


def test_pages_have_no_serious_finding(demo_server: LiveServer, browser: Browser, axe: str) -> None:
    origin, findings = demo_server.address, {}

    for form in ("dark", "phone"):
        context = FORMS[form]
        for path in ("/", "/docs", "/graphql"):
            visit = Visit(browser, origin, path, **context, bypass_csp=True)
            if path == "/graphql":
                expect(visit.execute()).to_contain_text("How we name our boats")
            assert visit.page.evaluate("document.documentElement.scrollWidth") <= context["viewport"]["width"], path
            findings[f"{path} {form}"] = list_serious_findings(visit.page, axe)
            if path == "/docs":
                visit.page.evaluate("address => { location.hash = address }", OPERATION)
                visit.page.locator(f"[id='api-1/{OPERATION}'] .operation-title").wait_for()
                assert visit.page.evaluate("document.documentElement.scrollWidth") <= context["viewport"]["width"], form
                findings[f"{OPERATION} {form}"] = list_serious_findings(visit.page, axe)
            if path == "/graphql":
                for panel in ("Documentation Explorer", "Credential"):
                    visit.page.get_by_role("button", name=f"Show {panel}").click()
                    findings[f"{panel} {form}"] = list_serious_findings(visit.page, axe)
            visit.page.context.close()

    assert {name: found for name, found in findings.items() if found} == {}
    assert find_keyboard_trap(Visit(browser, origin, "/").page, "Tab") == ""


def test_pages_without_a_build_name_it_and_have_no_serious_finding(
    checkout: Checkout, browser: Browser, axe: str
) -> None:
    (checkout.folder / "contentapi/static/frontend").unlink()
    assert checkout.manage("migrate", "--verbosity", "0").returncode == 0
    run = checkout.serve_as_the_procfile().wait_for("Booting worker")
    page, findings = browser.new_context(**FORMS["phone"], bypass_csp=True).new_page(), {}

    for path in ("/", "/docs", "/graphql"):
        page.goto(f"http://localhost:{run.port}{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
        findings[path] = list_serious_findings(page, axe)
    expect(page.locator("main")).to_contain_text("make pages")
    page.get_by_role("link", name="schema").click()
    expect(page.locator("body")).to_contain_text("type Query")

    assert {name: found for name, found in findings.items() if found} == {}
