"""The list of posts in Chromium: actions on everything that the filter matches, days of filters, and deletions."""

import re
from typing import Any

from playwright.sync_api import Page, Route, expect

from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.writing import Desk

pytestmark = NEEDS_CHROMIUM
# 115 drafts and, as the newest ones, 5 archived posts
MAKE_POSTS = """
from blog.models import Author, Post
author = Author.objects.first()
for number in range(120):
    status = "archived" if number >= 115 else "draft"
    Post.objects.create(title=f"Log {number}", body="Text.", author=author, tags=["log"], status=status)
"""
LIST = "/admin/blog/post/?tag=log"
WAIT = 60_000  # milliseconds: a slice takes some seconds on a busy machine


def choose(page: Page, action: str) -> None:
    """Run an action on the selected posts, and wait for the page that asks for confirmation, with its script."""
    page.locator("select[name=action]").select_option(action)
    with page.expect_navigation(wait_until="load"):
        page.get_by_role("button", name="Run").click()


def test_actions_work_on_everything_that_the_filter_matches(desk: Desk) -> None:
    desk.execute(MAKE_POSTS)
    page = desk.open("/admin/", timezone_id="Pacific/Auckland")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    # Days of filters
    page.goto(LIST)
    page.get_by_role("button", name="Filters").click()
    days = page.locator("#changelist-filter input[type=date]")
    expect(days).to_have_count(6)
    expect(days.first).to_be_visible()
    expect(page.locator(".timezonewarning")).to_have_count(0)
    page.locator("[name=created_at_from]").fill("2999-01-01")
    page.locator("#filter-form").evaluate("form => form.requestSubmit()")
    page.wait_for_url(re.compile("created_at_from=2999-01-01"))
    expect(page.locator("body")).to_contain_text("No posts match", timeout=WAIT)

    # All posts of the filter: the second slice waits until the run is stopped
    page.goto(LIST)
    page.locator(".action-toggle").check()
    page.get_by_role("link", name="Select all 120 posts").click()
    choose(page, "archive")
    expect(page.locator(".action-title")).to_have_text("Archive: 120 posts", timeout=WAIT)
    held: list[Route] = []
    sent: list[Any] = []

    def hold_second(route: Route) -> None:
        sent.append(route)
        if len(sent) == 2:
            held.append(route)
        else:
            route.continue_()

    page.route("**/admin/blog/post/bulk/**", hold_second)
    page.get_by_role("button", name="Archive: 120 posts").click()
    progress = page.locator("[data-bulk-text]")
    expect(progress).to_have_text("50 of 120 posts · 45 archived · 5 not archived", timeout=WAIT)
    for _ in range(WAIT // 50):
        if not held:  # the request of the second slice is on its way
            page.wait_for_timeout(50)
    page.get_by_role("button", name="Stop").click()
    held[0].continue_()
    expect(progress).to_have_text(
        "100 of 120 posts · 95 archived · 5 not archived. Stopped. 20 posts stay as they were.", timeout=WAIT
    )
    page.get_by_role("button", name="Continue: 20 posts").click()
    expect(progress).to_have_text("120 of 120 posts · 115 archived · 5 not archived. Finished.", timeout=WAIT)
    refused = page.locator("[data-bulk-refused] details")
    expect(refused).to_contain_text("Not archived: 5 posts. A post that is archived cannot be archived.")
    expect(refused.locator("a[href*='/change/']")).to_have_count(5)
    assert len(sent) == 3

    # A failure of the network does not lose the posts that are left
    page.goto(LIST)
    page.locator(".action-toggle").check()
    page.get_by_role("link", name="Select all 120 posts").click()
    choose(page, "unarchive")
    page.context.set_offline(True)
    page.get_by_role("button", name="Take out of the archive: 120 posts").click()
    expect(page.locator("[data-bulk-problem]")).to_contain_text("The server cannot be reached.", timeout=WAIT)
    page.context.set_offline(False)
    page.get_by_role("button", name="Continue: 120 posts").click()
    expect(progress).to_have_text("120 of 120 posts · 120 taken out of the archive. Finished.", timeout=WAIT)
    page.get_by_role("link", name="Back to the list").click()
    page.wait_for_url(re.compile("tag=log"))

    # Deletions, of one post and of two
    page.locator("#result_list tbody th a").first.click()
    page.goto(page.url.split("?")[0].replace("/change/", "/delete/"))
    expect(page.locator("#content-main")).to_contain_text("For 30 days you can restore it")
    page.get_by_role("button", name="Yes, delete the post").click()
    page.wait_for_url(re.compile(r"/admin/blog/post/(\?.*)?$"))
    page.goto(LIST)
    for box in page.locator("input.action-select").all()[:2]:
        box.check()
    choose(page, "delete_selected")
    expect(page.locator("#content-main")).to_contain_text("For 30 days you can restore them")
    page.get_by_role("button", name="Delete: 2 posts").click()
    expect(page.locator("body")).to_contain_text("2 posts are deleted.", timeout=WAIT)
    expect(page.locator("body")).to_contain_text("117 posts")
    assert errors == []
