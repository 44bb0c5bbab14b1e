"""Texts in Chromium that survive a crash, a lost session and a lost network."""

import re

import pytest
from playwright.sync_api import Error as BrowserError
from playwright.sync_api import Page, expect

from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.desk_pages import log_in
from tests.e2e.writing import (
    EXACT,
    KEPT,
    Desk,
    get_tags,
    press_save,
    record_dialogs,
    refuse_autosaves,
    save,
    set_text,
    wait_for_offers,
    write,
)

pytestmark = NEEDS_CHROMIUM

ALL_KEPT = "Object.entries(localStorage).filter(([key]) => key.startsWith('kept-text:'))"


def wait_until_kept(page: Page, text: str) -> None:
    page.wait_for_function("text => Object.values(localStorage).some((value) => value.includes(text))", arg=text)


def test_text_that_is_too_long_for_a_request_stays_on_the_page(desk: Desk) -> None:
    page = desk.open()
    page.locator("#id_title").fill("Too long")
    set_text(page, "a line of text and so on\n" * 10_000)

    press_save(page)

    notice = page.locator(".writing-notices .problem")
    expect(notice).to_contain_text("The text has 50,000 characters too many. Nothing is saved yet.")
    assert len(page.locator("#id_body").input_value()) == 250_000
    assert page.url == desk.get_address("/admin/blog/post/add/")


def crash(page: Page, desk: Desk, text: str) -> Page:
    """Let the tab crash when it has kept a text. Return the form of a new post in another tab."""
    wait_until_kept(page, text)
    with pytest.raises(BrowserError):
        page.goto("chrome://crash")
    again = page.context.new_page()
    again.goto(desk.get_address("/admin/blog/post/add/"))
    return again


# Texts that survive


def test_text_survives_the_crash_of_a_tab_and_is_offered(desk: Desk) -> None:
    page = desk.open()
    refuse_autosaves(page)
    write(page, "Crash", EXACT)
    get_tags(page).fill("kept")
    page.keyboard.press("Enter")

    again = crash(page, desk, "kept")
    notice = again.locator(".writing-notice.offer")
    expect(notice).to_contain_text(re.compile("This browser has kept “.+”, a text of .* that was not saved"))
    expect(again.locator("#id_body")).to_have_value("")  # nothing is overwritten
    notice.get_by_role("button", name="Restore my text").click()

    expect(again.locator("#id_body")).to_have_value(EXACT)
    expect(again.locator("#id_title")).to_have_value("Crash")
    expect(again.locator(".ts-wrapper .item")).to_contain_text("kept")
    save(again)
    assert desk.read_body("Crash") == EXACT
    again.wait_for_function(f"{KEPT} === 0")


def test_save_that_cannot_be_sent_says_why_and_the_text_stays(desk: Desk) -> None:
    page = desk.open()
    body, notice = page.locator("#id_body"), page.locator(".writing-notice.problem")
    refuse_autosaves(page)
    write(page, "Not sent", "Still here.")
    page.context.set_offline(True)
    press_save(page)
    expect(notice).to_contain_text("The server cannot be reached. Nothing is saved yet")
    assert "Still here." in str(page.evaluate(ALL_KEPT))
    page.context.set_offline(False)

    page.route("**/admin/blog/post/session/", lambda route: route.fulfill(json={"user": "0", "token": "x"}))
    press_save(page)
    expect(notice).to_contain_text("Another user has logged in in this browser.")
    page.unroute("**/admin/blog/post/session/")

    desk.execute("from django.contrib.sessions.models import Session; Session.objects.all().delete()")
    press_save(page)
    expect(notice).to_contain_text("Your session has ended. Nothing is saved yet; your text is kept.")
    expect(body).to_have_value("Still here.")
    with page.context.expect_page() as opened:
        notice.get_by_role("link", name="Log in in a new tab").click()
    log_in(opened.value, desk.run, desk.checkout)
    save(page)
    assert desk.read_body("Not sent") == "Still here."


def test_leaving_asks_for_confirmation_only_if_something_differs(desk: Desk) -> None:
    page = desk.open()
    refuse_autosaves(page)
    dialogs = record_dialogs(page)
    page.locator("#id_body").press_sequentially("x")
    page.locator("#id_body").press("Backspace")
    page.reload()
    assert dialogs == []

    page.locator("#id_body").press_sequentially("x")
    page.goto(desk.get_address("/admin/blog/post/"))
    assert dialogs == ["beforeunload"]

    page.goto(desk.get_address("/admin/blog/post/add/"))
    write(page, "Left", "By saving.")
    save(page)
    assert dialogs == ["beforeunload"]


def test_text_of_an_open_tab_is_not_offered_in_another(desk: Desk) -> None:
    page = desk.open()
    page.locator("#id_body").press_sequentially("Being written")
    wait_until_kept(page, "Being written")

    other = page.context.new_page()
    other.goto(desk.get_address("/admin/blog/post/add/"))

    wait_for_offers(other)
    expect(other.locator(".writing-notice")).to_have_count(0)
