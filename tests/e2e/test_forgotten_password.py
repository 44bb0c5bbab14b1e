"""A person in Chromium who forgot the password: from the login by the mail to a new password and the desk."""

import re
import shutil
from email import message_from_bytes, policy
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.deployment.processes import wait_until
from tests.e2e.accessibility import list_serious_findings_of_the_desk
from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.writing import Desk

OLD = "a long password of an editor"
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


def test_person_who_forgot_the_password_chooses_a_new_one(desk: Desk, axe: str) -> None:
    email = desk.make_user("Nora", password=OLD)
    page = desk.browser.new_context(base_url=desk.get_address(""), color_scheme="light", bypass_csp=True).new_page()
    page.goto("/admin/")
    findings = list_serious_findings_of_the_desk(page, axe)

    page.get_by_role("link", name="Forgot your password?").click()
    findings += list_serious_findings_of_the_desk(page, axe)
    page.get_by_label("Email").fill(email)
    page.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("heading", name="Look into your mail")).to_be_visible()
    findings += list_serious_findings_of_the_desk(page, axe)
    wait_until(lambda: read_link(desk.mails), "the mail")

    page.goto(read_link(desk.mails))
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
    page.wait_for_url("**/admin/")
    page.goto(read_link(desk.mails))
    expect(page.get_by_role("heading", name="This link is not valid")).to_be_visible()
    findings += list_serious_findings_of_the_desk(page, axe)
    assert findings == []
    assert "token=" not in desk.run.log.read_text()
