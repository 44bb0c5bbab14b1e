"""/docs, as a browser draws it."""

import shutil
from typing import Any

import pytest

from tests.e2e.checkout import Checkout, free_port
from tests.openapi import OPERATIONS

BROWSER = shutil.which("chromium")

pytestmark = [pytest.mark.thorough, pytest.mark.processes, pytest.mark.skipif(BROWSER is None, reason="needs Chromium")]


def test_browser_renders_the_page_and_tries_an_operation(checkout: Checkout) -> None:
    from playwright.sync_api import sync_playwright  # half a second, for this test alone

    run = checkout.run(port=free_port()).wait_until_ready()
    here, asked, said = f"http://localhost:{run.port}", [], []

    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=BROWSER) as browser:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.add_init_script(
            "window.violations = [];"
            "addEventListener('securitypolicyviolation', event => violations.push(event.violatedDirective))"
        )
        page.goto(f"{here}/docs")
        page.wait_for_selector(".opblock")
        listed = page.locator(".opblock-summary-operation-id").all_inner_texts()
        status = try_out(page, "operations-posts-listPosts")
        violations = page.evaluate("violations")

    assert sorted(listed) == sorted(OPERATIONS)
    assert status == "200"
    assert (said, violations) == ([], [])
    assert [url for url in asked if not url.startswith((f"{here}/", "data:"))] == []


def try_out(page: Any, operation: str) -> str:
    """Send the request that the page offers, and return the status that it shows."""
    block = page.locator(f"#{operation}")
    block.locator(".opblock-summary-control").click()
    block.locator(".try-out__btn").click()
    block.locator(".execute").click()
    status: str = block.locator(".live-responses-table tbody .response-col_status").first.inner_text()
    return status.split()[0]
