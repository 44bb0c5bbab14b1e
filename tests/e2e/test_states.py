"""An editor schedules a post in Chromium, in a zone other than UTC, and sees it published by the worker."""

import json
import re
import time
from http import HTTPStatus
from urllib.error import HTTPError
from urllib.request import urlopen

from playwright.sync_api import Page, expect

from tests.deployment.checkout import Run
from tests.deployment.processes import PATIENCE
from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.writing import Desk, save

pytestmark = NEEDS_CHROMIUM


def read_status(run: Run, post: str) -> str:
    """Return the status of a post as readers see it; nothing if they do not."""
    try:
        with urlopen(f"http://localhost:{run.port}/posts/{post}") as response:
            return str(json.load(response)["status"])
    except HTTPError as error:
        return "" if error.code == HTTPStatus.NOT_FOUND else f"error {error.code}"


def press_twice(page: Page, label: str) -> None:
    """Press a button of the state, and then the one of the dialog that asks."""
    page.get_by_role("button", name=label).first.click()
    page.get_by_role("dialog").get_by_role("button", name=label).click()


def test_editor_schedules_a_post_sees_it_published_and_archives_it(desk: Desk) -> None:
    email, post = desk.make_user("Una"), desk.make_draft()
    path = f"/admin/blog/post/{post}/change/"
    page = desk.open(path, email=email, timezone_id="Pacific/Auckland")
    state = page.locator("#post-state")
    page.locator("[name=schedule_at_local]").fill("2030-07-01T09:00")
    expect(state).to_contain_text(re.compile(r"by itself on July 1, 2030 at 9:00\sAM \(Pacific/Auckland\)\."))
    state.get_by_role("button", name="Schedule").click()
    expect(page.locator("body")).to_contain_text("will be published on")

    berlin = desk.open(path, email=email, timezone_id="Europe/Berlin")
    expect(berlin.locator("[name=schedule_at_local]")).to_have_value(re.compile("2030-06-30T23:00"))
    expect(berlin.locator(".local-time-zone")).to_have_text("Europe/Berlin")
    berlin.locator("#id_title").fill("The tide of tonight")
    save(berlin)
    plain = desk.open(path, email=email, java_script_enabled=False)
    expect(plain.locator("[name=schedule_at_local]")).to_have_value(re.compile("2030-06-30T21:00"))
    expect(plain.locator(".local-time-zone")).to_have_text("UTC")

    assert read_status(desk.run, post) == ""
    desk.execute(
        "from blog.models import Post; from django.utils import timezone; "
        f"Post.objects.filter(pk={post}).update(publish_at=timezone.now())"
    )
    deadline = time.monotonic() + PATIENCE
    while read_status(desk.run, post) != "published":
        assert time.monotonic() < deadline, "The worker has not published the post."
        time.sleep(0.5)
    page.goto(path)
    expect(page.locator(".post-state-line")).to_contain_text("Published at")
    press_twice(page, "Archive")
    expect(page.locator("body")).to_contain_text("is in the archive.")
    assert read_status(desk.run, post) == ""
    page.goto(path)
    press_twice(page, "Publish again")
    expect(page.locator("body")).to_contain_text("is public again.")
    assert read_status(desk.run, post) == "published"
