"""The co-authors of a post in Chromium: an editor chooses them by keys, and they read the post."""

import json
import re

from playwright.sync_api import Locator, Page, expect

from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.writing import Desk

MOST_TABS = 100

pytestmark = NEEDS_CHROMIUM


def get_search(page: Page) -> Locator:
    return page.get_by_role("searchbox", name="Co-authors")


def get_option(page: Page, name: str) -> Locator:
    return page.get_by_role("option", name=name, exact=True)


def expect_chosen(page: Page, *names: str) -> None:
    choices = page.locator("#id_coauthor_ids + .select2-container .select2-selection__choice")
    expect(choices).to_have_text([re.compile(re.escape(name)) for name in names])


def read_coauthors(desk: Desk, title: str) -> list[str]:
    """Return the names of the stored co-authors in their order."""
    code = "import json; from blog.models import Author, Post; "
    authors = f"Author.objects.in_order_of(Post.objects.get(title={title!r}).coauthor_ids)"
    names: list[str] = json.loads(desk.execute(f"{code} print(json.dumps([each.name for each in {authors}]))"))
    return names


def test_keyboard_alone_sets_coauthors(desk: Desk) -> None:
    page = desk.open()
    page.locator("#id_title").focus()
    page.keyboard.type("Written by keys")
    press_tab_to(page, "#id_body")
    page.keyboard.type("Text.")

    press_tab_to(page, "#id_coauthor_ids + .select2-container .select2-search__field")
    for text, name in (("tom", "Tomasz Wren"), ("marg", "Marguerite Okafor"), ("ines", "Ines Falk")):
        page.keyboard.type(text)
        expect(get_option(page, name)).to_have_attribute("aria-selected", re.compile("true|false"))
        expect(page.locator(".select2-results__option--highlighted")).to_have_text(name)
        page.keyboard.press("Enter")
        expect(get_search(page)).to_have_value("")
    expect_chosen(page, "Tomasz Wren", "Marguerite Okafor", "Ines Falk")
    page.keyboard.press("Backspace")
    expect_chosen(page, "Tomasz Wren", "Marguerite Okafor")
    page.keyboard.press("Escape")
    press_tab_to(page, "[name=_save]")
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/blog/post/")

    assert read_coauthors(desk, "Written by keys") == ["Tomasz Wren", "Marguerite Okafor"]


def press_tab_to(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(MOST_TABS):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} never has the focus.")


JOINT = """
from blog import services; from blog.models import Author, Image; from django.contrib.auth import get_user_model
from contentapi.core.identity import OPERATOR
jo = Author.objects.create(user=get_user_model().objects.get(email="jo@example.com"), name="Jo Quill")
image = Image.objects.filter(status="ready").earliest("pk")
post = services.create_post(
    actor=OPERATOR, author_id=str(Author.objects.exclude(pk=jo.pk).earliest("pk").pk), coauthor_ids=[str(jo.pk)],
    title="Joint text", body=f"Some **strong** words.\\n\\n![A boat](image:{image.pk})", status="published",
)
services.add_comment(actor=OPERATOR, post_id=str(post.pk), body="A remark", author_id=str(jo.pk))
print(image.pk, post.comments.get().pk)
"""


def test_coauthor_reads_the_text_from_every_link_without_errors(desk: Desk) -> None:
    email = desk.make_user("Jo", role="author")
    image, comment = desk.execute(JOINT).split()
    page, problems = desk.open("/admin/", email=email), list[str]()
    page.on("pageerror", lambda error: problems.append(f"{page.url}: {error}"))
    page.on("console", lambda message: problems.extend([message.text] * (message.type == "error")))

    for path in ("/admin/", "/admin/blog/post/", f"/admin/blog/image/{image}/change/#uses", "/admin/blog/comment/"):
        page.goto(path if "comment" not in path else f"{path}{comment}/change/")
        page.locator("main").get_by_role("link", name="Joint text").first.click()
        expect(page.locator(".reading strong")).to_have_text("strong")
        expect(page.locator(".reading").get_by_role("img", name="A boat")).to_have_js_property("complete", True)
        assert page.locator("main [name=_save]").count() == 0

    assert problems == []
