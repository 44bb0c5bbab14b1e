"""Images in Chromium: dropped, pasted and chosen in the editor, as a cover, in the library, by keys and on a phone."""

import base64
import re
import time

from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.desk_pages import WAIT, build_payload, upload_image
from tests.e2e.writing import Desk, press_save, save, write
from tests.image_files import make_png

ADD, LIBRARY = "/admin/blog/image/add/", "/admin/blog/image/"
TRANSFER = """([kind, names, data, type, target]) => {
    const transfer = new DataTransfer();
    const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
    for (const name of names) transfer.items.add(new File([bytes], name, { type }));
    const field = document.querySelector(target);
    const options = { bubbles: true, cancelable: true };
    const event = kind === "paste"
        ? new ClipboardEvent(kind, { ...options, clipboardData: transfer })
        : new DragEvent(kind, { ...options, dataTransfer: transfer });
    field.dispatchEvent(event);
}"""

pytestmark = NEEDS_CHROMIUM


def give(
    page: Page, kind: str, *names: str, content: bytes = b"", file_type: str = "image/png", target: str = "#id_body"
) -> None:
    """Drop or paste files, in the text or elsewhere: images, or files with other bytes and another type."""
    data = base64.b64encode(content or make_png(40, 30)).decode()
    page.evaluate(TRANSFER, [kind, list(names), data, file_type, target])


def hold_uploads(page: Page) -> list[Route]:
    """Hold back the uploads of a page. Return the list of them, which grows."""
    held: list[Route] = []
    page.route(f"**{ADD}", lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
    return held


def release(page: Page, held: list[Route], number: int) -> None:
    """Let the uploads continue when there are as many."""
    deadline = time.monotonic() + WAIT / 1000
    while len(held) < number:
        assert time.monotonic() < deadline, f"{len(held)} of {number} uploads have begun."
        page.wait_for_timeout(50)
    while held:
        held.pop().continue_()


def get_body(page: Page) -> Locator:
    return page.locator("#id_body")


def get_text_of(page: Page, name: str) -> Locator:
    return page.get_by_label(f"Text of {name}")


def upload(page: Page, desk: Desk, name: str) -> str:
    """Upload an image to the library. Return the path of its page, which is open."""
    return f"{LIBRARY}{upload_image(page, desk.run, name)}/change/"


def test_dropped_images_are_uploaded_while_one_writes(desk: Desk) -> None:
    page = desk.open()
    write(page, "With two images", "First.")
    held = hold_uploads(page)

    give(page, "drop", "boat.png", "sail.png")
    marks = "![Uploading boat.png, 1](image:0)\n\n![Uploading sail.png, 2](image:0)"
    expect(get_body(page)).to_have_value(f"First.\n\n{marks}")
    expect(page.locator(".upload").get_by_role("progressbar")).to_have_count(2)
    get_body(page).press("Control+End")
    page.keyboard.type(" Last.")
    get_text_of(page, "sail.png").fill("A [white] sail")
    release(page, held, 2)

    places = r"First\.\n\n!\[\]\(image:[1-9]\d*\)\n\n!\[A \\\[white\\\] sail\]\(image:[1-9]\d*\) Last\."
    expect(get_body(page)).to_have_value(re.compile(f"^{places}$"))
    expect(page.locator(".writing-without-text")).to_contain_text("No text for people who do not see it")
    expect(page.locator(".writing-without-text")).to_contain_text("boat.png")
    get_text_of(page, "boat.png").fill("A boat")
    page.keyboard.press("Enter")
    expect(get_text_of(page, "sail.png")).to_be_focused()
    expect(page.locator(".writing-without-text")).to_be_hidden()
    give(page, "drop", "late.png")
    press_save(page)
    expect(page.locator(".writing-without-text")).to_contain_text("when all images are uploaded")
    get_body(page).dispatch_event("input")  # what a late check of the images shows does not replace it
    page.wait_for_timeout(1_000)
    expect(page.locator(".writing-without-text")).to_contain_text("when all images are uploaded")
    release(page, held, 1)
    page.wait_for_url("**/admin/blog/post/")
    text = places.replace(r"!\[\]", r"!\[A boat\]") + r"\s*!\[\]\(image:[1-9]\d*\)\s*"
    assert re.fullmatch(text, desk.read_body("With two images"))
    code = "from blog.models import Image; print(*Image.objects.order_by('alt').values_list('alt', flat=True), sep='|')"
    assert {"A [white] sail", "A boat"} <= {*desk.execute(code).strip().split("|")}


def test_failed_and_refused_uploads_are_answered_and_their_marks_are_not_saved(desk: Desk) -> None:
    page = desk.open()
    write(page, "Unlucky", "Text.")
    page.route(f"**{ADD}", lambda route: route.abort())
    give(page, "drop", "boat.png", "sail.png", "lost.png")
    rows = page.locator(".upload")
    expect(rows.locator(".upload-status")).to_have_text(["The server cannot be reached."] * 3)
    expect(page.locator(".writing-without-text")).to_contain_text("Not uploaded: boat.png, sail.png, lost.png.")
    page.unroute(f"**{ADD}")
    rows.nth(0).get_by_role("button", name="Try again").click()
    expect(rows.nth(0).locator(".upload-status")).to_have_text("Uploaded.")
    rows.nth(1).get_by_role("button", name="Cancel").click()
    expect(rows).to_have_count(2)

    give(page, "drop", "report.pdf", content=b"%PDF-1.7", file_type="application/pdf", target="#submit-row")
    expect(rows.nth(2).locator(".upload-status")).to_contain_text("report.pdf is not an image.")
    expect(rows.nth(2)).to_be_in_viewport()
    give(page, "paste", "broken.png", content=b"no picture")
    expect(rows.nth(3).locator(".upload-status")).to_have_text(re.compile(r"^[A-Z].*\.$"))
    expect(rows.get_by_role("button", name="Try again")).to_have_count(1)  # of lost.png

    save(page)
    assert re.fullmatch(r"Text\.\s*!\[\]\(image:[1-9]\d*\)\s*", desk.read_body("Unlucky"))
    page.locator("#result_list").get_by_role("link", name="Unlucky", exact=True).click()
    get_text_of(page, "boat.png").fill("A boat")
    page.keyboard.press("Enter")
    expect(get_body(page)).to_have_value(re.compile(r"!\[A boat\]\(image:[1-9]\d*\)"))
    expect(page.locator(".upload")).to_have_count(0)


def test_keys_alone_choose_an_image_and_the_question_before_publication_names_it(desk: Desk) -> None:
    page = desk.open()
    upload(page, desk, "lantern.jpg")
    page.goto(desk.get_address("/admin/blog/post/add/"))
    write(page, "By keys", "")
    page.get_by_role("button", name="Insert an image").press("Enter")
    dialog = page.get_by_role("dialog", name="Insert an image")
    dialog.get_by_role("searchbox").focus()
    page.keyboard.type("lantern")
    expect(dialog.locator("[data-image]")).to_have_count(1)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(dialog).to_be_hidden()
    expect(get_body(page)).to_be_focused()
    expect(get_body(page)).to_have_value(re.compile(r"^!\[\]\(image:[1-9]\d*\)$"))
    expect(page.locator(".writing-without-text")).to_contain_text("lantern.jpg")
    page.locator("#submit-row").get_by_role("button", name="Publish now").click()
    expect(page.locator("#publish-question")).to_contain_text("No text for people who do not see it: lantern.jpg.")
    page.locator("#publish-question").get_by_role("button", name="Cancel").click()
    page.locator("#post-state").get_by_role("button", name="Schedule").click()
    question = page.get_by_role("dialog", name="Images", exact=True)
    expect(question).to_contain_text("lantern.jpg")
    question.get_by_role("button", name="Cancel").click()
    expect(question).to_be_hidden()
    expect(get_body(page)).to_be_visible()


def test_cover_is_uploaded_shown_cropped_and_removed(desk: Desk) -> None:
    page = desk.open()
    write(page, "With a cover", "Text.")
    page.get_by_role("button", name="Choose a cover").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("dialog").get_by_text("Upload", exact=True).click()
    chooser.value.set_files([build_payload("cover.jpg")])
    expect(page.locator(".cover .crops img")).to_have_count(3, timeout=WAIT)
    get_text_of(page, "cover.jpg").fill("The harbour")
    page.keyboard.press("Enter")
    save(page)

    page.locator("#result_list").get_by_role("link", name="With a cover", exact=True).click()
    expect(page.locator(".cover-name")).to_have_text("The harbour")
    page.get_by_role("button", name="Remove the cover").click()
    expect(page.get_by_role("button", name="Choose a cover")).to_be_focused()
    save(page)
    code = "from blog.models import Post; print(Post.objects.get(title='With a cover').cover_id)"
    assert desk.execute(code).strip() == "None"
