"""Writing in Chromium: editor, preview, tags, and texts that survive a crash, a lost session and a lost network."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Locator, Page, Request, Route, expect
from playwright.sync_api import Error as BrowserError

from blog.desk.rendering import render_markdown
from tests.blog.xss import VECTORS
from tests.e2e.checkout import Checkout, Run
from tests.e2e.chromium import CHROMIUM, NEEDS_CHROMIUM, launch_chromium
from tests.e2e.test_desk import log_in

pytestmark = NEEDS_CHROMIUM

EXACT = "\n\n  Two spaces at the end  \n\tA tab\n\n\nThe end \n"
KEPT = "Object.keys(localStorage).filter((key) => key.startsWith('kept-text:')).length"
ALL_KEPT = "Object.entries(localStorage).filter(([key]) => key.startsWith('kept-text:'))"


class Desk:
    """A running server, and a browser that opens its admin."""

    def __init__(self, checkout: Checkout, run: Run, browser: Browser) -> None:
        self.checkout, self.run, self.browser = checkout, run, browser

    def get_address(self, path: str) -> str:
        return f"http://localhost:{self.run.port}{path}"

    def open(self, path: str = "/admin/blog/post/add/", **options: Any) -> Page:
        """Return a page at a path, in a new browser context in which an admin is logged in."""
        page = self.browser.new_context(**options).new_page()
        page.set_default_timeout(20_000)
        log_in(page, self.run, self.checkout)
        page.goto(self.get_address(path))
        return page

    def execute(self, code: str) -> str:
        done = self.checkout.manage("shell", "--verbosity", "0", "-c", code)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def read_body(self, title: str) -> str:
        """Return the stored text of a post."""
        code = "import json; from blog.models import Post; "
        found = self.execute(f"{code} print(json.dumps(Post.objects.get(title={title!r}).body))")
        body: str = json.loads(found)
        return body


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    checkout = Checkout(tmp_path_factory.mktemp("writing") / "a checkout")
    try:
        run = checkout.run().wait_until_ready()
        admin = "from users.models import User; from blog.models import Author; "
        made = "Author.objects.get_or_create(user=User.objects.get(email='admin@example.com'), name='Ada Admin')"
        with launch_chromium() as browser:
            desk = Desk(checkout, run, browser)
            desk.execute(f"{admin} {made}")
            yield desk
        run.interrupt()
    finally:
        checkout.kill_everything()


def write(page: Page, title: str, body: str) -> None:
    page.locator("#id_title").fill(title)
    page.locator("#id_body").fill(body)


def set_text(page: Page, body: str) -> None:
    """Set the body by a script. Chromium's time to insert typed lines grows with the square of their number."""
    page.locator("#id_body").evaluate(
        "(field, body) => { field.value = body; field.dispatchEvent(new Event('input', { bubbles: true })); }", body
    )


def get_tags(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Tags")


def wait_until_kept(page: Page, text: str) -> None:
    page.wait_for_function("text => Object.values(localStorage).some((value) => value.includes(text))", arg=text)


def record_dialogs(page: Page) -> list[str]:
    """Accept the dialogs of a page. Return the list of their types, which grows."""
    types: list[str] = []

    def accept(dialog: Dialog) -> None:
        types.append(dialog.type)
        dialog.accept()

    page.on("dialog", accept)
    return types


def record_addresses(page: Page) -> list[str]:
    """Return the list of the addresses that a page requests from other servers, which grows."""
    addresses: list[str] = []

    def record(request: Request) -> None:
        if "//localhost" not in request.url:
            addresses.append(request.url)

    page.on("request", record)
    return addresses


def press_save(page: Page) -> None:
    page.locator("#submit-row [name=_save]").click()


def save(page: Page) -> None:
    press_save(page)
    page.wait_for_url("**/admin/blog/post/")


def wait_for_login(page: Page) -> None:
    page.get_by_label("Email").wait_for()


def test_text_that_is_too_long_for_a_request_stays_on_the_page(desk: Desk) -> None:
    page = desk.open()
    page.locator("#id_title").fill("Too long")
    set_text(page, "a line of text and so on\n" * 60_000)

    press_save(page)

    notice = page.locator(".writing-notices .problem")
    expect(notice).to_contain_text("The text has 1,300,000 characters too many. Nothing is saved yet.")
    assert len(page.locator("#id_body").input_value()) == 1_500_000
    assert page.url == desk.get_address("/admin/blog/post/add/")


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


def test_text_is_stored_as_it_was_typed(desk: Desk) -> None:
    page = desk.open()
    write(page, "Exact", EXACT)
    save(page)
    assert desk.read_body("Exact") == EXACT

    desk.execute(
        "from blog.models import Post; Post.objects.filter(title='Exact').update(body='\\r\\none\\r\\ntwo\\n ')"
    )
    page.locator("#result_list").get_by_role("link", name="Exact", exact=True).click()
    page.locator("#id_title").fill("Exact again")
    save(page)

    assert desk.read_body("Exact again") == "\r\none\r\ntwo\n "


def test_buttons_of_the_toolbar_work_with_the_keyboard_and_can_be_undone(desk: Desk) -> None:
    page = desk.open()
    body = page.locator("#id_body")
    body.fill("one two")
    body.select_text()

    toolbar = page.get_by_role("toolbar", name="Format the text")
    toolbar.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("button", name="Bold")).to_be_focused()
    page.keyboard.press("Enter")
    expect(body).to_have_value("**one two**")
    page.keyboard.press("Control+z")

    expect(body).to_have_value("one two")
    page.keyboard.press("Control+Shift+8")
    expect(body).to_have_value(re.compile(r"^- one two"))


def test_title_and_text_grow_with_what_they_contain(desk: Desk) -> None:
    page = desk.open(viewport={"width": 390, "height": 844})
    heights = "() => ['id_title', 'id_body'].map((id) => document.getElementById(id).offsetHeight)"
    before = page.evaluate(heights)

    write(page, "A long title " * 12, "line\n" * 60)

    after = page.evaluate(heights)
    assert after[0] > 2 * before[0]
    assert after[1] > 2 * before[1]
    assert page.evaluate("['id_title', 'id_body'].every((id) => (e => e.scrollHeight <= e.clientHeight + 1)"
                         "(document.getElementById(id)))")  # fmt: skip
    page.locator("#id_title").press("Enter")
    expect(page.locator("#id_title")).to_have_value("A long title " * 12)


def test_phone_shows_the_preview_instead_of_the_text(desk: Desk) -> None:
    page = desk.open(viewport={"width": 390, "height": 844})
    expect(page.get_by_role("button", name="Side by side")).to_be_hidden()
    write(page, "Phone", "*slanted*")

    page.get_by_role("button", name="Preview", exact=True).click()

    expect(page.frame_locator(".writing-preview iframe").locator("em")).to_have_text("slanted")
    expect(page.locator("#id_body")).to_be_hidden()
    page.get_by_role("button", name="Write", exact=True).click()
    expect(page.locator("#id_body")).to_have_value("*slanted*")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


LONG = "\n\n".join(f"Paragraph {number} of a long text." for number in range(120))
IS_IN_FRAME = """text => {
  const page = document.querySelector('.writing-preview iframe').contentDocument;
  const found = [...page.querySelectorAll('p')].find((each) => each.textContent.startsWith(text));
  const place = found?.getBoundingClientRect();
  return Boolean(place) && place.top >= 0 && place.bottom <= page.defaultView.innerHeight;
}"""
IS_IN_WINDOW = """text => {
  const field = document.getElementById('id_body');
  const part = field.value.slice(0, field.value.indexOf(text)).length / field.value.length;
  const place = field.getBoundingClientRect();
  const top = place.top + part * place.height;
  return top >= 0 && top <= innerHeight;
}"""
READ_CURSOR = "field => field.value.slice(field.selectionStart).split('\\n')[0]"


def set_cursor(page: Page, text: str) -> None:
    """Put the cursor before a text, as a click there does."""
    page.locator("#id_body").evaluate(
        "(field, text) => { const at = field.value.indexOf(text); field.focus(); field.setSelectionRange(at, at); }",
        text,
    )


def test_preview_and_text_follow_each_other(desk: Desk) -> None:
    page = desk.open(viewport={"width": 1280, "height": 800})
    body = page.locator("#id_body")
    preview = page.frame_locator(".writing-preview iframe")
    page.locator("#id_title").fill("Follow me")
    set_text(page, LONG)
    expect(preview.locator("p", has_text="Paragraph 119 ")).to_be_attached(timeout=20_000)
    assert not page.evaluate(IS_IN_FRAME, "Paragraph 90 ")

    set_cursor(page, "Paragraph 90 ")
    page.wait_for_function(IS_IN_FRAME, arg="Paragraph 90 ")
    body.press("Control+Home")
    page.wait_for_function(IS_IN_FRAME, arg="Paragraph 0 ")

    preview.locator("p", has_text=re.compile("^Paragraph 8 ")).click()
    expect(body).to_be_focused()
    assert body.evaluate(READ_CURSOR) == "Paragraph 8 of a long text."
    assert page.evaluate(IS_IN_WINDOW, "Paragraph 8 ")

    page.locator(".writing-preview").hover()
    page.mouse.wheel(0, 3000)
    page.wait_for_function("text => !(" + IS_IN_FRAME + ")(text)", arg="Paragraph 8 ")
    page.wait_for_function(
        """() => {
          const page = document.querySelector('.writing-preview iframe').contentDocument;
          const first = [...page.querySelectorAll('.text p')].find((each) => each.getBoundingClientRect().top >= 0);
          return (IS_IN_WINDOW)(first.textContent);
        }""".replace("IS_IN_WINDOW", IS_IN_WINDOW)
    )
    assert body.evaluate(READ_CURSOR) == "Paragraph 8 of a long text."


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
    saved = page.locator(".writing-notice.saved")
    expect(saved).to_have_text("Saved.", timeout=20_000)
    expect(body).to_be_focused()
    assert body.evaluate(READ_CURSOR) == "open"
    assert desk.read_body("Keys") == text

    page.locator("#id_title").fill("Keys and title")
    expect(saved).to_have_count(0)
    page.locator("#id_title").press("Control+s")
    expect(saved).to_have_text("Saved.", timeout=20_000)
    assert desk.read_body("Keys and title") == text


def test_relative_image_of_the_preview_loads_nothing(desk: Desk) -> None:
    page = desk.open(viewport={"width": 1280, "height": 800})
    images: list[str] = []
    page.route("https://pictures.invalid/**", lambda route: route.abort())
    page.on("request", lambda request: images.append(request.url) if request.resource_type == "image" else None)

    relative = "![Boat](images/boat.jpg) ![Mole](/mole.png) <img src='../quay.png' alt='Quay'>"
    page.locator("#id_body").fill(f"{relative}\n\n![Sea](https://pictures.invalid/sea.jpg)")

    with page.expect_request("https://pictures.invalid/sea.jpg"):
        expect(page.frame_locator(".writing-preview iframe").locator("img")).to_have_count(4, timeout=20_000)
    assert [url for url in images if "pictures.invalid" not in url and not url.startswith("data:")] == []


def test_preview_states_that_the_server_cannot_be_reached_or_refuses(desk: Desk) -> None:
    page = desk.open(viewport={"width": 1280, "height": 900})
    problem = page.locator(".writing-problem")
    page.context.set_offline(True)
    page.locator("#id_body").fill("One")
    expect(problem).to_have_text("The server cannot be reached. The preview is loaded again with your next change.")

    page.context.set_offline(False)
    page.locator("#id_body").fill("Two")
    expect(problem).to_be_hidden()
    page.locator("#id_body").fill("[" * 200_000)

    expect(problem).to_contain_text("too complex for the preview, but it can be saved")


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
    page.wait_for_timeout(300)  # the list is shown again with the response, from its beginning
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


def test_tag_that_is_too_long_is_not_added(desk: Desk) -> None:
    page = desk.open()

    get_tags(page).fill("x" * 51)
    page.keyboard.press("Enter")

    assert read_tags(page) == ""


# Texts that survive


def test_text_survives_the_crash_of_a_tab_and_is_offered(desk: Desk) -> None:
    page = desk.open()
    write(page, "Crash", EXACT)
    get_tags(page).fill("kept")
    page.keyboard.press("Enter")
    wait_until_kept(page, "kept")
    with pytest.raises(BrowserError):
        page.goto("chrome://crash")

    again = page.context.new_page()
    again.goto(desk.get_address("/admin/blog/post/add/"))
    notice = again.locator(".writing-notice.offer")
    expect(notice).to_contain_text(re.compile("This browser has kept a text of .* that was not saved"))
    expect(again.locator("#id_body")).to_have_value("")  # nothing is overwritten
    notice.get_by_role("button", name="Restore my text").click()

    expect(again.locator("#id_body")).to_have_value(EXACT)
    expect(again.locator("#id_title")).to_have_value("Crash")
    expect(again.locator(".ts-wrapper .item")).to_contain_text("kept")
    save(again)
    assert desk.read_body("Crash") == EXACT
    again.wait_for_function(f"{KEPT} === 0")


def kill_browser(profile: Path) -> None:
    """Kill the processes of the browser that uses this profile, as a power cut would."""
    for process in psutil.process_iter():
        try:
            if any(str(profile) in argument for argument in process.cmdline()):
                process.kill()
        except psutil.Error:
            continue


def test_text_survives_the_death_of_the_browser(desk: Desk, tmp_path: Path) -> None:
    def launch() -> BrowserContext:
        return desk.browser.browser_type.launch_persistent_context(
            tmp_path, executable_path=CHROMIUM, chromium_sandbox=False
        )

    context = launch()
    page = context.new_page()
    log_in(page, desk.run, desk.checkout)
    page.goto(desk.get_address("/admin/blog/post/add/"))
    write(page, "Killed", EXACT)
    wait_until_kept(page, "Killed")
    page.wait_for_timeout(8_000)  # Chromium writes its storage to the disk every five seconds
    kill_browser(tmp_path)

    for lock in tmp_path.glob("Singleton*"):
        lock.unlink()
    context = launch()
    page = context.new_page()
    page.goto(desk.get_address("/admin/blog/post/add/"))
    if "/login/" in page.url:  # Chromium keeps session cookies for a start that restores its pages
        log_in(page, desk.run, desk.checkout)
        page.goto(desk.get_address("/admin/blog/post/add/"))
    page.get_by_role("button", name="Restore my text").click()

    expect(page.locator("#id_body")).to_have_value(EXACT)
    context.close()


def end_sessions(desk: Desk) -> None:
    desk.execute("from django.contrib.sessions.models import Session; Session.objects.all().delete()")


def test_text_survives_a_lost_session_and_is_saved_after_a_login_elsewhere(desk: Desk) -> None:
    page = desk.open()
    write(page, "Lost session", "Still here.")
    end_sessions(desk)

    press_save(page)
    notice = page.locator(".writing-notice.problem")
    expect(notice).to_contain_text("Your session has ended. Nothing is saved yet; your text is kept.")
    expect(page.locator("#id_body")).to_have_value("Still here.")
    with page.context.expect_page() as opened:
        notice.get_by_role("link", name="Log in in a new tab").click()
    other = opened.value
    other.get_by_label("Email").fill("admin@example.com")
    other.locator("#id_password").fill((desk.checkout.folder / "var/demo_password").read_text())
    other.get_by_role("button", name="Log in").click()
    other.wait_for_url("**/admin/")
    save(page)

    assert desk.read_body("Lost session") == "Still here."


def test_text_of_a_form_that_was_sent_without_a_session_is_offered_after_the_login(desk: Desk) -> None:
    page = desk.open()
    write(page, "Sent too late", "Not lost.")
    wait_until_kept(page, "Sent too late")
    end_sessions(desk)

    page.evaluate("window.onbeforeunload = null; document.getElementById('post_form').submit()")
    wait_for_login(page)
    page.get_by_label("Email").fill("admin@example.com")
    page.locator("#id_password").fill((desk.checkout.folder / "var/demo_password").read_text())
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/admin/blog/post/add/")
    page.get_by_role("button", name="Restore my text").click()

    expect(page.locator("#id_body")).to_have_value("Not lost.")


def test_text_survives_a_lost_network(desk: Desk) -> None:
    page = desk.open()
    write(page, "Lost network", "Still here.")
    page.context.set_offline(True)

    press_save(page)
    expect(page.locator(".writing-notice.problem")).to_contain_text(
        "The server cannot be reached. Nothing is saved yet"
    )
    expect(page.locator("#id_body")).to_have_value("Still here.")
    assert "Still here." in str(page.evaluate(ALL_KEPT))
    page.context.set_offline(False)
    save(page)

    assert desk.read_body("Lost network") == "Still here."


def test_form_is_not_sent_as_another_user(desk: Desk) -> None:
    page = desk.open()
    write(page, "Other user", "Mine.")
    page.route("**/admin/blog/post/session/", lambda route: route.fulfill(json={"user": "0", "token": "x"}))

    press_save(page)

    expect(page.locator(".writing-notice.problem")).to_contain_text("Another user has logged in in this browser.")


def test_refused_form_keeps_its_text(desk: Desk) -> None:
    page = desk.open()
    write(page, "Refused", "Not stored.")
    page.locator("#post-state").get_by_role("button", name="Schedule").click()
    expect(page.locator(".errornote, .errorlist").first).to_be_visible()
    expect(page.locator("#id_body")).to_have_value("Not stored.")
    expect(page.locator(".writing-notice")).to_have_count(0)

    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(desk.get_address("/admin/blog/post/add/"))

    expect(page.locator(".writing-notice.offer")).to_have_count(1)


def test_leaving_asks_for_confirmation_only_if_something_differs(desk: Desk) -> None:
    page = desk.open()
    dialogs = record_dialogs(page)
    page.locator("#id_body").press_sequentially("x")
    page.locator("#id_body").press("Backspace")
    page.reload()
    assert dialogs == []

    page.locator("#id_body").press_sequentially("x")
    page.reload()
    assert dialogs == ["beforeunload"]

    page.get_by_role("button", name="Discard").click()
    write(page, "Left", "By saving.")
    save(page)
    assert dialogs == ["beforeunload"]


def test_discarded_text_is_not_offered_again(desk: Desk) -> None:
    page = desk.open()
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("#id_body").press_sequentially("Rubbish")
    page.reload()

    page.get_by_role("button", name="Discard").click()
    page.reload()

    page.wait_for_timeout(500)
    expect(page.locator(".writing-notice")).to_have_count(0)
    assert page.evaluate(KEPT) == 0


def test_restored_text_offers_the_text_that_it_replaces(desk: Desk) -> None:
    page = desk.open()
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("#id_body").press_sequentially("First")
    page.reload()
    page.locator("#id_body").press_sequentially("Second")

    page.get_by_role("button", name="Restore my text").click()
    expect(page.locator("#id_body")).to_have_value("First")
    page.get_by_role("button", name="Restore my text").click()

    expect(page.locator("#id_body")).to_have_value("Second")


def test_text_of_an_open_tab_is_not_offered_in_another(desk: Desk) -> None:
    page = desk.open()
    page.locator("#id_body").press_sequentially("Being written")
    wait_until_kept(page, "Being written")

    other = page.context.new_page()
    other.goto(desk.get_address("/admin/blog/post/add/"))

    other.wait_for_timeout(500)
    expect(other.locator(".writing-notice")).to_have_count(0)


def test_old_texts_are_removed_and_logging_out_removes_the_users_own(desk: Desk) -> None:
    page = desk.open("/admin/")
    user = page.evaluate("window.keptTexts.user")
    page.evaluate(
        """([user, day]) => {
          const put = (key, age) => localStorage.setItem(key, JSON.stringify({
            time: Date.now() - age * day, version: "1", values: {body: "x"}}));
          put(`kept-text:${user}:1:old`, 31);
          put(`kept-text:${user}:1:new`, 29);
          put(`kept-text:999999:1:other`, 1);
          localStorage.setItem("kept-text:broken", "{");
        }""",
        [user, 24 * 3600 * 1000],
    )
    page.reload()
    kept = "Object.keys(localStorage).filter((key) => key.startsWith('kept-text:')).sort()"
    assert page.evaluate(kept) == [f"kept-text:{user}:1:new", "kept-text:999999:1:other"]

    with page.expect_navigation():
        page.evaluate("document.getElementById('logout-form').requestSubmit()")
    page.wait_for_load_state("networkidle")

    assert page.evaluate(kept) == ["kept-text:999999:1:other"]


def test_full_storage_gives_up_old_texts_and_then_states_that_nothing_is_kept(desk: Desk) -> None:
    page = desk.open()
    fill = """(key) => {
      for (let size = 2 ** 22; size >= 1; size /= 2) {
        for (let part = 0; part < 8; part += 1) {
          try { localStorage.setItem(`${key}${size}-${part}`, "x".repeat(size)); } catch { break; }
        }
      }
    }"""
    page.evaluate(fill, "other-")

    page.locator("#id_body").press_sequentially("No room for this text")

    expect(page.locator(".writing-notice.full")).to_contain_text("The text is not kept in this browser")
    page.evaluate("localStorage.clear()")
    page.locator("#id_body").press_sequentially("!")
    expect(page.locator(".writing-notice.full")).to_have_count(0)


def test_form_works_without_its_scripts(desk: Desk) -> None:
    page = desk.open("/admin/")
    page.route(re.compile("/static/blog/"), lambda route: route.abort())
    page.goto(desk.get_address("/admin/blog/post/add/"))
    expect(page.locator(".writing-count")).to_be_hidden()
    write(page, "Without scripts", "\nPlain text.")
    page.locator("#id_tags").fill("one\ntwo")

    save(page)

    assert desk.read_body("Without scripts") == "\nPlain text."


# Attacks


def test_no_attack_runs_a_script_or_sends_a_request(desk: Desk) -> None:
    page = desk.browser.new_page()
    html = ""
    sent: list[tuple[str, str]] = []
    hits = record_dialogs(page)

    def answer(route: Route) -> None:
        if route.request.url == "http://preview.invalid/":
            route.fulfill(body=f"<!DOCTYPE html><body>{html}</body>", content_type="text/html; charset=utf-8")
        else:
            sent.append((route.request.resource_type, route.request.url))
            route.abort()

    page.route("**/*", answer)
    for vector in VECTORS:
        for text in (vector, f"Some text {vector} and more"):
            html = render_markdown(text)
            sent.clear()
            page.goto("http://preview.invalid/")  # without the frame and the policy of the preview, which come on top
            page.evaluate(
                "() => document.querySelectorAll('body *').forEach((e) => ['mouseover', 'click', 'focus', 'toggle']"
                ".forEach((name) => e.dispatchEvent(new Event(name, {bubbles: true, cancelable: true}))))"
            )
            assert hits == [], vector
            assert {kind for kind, _ in sent} <= {"image"}, (vector, sent)
            assert len({url for _, url in sent}) <= html.count("<img "), (vector, sent)
    page.close()


def test_control_of_the_attacks_runs_without_the_sanitiser(desk: Desk) -> None:
    page = desk.browser.new_page()
    hits = record_dialogs(page)

    page.set_content("<img src=x onerror=alert(1)>")

    page.wait_for_timeout(300)
    assert hits == ["alert"]
    page.close()


def test_attacks_in_a_post_run_nothing_in_the_editor_and_its_preview(desk: Desk) -> None:
    page = desk.open(viewport={"width": 1280, "height": 900})
    hits, outside = record_dialogs(page), record_addresses(page)
    text = "# Attack\n\n" + "\n\n".join(vector for vector in VECTORS if "<!" not in vector and "<?" not in vector)

    write(page, "<img src=x onerror=alert(1)>", text)

    expect(page.frame_locator(".writing-preview iframe").locator(".text h1")).to_have_text("Attack")
    get_tags(page).fill("<img src=x onerror=alert(1)>")
    page.keyboard.press("Enter")
    page.wait_for_timeout(1_500)
    assert hits == []
    assert [url for url in outside if not re.search(r"^(data:|http://good\.invalid/x\.png)", url)] == []
