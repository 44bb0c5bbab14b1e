"""Drafts and changes of published posts are saved in Chromium while a person writes."""

import json
import re
import time
from collections.abc import Iterator
from typing import Any
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.database_template import Template
from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.writing import KEPT, Desk, press_save, record_dialogs, run_desk

pytestmark = NEEDS_CHROMIUM

SAVED = re.compile("^Saved at ")
PATIENCE = 60_000  # milliseconds; a save begins 5 seconds after the last key


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[Desk]:
    with run_desk(tmp_path_factory.mktemp("autosave") / "a checkout", template) as desk:
        yield desk


def make_post(desk: Desk, title: str, status: str) -> str:
    """Create a post of the admin. Return its id."""
    code = "from blog import services; from contentapi.core.identity import OPERATOR; from blog.models import Author; "
    made = f"services.create_post(actor=OPERATOR, title={title!r}, body='One', status={status!r}, "
    return desk.execute(f"{code}print({made}author_id=str(Author.objects.get(name='Ada Admin').pk)).pk)").strip()


def open_post(desk: Desk, post: str) -> Page:
    page = desk.open(f"/admin/blog/post/{post}/change/")
    expect(page.locator("#id_body")).to_have_value("One")
    return page


def read_public(desk: Desk, post: str) -> Any:
    with urlopen(f"http://localhost:{desk.run.port}/posts/{post}") as response:
        return json.load(response)


def wait_for_body(desk: Desk, title: str, body: str) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while desk.read_body(title) != body and time.monotonic() < deadline:
        time.sleep(0.2)
    assert desk.read_body(title) == body


def test_draft_is_saved_after_the_last_key_and_then_by_hand_without_a_conflict(desk: Desk) -> None:
    page = open_post(desk, make_post(desk, "Draft", "draft"))
    page.locator("#id_body").press_sequentially(" two")

    expect(page.locator(".writing-saved")).to_have_text(SAVED, timeout=PATIENCE)
    assert "two" in desk.read_body("Draft")
    page.wait_for_function(f"{KEPT} === 0")
    page.locator("#id_body").fill("Three")
    press_save(page)

    page.wait_for_url("**/admin/blog/post/")
    assert desk.read_body("Draft") == "Three"


def test_slug_of_a_draft_follows_the_title_that_was_saved(desk: Desk) -> None:
    page = open_post(desk, make_post(desk, "Ebb tide", "draft"))
    page.locator("#id_title").fill("Spring tide")

    expect(page.locator(".writing-saved")).to_have_text(SAVED, timeout=PATIENCE)
    expect(page.locator("#id_slug")).to_have_value("spring-tide")
    press_save(page)

    page.wait_for_url("**/admin/blog/post/")
    assert desk.execute("from blog.models import Post; print(Post.objects.get(title='Spring tide').slug)").strip() == (
        "spring-tide"
    )


def test_draft_is_saved_when_the_page_is_left(desk: Desk) -> None:
    page = open_post(desk, make_post(desk, "Left", "draft"))
    record_dialogs(page)
    page.locator("#id_body").fill("Written before leaving")

    page.goto(desk.get_address("/admin/"))

    wait_for_body(desk, "Left", "Written before leaving")


def test_changes_of_a_published_post_are_saved_marked_and_published(desk: Desk) -> None:
    post = make_post(desk, "Public", "published")
    page = open_post(desk, post)
    page.locator("#id_body").fill("Not public yet")

    expect(page.locator(".writing-saved")).to_have_text(SAVED, timeout=PATIENCE)
    assert read_public(desk, post)["body"] == "One"
    page.goto(desk.get_address("/admin/blog/post/"))
    expect(page.locator("#result_list tr", has_text="Public")).to_contain_text("unpublished changes")
    page.goto(desk.get_address(f"/admin/blog/post/{post}/change/"))
    expect(page.locator("#id_body")).to_have_value("Not public yet")
    page.get_by_role("button", name="Publish changes").click()

    page.wait_for_url("**/admin/blog/post/")
    assert read_public(desk, post)["body"] == "Not public yet"


def test_save_of_another_person_ends_the_saving_and_the_next_save_shows_both_texts(desk: Desk) -> None:
    post = make_post(desk, "Both", "draft")
    page = open_post(desk, post)
    code = "from blog import services; from contentapi.core.identity import OPERATOR; "
    desk.execute(f"{code}services.edit_post(actor=OPERATOR, post_id='{post}', changes={{'body': 'Theirs'}})")
    page.locator("#id_body").fill("Mine")

    expect(page.locator(".writing-saved")).to_contain_text("Somebody else has saved this post", timeout=PATIENCE)
    assert desk.read_body("Both") == "Theirs"
    press_save(page)

    expect(page.locator("body")).to_contain_text("has changed since you opened it")


def test_text_stays_in_the_browser_while_the_server_cannot_be_reached(desk: Desk) -> None:
    page = open_post(desk, make_post(desk, "Offline", "draft"))
    page.context.set_offline(True)
    page.locator("#id_body").fill("Kept")
    expect(page.locator(".writing-saved")).to_contain_text("The server cannot be reached", timeout=PATIENCE)
    assert page.evaluate(KEPT) == 1

    page.context.set_offline(False)
    page.locator("#id_body").fill("Kept and saved")

    expect(page.locator(".writing-saved")).to_have_text(SAVED, timeout=PATIENCE)
    wait_for_body(desk, "Offline", "Kept and saved")
