"""Editors who use the admin in Chromium, each in a browser of their own."""

import json
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, Page

from tests.deployment.checkout import Checkout, Run
from tests.deployment.live_server import LiveServer

PASSWORD = "a long password of an editor"


def create_editor(checkout: Checkout, name: str, role: str = "editor") -> str:
    """Create an editor, or an author. Return the email."""
    email = f"{name.lower()}@example.com"
    done = checkout.manage(
        "create_user", email, "--name", name, "--role", role, "--password-stdin", given=f"{PASSWORD}\n"
    )
    assert done.returncode == 0, done.stderr
    return email


def log_in(page: Page, email: str) -> None:
    page.goto("/admin/")
    page.get_by_label("Email").fill(email)
    page.locator("#id_password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def open_admin(browser: Browser, server: Run | LiveServer, email: str, **options: Any) -> Page:
    """Return a page of a new browser in which the person is logged in."""
    page = browser.new_context(base_url=f"http://localhost:{server.port}", **options).new_page()
    log_in(page, email)
    page.wait_for_url("**/admin/")
    return page


def make_draft(run: Run) -> str:
    """Create a draft of the admin. Return the path of its form."""
    data = json.dumps({"title": "Of one test", "body": "Text"}).encode()
    headers = {"Content-Type": "application/json", "X-API-Key": run.checkout.key}
    with urlopen(Request(f"http://localhost:{run.port}/posts", data, headers)) as response:
        post = json.load(response)["id"]
    return f"/admin/blog/post/{post}/change/?_changelist_filters=status__exact%3Ddraft"


def find_post(page: Page, status: str) -> str:
    """Return the path of the form of the first post with a status."""
    page.goto(f"/admin/blog/post/?status__exact={status}")
    return page.locator("#result_list a[href*='/change/']").first.get_attribute("href") or ""


def save(page: Page) -> None:
    page.locator("#submit-row [name=_save]").click()
