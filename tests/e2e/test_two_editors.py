"""Two editors with the same post open, each in a browser of their own: nobody loses what they typed."""

import re

from playwright.sync_api import expect

from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.writing import KEPT, Desk, press_save, save, wait_for_offers

pytestmark = NEEDS_CHROMIUM
BODY = "One\ntwo\nthree\nfour\nfive\n"
CHANGED = "from blog import services; from contentapi.core.identity import OPERATOR; services.edit_post"


def test_second_editor_is_warned_sees_the_difference_and_merges(desk: Desk) -> None:
    post = desk.make_draft()
    path = f"/admin/blog/post/{post}/change/"
    desk.execute(f"{CHANGED}(actor=OPERATOR, post_id={post!r}, changes={{'body': {BODY!r}}})")
    ada, ben = (desk.open(path, email=desk.make_user(name)) for name in ("Ada", "Ben"))
    notice = ben.locator("#post-presence")
    expect(notice).to_contain_text(re.compile(r"Ada has had this post open since .*\d"))

    ada.locator("#id_body").fill(BODY.replace("five", "Ada's five"))
    save(ada)
    expect(notice).to_contain_text("Ada saved this post at")
    ben.locator("#id_body").fill(BODY.replace("One", "Ben's one"))
    press_save(ben)

    page = ben.locator("#content-main")
    expect(page).to_contain_text("Your changes are not saved yet.")
    expect(page).to_contain_text("Ada, in the admin: text")
    expect(page.locator("del.line", has_text="Ada's five")).to_be_visible()
    expect(page.locator("ins.line", has_text="Ben's one")).to_be_visible()
    wait_for_offers(ben)
    expect(ben.get_by_role("button", name="Restore my text")).to_have_count(0)
    assert ben.evaluate(KEPT) == 1
    ben.get_by_role("button", name="Save the merged version").click()
    ben.wait_for_url("**/admin/blog/post/")
    ben.wait_for_function(f"{KEPT} === 0")

    ada.goto(path)
    merged = BODY.replace("One", "Ben's one").replace("five", "Ada's five")
    expect(ada.locator("#id_body")).to_have_value(merged)
    expect(ada.locator("#post-presence")).to_be_empty()
