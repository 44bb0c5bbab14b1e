"""Two editors with the same post open, each in a browser of their own: nobody loses what they typed."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.editors import create_editor, make_draft, open_admin, save
from tests.e2e.writing import KEPT, Desk

pytestmark = NEEDS_CHROMIUM
BODY = "One\ntwo\nthree\nfour\nfive\n"


@pytest.fixture(scope="session")
def emails(desk_of_all_modules: Desk) -> list[str]:
    return [create_editor(desk_of_all_modules.checkout, name) for name in ("Ada", "Ben")]


def write_body(page: Page, path: str, body: str) -> None:
    page.goto(path)
    page.locator("#id_body").fill(body)
    save(page)
    page.wait_for_url("**/admin/blog/post/?*")


def read_body(page: Page, path: str) -> str:
    page.goto(path)
    return page.locator("#id_body").input_value()


def test_second_editor_is_warned_sees_the_difference_and_merges(desk: Desk, emails: list[str]) -> None:
    ada, ben = (open_admin(desk.browser, desk.run, email, timezone_id="Europe/Berlin") for email in emails)
    path = make_draft(desk.run)
    write_body(ada, path, BODY)
    ada.goto(path)
    ada.wait_for_load_state("networkidle")
    ben.goto(path)
    expect(ben.locator("#post-presence")).to_contain_text(re.compile(r"Ada has had this post open since .*\d"))

    ada.locator("#id_body").fill(BODY.replace("five", "Ada's five"))
    save(ada)
    ada.wait_for_url("**/admin/blog/post/?*")
    ben.locator("#id_body").fill(BODY.replace("One", "Ben's one"))
    save(ben)

    page = ben.locator("#content-main")
    expect(page).to_contain_text("Your changes are not saved yet.")
    expect(page).to_contain_text("Ada, in the admin: text")
    expect(page.locator("del.line", has_text="Ada's five")).to_be_visible()
    expect(page.locator("ins.line", has_text="Ben's one")).to_be_visible()
    ben.wait_for_function("document.querySelector('.writing-notices') !== null")  # the scripts have run
    expect(ben.get_by_role("button", name="Restore my text")).to_have_count(0)
    assert ben.evaluate(KEPT) == 1
    ben.get_by_role("button", name="Save the merged version").click()
    ben.wait_for_url("**/admin/blog/post/?*")
    ben.wait_for_function(f"{KEPT} === 0")

    assert read_body(ada, path) == BODY.replace("One", "Ben's one").replace("five", "Ada's five")
    expect(ada.locator("#post-presence")).to_be_empty()


def test_version_is_kept_and_taken_over_without_javascript(desk: Desk, emails: list[str]) -> None:
    ada = open_admin(desk.browser, desk.run, emails[0])
    ben = open_admin(desk.browser, desk.run, emails[1], java_script_enabled=False)
    path = make_draft(desk.run)
    ben.goto(path)
    write_body(ada, path, "Ada's text")
    ben.locator("#id_body").fill("Ben's text")
    save(ben)
    ben.get_by_role("button", name="Keep my version").click()
    ben.wait_for_url("**/admin/blog/post/?*")
    assert read_body(ada, path) == "Ben's text"

    ben.goto(path)
    write_body(ada, path, "Ada's second text")
    ben.locator("#id_body").fill("Ben's second text")
    save(ben)
    ben.get_by_role("button", name="Take over the other version").click()

    expect(ben.locator("#my-text")).to_have_value("Ben's second text")
    assert read_body(ada, path) == "Ada's second text"


def test_text_for_a_deleted_post_is_kept_and_the_post_restored(desk: Desk, emails: list[str]) -> None:
    ada, ben = (open_admin(desk.browser, desk.run, email) for email in emails)
    path = make_draft(desk.run)
    ben.goto(path)
    ada.goto(path.split("?")[0].replace("/change/", "/delete/"))
    ada.get_by_role("button", name="Yes").click()
    expect(ada.locator("body")).to_contain_text("was deleted successfully")
    ben.locator("#id_body").fill("Ben's text")
    save(ben)

    expect(ben.locator("#my-text")).to_have_value("Ben's text")
    with ben.context.expect_page() as opened:
        ben.get_by_role("button", name="Restore the post").click()
    expect(opened.value.locator("body")).to_contain_text("is restored.")
    expect(ben.locator("#my-text")).to_have_value("Ben's text")
