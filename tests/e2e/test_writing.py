"""Writing in Chromium: editor, preview and tags."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.writing import KEPT, Desk, get_tags, press_save

pytestmark = NEEDS_CHROMIUM


def test_editor_writes_previews_and_publishes_a_post(desk: Desk) -> None:
    page = desk.open(viewport={"width": 1280, "height": 900})
    expect(page.locator("#id_author")).to_have_text("Ada Admin")
    page.locator("#id_title").fill("Written in a browser")
    page.locator("#id_body").press_sequentially("Tides are ")
    page.keyboard.press("Control+b")
    page.keyboard.type("high")
    preview = page.frame_locator(".writing-preview iframe")
    expect(preview.locator("strong")).to_have_text("high")
    expect(preview.locator("h1")).to_have_text("Written in a browser")
    expect(preview.locator(".byline")).to_contain_text("Ada Admin")
    expect(page.locator(".writing-count")).to_have_text("3 words · 18 characters · 1 min to read")
    get_tags(page).fill("tides")
    page.keyboard.press("Enter")
    expect(preview.locator(".tags")).to_have_text("tides")

    page.locator("#post-state").get_by_role("button", name="Publish now").click()
    page.get_by_role("dialog").get_by_role("button", name="Publish now").click()
    page.wait_for_url("**/admin/blog/post/")

    assert desk.read_body("Written in a browser") == "Tides are **high**"
    expect(page.locator("#result_list")).to_contain_text("Written in a browser")
    page.wait_for_function(f"{KEPT} === 0")


READ_CURSOR = "field => field.value.slice(field.selectionStart).split('\\n')[0]"


def set_cursor(page: Page, text: str) -> None:
    """Put the cursor before a text, as a click there does."""
    page.locator("#id_body").evaluate(
        "(field, text) => { const at = field.value.indexOf(text); field.focus(); field.setSelectionRange(at, at); }",
        text,
    )


def test_refused_form_keeps_its_text_and_has_the_focus_on_its_first_error(desk: Desk) -> None:
    page = desk.open()
    page.locator("#id_slug").fill("No Slug!")
    page.locator("#id_body").fill("Not stored.")
    press_save(page)
    expect(page.locator("#id_title")).to_be_focused()

    page.locator("#id_title").fill("A title")
    press_save(page)
    expect(page.locator("#id_slug")).to_be_focused()
    expect(page.locator("#id_body")).to_have_value("Not stored.")
    expect(page.locator(".writing-notice")).to_have_count(0)


def test_enter_continues_a_list_and_control_s_saves_and_stays(desk: Desk) -> None:
    page = desk.open(viewport={"width": 1280, "height": 800})
    body = page.locator("#id_body")
    page.locator("#id_title").fill("Keys")
    body.focus()
    for line in (
        "- one",
        "two",
        "",
        "3. three",
        "four",
        "",
        "  * [x] done",
        "open",
        "",
        "plain",
        "```",
        "- code",
        "end",
    ):
        page.keyboard.type(line)
        page.keyboard.press("Enter")

    text = "- one\n- two\n3. three\n4. four\n  * [x] done\n  * [ ] open\nplain\n```\n- code\nend\n"
    expect(body).to_have_value(text)
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+y")
    set_cursor(page, "open")
    page.keyboard.press("Control+s")
    page.wait_for_url("**/change/")
    expect(page.locator(".writing-saved")).to_contain_text("Saved at")
    expect(body).to_be_focused()
    assert body.evaluate(READ_CURSOR) == "open"
    desk.wait_for_body("Keys", text)

    page.locator("#id_title").fill("Keys and title")
    page.locator("#id_title").press("Control+s")
    desk.wait_for_body("Keys and title", text)


def test_no_character_is_lost_while_twenty_saves_take_150_milliseconds(desk: Desk) -> None:
    page = desk.open(viewport={"width": 1280, "height": 800})
    saves: list[str] = []
    page.on("request", lambda request: saves.append(request.url) if request.url.endswith("/autosave/") else None)
    network = {"offline": False, "latency": 150, "downloadThroughput": -1, "uploadThroughput": -1}
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", network)
    body = page.locator("#id_body")
    page.locator("#id_title").fill("Typed on")
    body.focus()
    words = [f"word{number} " for number in range(20)]
    for word in words:
        page.keyboard.press("Control+s")
        page.keyboard.type(word)
    expect(body).to_have_value("".join(words))
    page.keyboard.press("Control+s")

    desk.wait_for_body("Typed on", "".join(words))
    assert saves[0].endswith("/new/autosave/")
    assert not any(url.endswith("/new/autosave/") for url in saves[1:])
    page.reload()
    expect(body).to_have_value("".join(words))


# Tags


def read_tags(page: Page) -> str:
    return page.locator("#id_tags").input_value()


def test_tags_are_written_with_the_keyboard(desk: Desk) -> None:
    page = desk.open()
    tags = get_tags(page)
    assert tags.get_attribute("role") == "combobox"

    with page.expect_response(re.compile(r"q=hist$")):
        tags.press_sequentially("hist")
    option = page.get_by_role("option", name="history")
    expect(option).to_be_visible()
    expect(page.locator(".ts-wrapper.loading")).to_have_count(0)  # the list begins again with each response
    page.keyboard.press("ArrowDown")
    expect(option).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    assert read_tags(page) == "history"
    page.keyboard.type("hist")
    page.keyboard.press("Enter")
    page.keyboard.type("one, two words,")
    assert read_tags(page) == "history\nhist\none\ntwo words"
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")

    assert read_tags(page).startswith("history\nhist")
    assert "two words" not in read_tags(page)
    before = read_tags(page)
    tags.fill("x" * 51)
    page.keyboard.press("Enter")
    assert read_tags(page) == before  # too long
