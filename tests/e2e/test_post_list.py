"""The list of posts in Chromium: tabs, dates, tags, the question before a publication; and who may use the desk."""

import re

from playwright.sync_api import Browser, Page, expect

from tests.deployment.live_server import Site
from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.editors import PASSWORD, log_in, open_admin, save

pytestmark = NEEDS_CHROMIUM
DRAFT = "Notes for the winter issue"
LINES_OF_TIMES = "times => times.map((time) => time.getClientRects().length)"


def create_user(site: Site, name: str, role: str) -> str:
    """Create a user with the password of the editors. Return the email."""
    email = f"{name.lower()}@example.com"
    options = ["--name", name, "--role", role, "--password-stdin"]
    site.manage("create_user", email, *options, given=f"{PASSWORD}\n")
    return email


def open_tab(page: Page, tab: str) -> None:
    page.goto("/admin/blog/post/")
    tabs = page.get_by_role("navigation", name="Posts by status")
    tabs.get_by_role("link", name=tab).click()
    expect(tabs.locator("[aria-current]")).to_have_text(tab)


def publish(page: Page) -> None:
    page.locator("#submit-row").get_by_role("button", name="Publish now").click()


def test_editor_finds_schedules_and_publishes_posts(site: Site, browser: Browser) -> None:
    email = create_user(site, "Ada", "editor")
    with site.serve("granian") as server:
        page = open_admin(browser, server, email, locale="de-DE", timezone_id="Pacific/Auckland")

        # A time has the form of the browser's language, and one line.
        page.goto("/admin/blog/post/")
        times = page.locator("#result_list time")
        expect(times.first).to_have_text("01.11.2026, 13:00")  # midnight of UTC
        assert set(times.evaluate_all(LINES_OF_TIMES)) == {1}

        # The filter by tag is completed, and the tabs keep it.
        page.get_by_role("button", name="Filters").click()
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
        expect(page.locator("body")).to_contain_text(f"Public again at once: “{DRAFT}”")
        page.get_by_role("button", name="Restore", exact=True).click()
        expect(page.locator("body")).to_contain_text("is restored.")
        page.goto(f"/admin/blog/post/{post}/history/")
        expect(page.locator("table.history tbody tr").first).to_contain_text("restored")


def test_reader_is_refused_with_a_reason_and_a_save_changes_the_notice(site: Site, browser: Browser) -> None:
    emails = [create_user(site, name, "editor") for name in ("Ada", "Ben")]
    reader = create_user(site, "Rosa", "reader")
    with site.serve("granian") as server:
        page = browser.new_context(base_url=server.address).new_page()
        log_in(page, reader)
        expect(page.locator("body")).to_contain_text("The desk is for authors and editors.")
        page.goto("/oauth/login")
        page.get_by_label("Email").fill(reader)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in").click()
        expect(page.locator("body")).to_contain_text("You are logged in")
        page.goto("/admin/")
        expect(page.locator("body")).to_contain_text("The desk is for authors and editors.")

        ada, ben = (open_admin(browser, server, email) for email in emails)
        open_tab(ada, "Drafts")
        ada.get_by_role("link", name=DRAFT).click()
        ada.wait_for_load_state("networkidle")
        ben.goto(ada.url)
        notice = ben.locator("#post-presence")
        expect(notice).to_contain_text("Ada has had this post open since")
        ada.locator("#id_title").fill("Notes of Ada")
        save(ada)
        ada.wait_for_url("**/admin/blog/post/?*")
        expect(notice).to_contain_text("Ada saved this post at")
        expect(notice).not_to_contain_text("has had this post open")
        notice.get_by_role("link", name="Load the present version").click()
        expect(ben.locator("#id_title")).to_have_value("Notes of Ada")
        expect(notice).to_be_empty()
