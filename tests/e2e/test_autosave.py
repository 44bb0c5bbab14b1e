"""Drafts and changes of published posts are saved in Chromium while a person writes."""

import json
import re
from typing import Any
from urllib.request import urlopen

from playwright.sync_api import Locator, Page, Route, expect

from tests.deployment.processes import wait_until
from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.desk_pages import log_in
from tests.e2e.writing import KEPT, Desk, press_save, record_dialogs, wait_for_offers, write

pytestmark = NEEDS_CHROMIUM

SAVED = re.compile("^Saved at ")
PATIENCE = 60_000  # milliseconds; a save begins 5 seconds after the last key


def make_post(desk: Desk, title: str, status: str) -> str:
    """Create a post of the admin. Return its id."""
    code = "from blog import services; from contentapi.core.identity import OPERATOR; from blog.models import Author; "
    made = f"services.create_post(actor=OPERATOR, title={title!r}, body='One', status={status!r}, "
    return desk.execute(f"{code}print({made}author_id=str(Author.objects.get(name='Ada Admin').pk)).pk)").strip()


def open_post(desk: Desk, post: str) -> Page:
    page = desk.open(f"/admin/blog/post/{post}/change/")
    expect(page.locator("#id_body")).to_have_value("One")
    return page


def get_line(page: Page) -> Locator:
    return page.locator(".writing-saved")


def read_public(desk: Desk, post: str) -> Any:
    with urlopen(f"http://localhost:{desk.run.port}/posts/{post}") as response:
        return json.load(response)


def test_draft_is_saved_after_the_last_key_and_then_by_hand_without_a_conflict(desk: Desk) -> None:
    page = open_post(desk, make_post(desk, "Ebb tide", "draft"))
    page.locator("#id_body").press_sequentially(" two")
    expect(get_line(page)).to_have_text(SAVED, timeout=PATIENCE)
    wait_until(lambda: "two" in desk.read_body("Ebb tide"), "the save after the last key")
    page.wait_for_function(f"{KEPT} === 0")

    page.locator("#id_title").fill(" ")
    expect(get_line(page)).to_contain_text("Title: This field is required.", timeout=PATIENCE)
    page.locator("#id_title").fill("Spring tide")
    expect(page.locator("#id_slug")).to_have_value("spring-tide", timeout=PATIENCE)  # by the response to the save
    page.locator("#id_body").fill("Three")
    press_save(page)

    page.wait_for_url("**/admin/blog/post/")
    assert desk.read_body("Spring tide") == "Three"


def test_changes_of_a_published_post_are_saved_marked_and_published(desk: Desk) -> None:
    post = make_post(desk, "Public", "published")
    page = open_post(desk, post)
    page.locator("#id_body").fill("Not public yet")

    expect(get_line(page)).to_have_text(SAVED, timeout=PATIENCE)
    assert read_public(desk, post)["body"] == "One"
    page.goto(desk.get_address("/admin/blog/post/"))
    expect(page.locator("#result_list tr", has_text="Public")).to_contain_text("unpublished changes")
    page.goto(desk.get_address(f"/admin/blog/post/{post}/change/"))
    expect(page.locator("#id_body")).to_have_value("Not public yet")
    page.get_by_role("button", name="Publish changes").click()
    expect(page.locator("body")).to_contain_text("From the present text to the changes")
    page.get_by_role("button", name="Publish changes").click()

    page.wait_for_url("**/admin/blog/post/")
    assert read_public(desk, post)["body"] == "Not public yet"


def test_save_of_another_person_ends_the_saving_and_the_next_save_shows_both_texts(desk: Desk) -> None:
    post = make_post(desk, "Both", "draft")
    page = open_post(desk, post)
    code = "from blog import services; from contentapi.core.identity import OPERATOR; "
    desk.execute(f"{code}services.edit_post(actor=OPERATOR, post_id='{post}', changes={{'body': 'Theirs'}})")
    page.locator("#id_body").fill("Mine")

    expect(get_line(page)).to_contain_text("Somebody else has saved this post", timeout=PATIENCE)
    assert desk.read_body("Both") == "Theirs"
    press_save(page)

    expect(page.locator("body")).to_contain_text("has changed since you opened it")


def test_text_is_saved_by_itself_when_the_server_or_the_session_is_back(desk: Desk) -> None:
    page = open_post(desk, make_post(desk, "Offline", "draft"))
    page.context.set_offline(True)
    page.locator("#id_body").fill("Kept")
    expect(get_line(page)).to_contain_text("The server cannot be reached", timeout=PATIENCE)
    expect(get_line(page)).to_contain_text("tries again by itself")
    assert page.evaluate(KEPT) == 1
    page.context.set_offline(False)
    expect(get_line(page)).to_have_text(SAVED, timeout=PATIENCE)
    desk.wait_for_body("Offline", "Kept")

    desk.execute("from django.contrib.sessions.models import Session; Session.objects.all().delete()")
    page.locator("#id_body").fill("Still here")
    expect(get_line(page)).to_contain_text("Your session has ended", timeout=PATIENCE)
    with page.context.expect_page() as opened:
        get_line(page).get_by_role("link", name="Log in in a new tab").click()
    log_in(opened.value, desk.run, desk.checkout)
    expect(get_line(page)).to_have_text(SAVED, timeout=PATIENCE)
    desk.wait_for_body("Offline", "Still here")


# New posts


def count_posts(desk: Desk, body: str) -> int:
    return int(desk.execute(f"from blog.models import Post; print(Post.objects.filter(body={body!r}).count())"))


def test_new_post_is_a_draft_after_its_first_words(desk: Desk) -> None:
    page = desk.open()
    page.locator("#id_body").press_sequentially("The first words of a story")

    expect(get_line(page)).to_have_text(SAVED, timeout=PATIENCE)
    expect(page.locator("#id_title")).to_have_value("The first words of a story")
    expect(page.get_by_role("button", name="Copy link for a reviewer")).to_be_visible()
    expect(page).to_have_url(re.compile("/admin/blog/post/[0-9]+/change/$"))
    page.locator("#id_title").fill("A story")
    page.locator("#id_body").fill("More words")
    press_save(page)
    page.wait_for_url("**/admin/blog/post/")

    desk.wait_for_body("A story", "More words")
    page.goto("/admin/blog/post/add/")
    wait_for_offers(page)
    expect(page.locator(".writing-notice")).to_have_count(0)


def test_new_post_is_a_draft_after_leaving_and_after_logging_out(desk: Desk) -> None:
    page = desk.open()
    record_dialogs(page)
    write(page, "New and left", "Not lost")
    page.goto("/admin/blog/post/add/")
    desk.wait_for_body("New and left", "Not lost")

    write(page, "New and logged out", "Not lost")
    page.evaluate("document.getElementById('logout-form').requestSubmit()")
    page.wait_for_url("**/logout/")
    desk.wait_for_body("New and logged out", "Not lost")


def test_new_post_whose_response_is_lost_is_one_draft(desk: Desk) -> None:
    page = desk.open()
    lost: list[str] = []

    def lose(route: Route) -> None:
        route.fetch()
        lost.append(route.request.url)
        route.abort()

    page.route("**/new/autosave/", lose, times=1)
    write(page, "Lost response", "Sent twice")
    page.locator("#id_title").press("Control+s")

    expect(get_line(page)).to_have_text(SAVED, timeout=PATIENCE)
    assert len(lost) == 1
    assert count_posts(desk, "Sent twice") == 1


# Links for reviewers


def test_link_for_a_reviewer_shows_what_was_not_saved_and_the_form_stays(desk: Desk) -> None:
    post = make_post(desk, "For a reviewer", "published")
    page = desk.open(f"/admin/blog/post/{post}/change/", permissions=["clipboard-read", "clipboard-write"])
    page.locator("#id_body").fill("Written a moment ago")
    page.get_by_role("button", name="Copy link for a reviewer").click()

    expect(page.locator("#preview-links")).to_contain_text("The text is saved, and the link is copied.")
    expect(page.locator("#id_body")).to_have_value("Written a moment ago")
    link = page.evaluate("navigator.clipboard.readText()")
    reviewer = desk.browser.new_context().new_page()
    reviewer.goto(link)
    expect(reviewer.locator("article")).to_contain_text("Written a moment ago")

    page.locator("#id_title").fill("")
    page.get_by_role("button", name="Copy link for a reviewer").click()
    expect(page.locator("#preview-links")).to_contain_text("The text is not saved")
    expect(get_line(page)).to_contain_text("Title: This field is required.")
