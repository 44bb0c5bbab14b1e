"""The list of posts in Chromium: tabs, dates, tags, the question before a publication."""

import re

from playwright.sync_api import Browser, Page, expect

from tests.deployment.live_server import Site
from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.desk_pages import send_login

pytestmark = NEEDS_CHROMIUM
DRAFT = "Notes for the winter issue"
LINES_OF_TIMES = "times => times.map((time) => time.getClientRects().length)"


def open_tab(page: Page, tab: str) -> None:
    page.goto("/admin/blog/post/")
    tabs = page.get_by_role("navigation", name="Posts by status")
    tabs.get_by_role("link", name=tab).click()
    expect(tabs.locator("[aria-current]")).to_have_text(tab)


def publish(page: Page) -> None:
    page.locator("#submit-row").get_by_role("button", name="Publish now").click()


def test_editor_finds_schedules_and_publishes_posts(site: Site, browser: Browser) -> None:
    with site.serve("granian") as server:
        page = browser.new_context(base_url=server.address, locale="de-DE", timezone_id="Pacific/Auckland").new_page()
        send_login(page, server.address, site.var)

        # A time has the form of the browser's language, and one line.
        page.goto("/admin/blog/post/")
        times = page.locator("#result_list time")
        expect(times.first).to_have_text("01.11.2026, 13:00")  # midnight of UTC
        assert set(times.evaluate_all(LINES_OF_TIMES)) == {1}

        # The filter by tag is completed, and the tabs keep it.
        page.get_by_role("button", name="Filters").press("Enter")
        page.locator("#changelist-filter [name=tag]").press_sequentially("harb")
        suggestions = page.locator("#changelist-filter datalist option")
        expect(suggestions).to_have_count(1)
        expect(suggestions).to_have_attribute("value", "harbour")
        page.locator("#changelist-filter [name=tag]").fill("kitchen")
        page.get_by_role("button", name="Apply Filters").click()
        tabs = page.get_by_role("navigation", name="Posts by status")
        tabs.get_by_role("link", name="Drafts").click()
        expect(page).to_have_url(re.compile(r"status__exact=draft.*tag=kitchen"))
        expect(page.locator("#result_list tbody tr")).to_have_count(1)

        # A scheduled post shows its time in the list of all posts, and in a column of its own.
        page.get_by_role("link", name=DRAFT).click()
        page.locator("[name=schedule_at_local]").fill("2100-07-01T09:00")
        page.get_by_role("button", name="Schedule").click()
        message = page.locator("a.message-link")
        expect(message).to_have_text(DRAFT)
        open_tab(page, "All")
        expect(page.locator("#result_list")).to_contain_text(re.compile(r"scheduled for\s+01\.07\.2100, 09:00", re.I))
        open_tab(page, "Scheduled")
        expect(page.locator("#result_list [data-label='Publish at'] time")).to_have_text("01.07.2100, 09:00")
        page.get_by_role("link", name="Publish at").click()
        expect(page).to_have_url(re.compile("o="))

        # “Publish now” asks once, and says if the text is empty. The message leads to the post.
        page.get_by_role("link", name=DRAFT).click()
        body, question = page.locator("#id_body"), page.get_by_role("dialog")
        text = body.input_value()
        body.fill(" \n")
        publish(page)
        expect(question).to_contain_text(f"Publish “{DRAFT}” now?")
        expect(question).to_contain_text("The text is empty.")
        question.get_by_role("button", name="Cancel").click()
        expect(question).to_be_hidden()
        expect(page.locator(".post-state-line")).to_contain_text("Scheduled for")
        body.fill(text)
        publish(page)
        expect(question).not_to_contain_text("The text is empty.", use_inner_text=True)
        question.get_by_role("button", name="Publish now").click()
        expect(page.locator("body")).to_contain_text(f"“{DRAFT}” is public now.")
        message.click()
        expect(page.locator(".post-state-line")).to_contain_text("Status: Published at")
        expect(page.locator("#id_body")).to_have_value(text)

        # After a restore, the history says so.
        post = page.url.split("/")[-3]
        deletion = page.request.delete(f"{server.address}/posts/{post}", headers={"X-API-Key": site.key})
        assert deletion.status == 204
        page.goto("/admin/blog/post/deleted/")
        page.get_by_role("button", name=f"Restore {DRAFT}").click()
        expect(page.locator("body")).to_contain_text("public again at once")
        page.get_by_role("button", name="Restore: 1 post").click()
        expect(page.locator("body")).to_contain_text("is restored.")
        page.goto(f"/admin/blog/post/{post}/history/")
        expect(page.locator("table.history tbody tr").first).to_contain_text("restored")
