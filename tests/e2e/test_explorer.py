"""The explorer in Chromium, from both servers: what a person does with it, under the page's own policy."""

import json
import shutil
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, expect, sync_playwright

from contentapi.graphql.explorer import build
from tests.e2e.checkout import Checkout, Run, free_port

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = [
    pytest.mark.processes,
    pytest.mark.thorough,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.skipif(not build.has_node(), reason="Node and npm are not installed, which build the explorer"),
]

WATCH = "addEventListener('securitypolicyviolation', each => console.error(`Policy: ${each.violatedDirective}`))"


class Visit:
    """A page, what its console complained of, and the hosts that it asked."""

    def __init__(self, browser: Browser, run: Run) -> None:
        self.complaints: list[str] = []
        self.hosts: set[str] = set()
        self.page = browser.new_page()
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        self.page.add_init_script(WATCH)
        self.page.goto(f"http://localhost:{run.port}/graphql")
        self.query = self.page.locator(".graphiql-query-editor .CodeMirror")

    def write(self, editor: Locator, text: str) -> None:
        """Put a text in the place of an editor's own."""
        editor.click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)

    def execute(self) -> Locator:
        """Press the button, and return where the response will be."""
        self.page.get_by_label("Execute query").click()
        return self.page.locator(".result-window")


@pytest.fixture
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Chromium's own sandbox is not to be had as root, which CI is; all it is shown here is our own.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, chromium_sandbox=False)
        yield browser
        browser.close()


@pytest.mark.parametrize("server", ["gunicorn", "granian"])
def test_person_uses_the_explorer(checkout: Checkout, browser: Browser, server: str) -> None:
    run = checkout.run(f"SERVER={server}", port=free_port()).wait_until_ready()
    visit = Visit(browser, run)
    page, key = visit.page, (checkout.folder / "var/demo_api_key").read_text()

    expect(visit.execute()).to_contain_text("How we name our boats")

    visit.write(visit.query, "{ ")
    page.keyboard.type("po")
    expect(page.locator(".CodeMirror-hints")).to_contain_text("post")
    page.keyboard.press("Enter")
    expect(visit.query).to_contain_text("{ post")

    page.get_by_label("Show Documentation Explorer").click()
    page.get_by_role("link", name="PostStatus", exact=True).click()
    expect(page.locator(".graphiql-doc-explorer")).to_contain_text("Visible to everybody.")

    page.get_by_role("button", name="Headers").click()
    visit.write(page.locator(".graphiql-editor-tool .CodeMirror:visible"), json.dumps({"X-API-Key": key}))
    visit.write(visit.query, "{ viewer { role } }")
    expect(visit.execute()).to_contain_text('"role": "admin"')

    for dialog in ("Open settings dialog", "Open short keys dialog"):
        page.get_by_label(dialog).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
    page.wait_for_function("JSON.stringify({...localStorage}).includes('viewer')")  # GraphiQL stores the query
    assert key not in page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
    assert (visit.complaints, visit.hosts) == ([], {f"localhost:{run.port}"})


def test_explorer_works_without_introspection(checkout: Checkout, browser: Browser) -> None:
    run = checkout.run(port=free_port(), CONTENTAPI_INTROSPECTION="off").wait_until_ready()

    visit = Visit(browser, run)

    expect(visit.execute()).to_contain_text("How we name our boats")
    assert (visit.complaints, visit.hosts) == ([], {f"localhost:{run.port}"})


def test_page_without_a_build_states_how_to_build_it(checkout: Checkout, browser: Browser) -> None:
    (checkout.folder / "contentapi/static/explorer").unlink()
    assert checkout.manage("migrate", "--verbosity", "0").returncode == 0
    run = checkout.serve_as_the_procfile(free_port()).wait_for("Booting worker")

    visit = Visit(browser, run)

    expect(visit.page.locator("main")).to_contain_text("make explorer")
    visit.page.get_by_role("link", name="schema").click()
    expect(visit.page.locator("body")).to_contain_text("type Query")
    assert [complaint for complaint in visit.complaints if "Policy" in complaint] == []
    assert visit.hosts == {f"localhost:{run.port}"}
