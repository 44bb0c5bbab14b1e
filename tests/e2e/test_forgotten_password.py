"""A person in Chromium who forgot the password: from the login by the mail to a new password and the desk."""

import re
import shutil
from email import message_from_bytes, policy
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.deployment.checkout import Checkout
from tests.deployment.processes import wait_until
from tests.e2e.accessibility import install_axe, list_serious_findings_of_the_desk
from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.editors import create_editor

NEW = "fourteen lamps and a harbour"

pytestmark = [
    *NEEDS_CHROMIUM,
    pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed, which installs axe-core"),
]


def read_link(folder: Path) -> str:
    """Return the link in the only mail of a folder; nothing if there is none yet."""
    for file in folder.glob("*.log"):
        message = message_from_bytes(file.read_bytes(), policy=policy.default)
        found = re.search(r"http://localhost:\S+/admin/password/link\?\S+", message.get_content())
        if found:
            return found[0]
    return ""


def test_person_who_forgot_the_password_chooses_a_new_one(checkout: Checkout, browser: Browser, tmp_path: Path) -> None:
    folder, axe = tmp_path / "mails", install_axe(tmp_path)
    run = checkout.run(EMAIL_URL=f"file://{folder}").wait_until_ready()
    email = create_editor(checkout, "Ada")
    page = browser.new_context(color_scheme="light", bypass_csp=True).new_page()
    page.goto(f"http://localhost:{run.port}/admin/")
    findings = list_serious_findings_of_the_desk(page, axe)

    page.get_by_role("link", name="Forgot your password?").click()
    findings += list_serious_findings_of_the_desk(page, axe)
    page.get_by_label("Email").fill(email)
    page.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("heading", name="Look into your mail")).to_be_visible()
    findings += list_serious_findings_of_the_desk(page, axe)
    wait_until(lambda: read_link(folder), "the mail")

    page.goto(read_link(folder))
    page.get_by_label("New password", exact=True).fill("short")
    page.get_by_label("New password, again").fill("short")
    page.get_by_role("button", name="Set the password").click()
    expect(page.get_by_role("alert")).to_contain_text("This password is too short.")
    findings += list_serious_findings_of_the_desk(page, axe)
    page.get_by_label("New password", exact=True).fill(NEW)
    page.get_by_label("New password, again").fill(NEW)
    page.get_by_role("button", name="Set the password").click()
    expect(page.get_by_role("heading", name="Your password is set")).to_be_visible()
    findings += list_serious_findings_of_the_desk(page, axe)

    page.get_by_role("link", name="Log in to the editors' desk").click()
    page.get_by_label("Email").fill(email)
    page.locator("#id_password").fill(NEW)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"http://localhost:{run.port}/admin/")
    page.goto(read_link(folder))
    expect(page.get_by_role("heading", name="This link is not valid")).to_be_visible()
    findings += list_serious_findings_of_the_desk(page, axe)
    assert findings == []
    assert "token=" not in run.log.read_text()
