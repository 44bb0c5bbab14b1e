"""An editor schedules a post in Chromium, in a zone other than UTC, and sees it published by the worker."""

import json
import re
import time
from http import HTTPStatus
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.deployment.checkout import Run
from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.editors import create_editor, find_post, make_draft, open_admin, save
from tests.e2e.writing import Desk

pytestmark = NEEDS_CHROMIUM
AUCKLAND = "Pacific/Auckland"
SECONDS = 20  # until the time of the schedule, in which the form is sent and answered on a busy machine
PATIENCE = 60  # seconds; the worker publishes a post at most 10 seconds after its time
# The time that the clocks of the browser show in some seconds, as a field for a local time has it
LATER = "seconds => new Date(Date.now() + 1000 * seconds).toLocaleString('sv').replace(' ', 'T')"


@pytest.fixture(scope="session")
def email(desk_of_all_modules: Desk) -> str:
    return create_editor(desk_of_all_modules.checkout, "Una")


def read_status(run: Run, path: str) -> str:
    """Return the status of the post of a form as readers see it; nothing if they do not."""
    post = re.search(r"/post/(\d+)/", path)
    assert post
    try:
        with urlopen(f"http://localhost:{run.port}/posts/{post[1]}") as response:
            return str(json.load(response)["status"])
    except HTTPError as error:
        return "" if error.code == HTTPStatus.NOT_FOUND else f"error {error.code}"


def fill_time(page: Page, local: str) -> None:
    page.locator("[name=schedule_at_local]").fill(local)


def test_editor_schedules_a_post_and_sees_it_published(desk: Desk, email: str) -> None:
    page = open_admin(desk.browser, desk.run, email, timezone_id=AUCKLAND)
    path = make_draft(desk.run)
    page.goto(path)
    state = page.locator("#post-state")
    page.locator("#id_title").fill("The tide of tonight")

    fill_time(page, "2030-07-01T09:00")
    expect(state).to_contain_text(re.compile(r"by itself on July 1, 2030 at 9:00\sAM \(Pacific/Auckland\)\."))
    fill_time(page, page.evaluate(LATER, SECONDS))
    state.get_by_role("button", name="Schedule").click()

    expect(page.locator("body")).to_contain_text("“The tide of tonight” will be published on")
    assert read_status(desk.run, path) == ""
    deadline = time.monotonic() + SECONDS + PATIENCE
    while read_status(desk.run, path) != "published" and time.monotonic() < deadline:
        time.sleep(0.2)
    assert read_status(desk.run, path) == "published"
    page.goto(path)
    expect(page.locator(".post-state-line")).to_contain_text("Published at")


def test_scheduled_time_is_shown_in_the_zone_of_the_editor_and_kept_by_a_save(desk: Desk, email: str) -> None:
    page = open_admin(desk.browser, desk.run, email, timezone_id=AUCKLAND)
    path = make_draft(desk.run)
    page.goto(path)
    fill_time(page, "2030-07-01T09:00")
    page.get_by_role("button", name="Schedule").click()
    expect(page.locator("body")).to_contain_text("will be published on")

    berlin = open_admin(desk.browser, desk.run, email, timezone_id="Europe/Berlin")
    berlin.goto(path)
    expect(berlin.locator("[name=schedule_at_local]")).to_have_value(re.compile("2030-06-30T23:00"))
    expect(berlin.locator(".local-time-zone")).to_have_text("Europe/Berlin")
    berlin.locator("#id_title").fill("New title")
    save(berlin)
    berlin.wait_for_url("**/admin/blog/post/?*")

    plain = open_admin(desk.browser, desk.run, email, java_script_enabled=False)
    plain.goto(path)
    expect(plain.locator("#id_title")).to_have_value("New title")
    expect(plain.locator("[name=schedule_at_local]")).to_have_value(re.compile("2030-06-30T21:00"))
    expect(plain.locator(".local-time-zone")).to_have_text("UTC")


def test_archived_post_is_published_again_by_one_button(desk: Desk, email: str) -> None:
    page = open_admin(desk.browser, desk.run, email)
    path = find_post(page, "published")
    page.goto(path)
    page.get_by_role("button", name="Archive").click()
    page.get_by_role("dialog").get_by_role("button", name="Archive").click()
    expect(page.locator("body")).to_contain_text("is in the archive.")
    assert read_status(desk.run, path) == ""

    page.goto(path)
    page.locator("#submit-row").get_by_role("button", name="Publish again").click()
    page.get_by_role("dialog").get_by_role("button", name="Publish again").click()

    expect(page.locator("body")).to_contain_text("is public again.")
    assert read_status(desk.run, path) == "published"


def test_enter_in_a_field_saves_and_publishes_nothing(desk: Desk, email: str) -> None:
    page = open_admin(desk.browser, desk.run, email)
    path = make_draft(desk.run)
    page.goto(path)
    page.locator("#id_title").fill("New title")
    page.locator("[name=schedule_at_local]").press("Enter")

    page.wait_for_url("**/admin/blog/post/?*")
    page.goto(path)
    expect(page.locator("#id_title")).to_have_value("New title")
    expect(page.locator(".post-state-line")).to_contain_text("Draft")


def test_posts_are_scheduled_from_the_list(desk: Desk, email: str) -> None:
    page = open_admin(desk.browser, desk.run, email, timezone_id=AUCKLAND)
    make_draft(desk.run)
    page.goto("/admin/blog/post/?status__exact=draft")
    page.locator("input.action-select").first.check()
    page.locator("select[name=action]").select_option("schedule")
    page.get_by_role("button", name="Run").click()

    expect(page.locator(".local-time-zone")).to_have_text(AUCKLAND)
    fill_time(page, "2030-07-01T09:00")
    page.get_by_role("button", name="Schedule: 1 post").click()

    expect(page.locator("body")).to_contain_text(re.compile(r"will be published on Jul 1, 2030, 9:00\sAM"))
