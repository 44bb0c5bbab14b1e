"""The co-authors of a post in Chromium: they read the post from every link."""

from playwright.sync_api import expect

from tests.e2e.chromium import NEEDS_CHROMIUM
from tests.e2e.writing import Desk

pytestmark = NEEDS_CHROMIUM


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
