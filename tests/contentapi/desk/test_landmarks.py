"""The landmarks, headings and directions of text that the pages of the desk and the explorer have for every reader."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from contentapi.graphql.explorer.page import render_page
from tests.factories import make_post


def test_login_is_the_main_content(client: Client) -> None:
    text = client.get(reverse("admin:login")).text

    assert text.count("<main") == 1
    assert text.index("<main") < text.index('id="login-form"') < text.index("</main>")


@pytest.mark.parametrize(
    ("name", "content"), [("blog_post_changelist", "1 post"), ("blog_post_add", 'id="submit-row"')]
)
def test_rows_below_a_list_and_a_form_are_in_the_main_content(admin_client: Client, name: str, content: str) -> None:
    make_post()
    text = " ".join(admin_client.get(reverse(f"admin:{name}")).text.split())

    assert text.index("<main") < text.rindex(content) < text.index("</main>")


def test_fields_are_written_from_the_side_of_their_script(admin_client: Client) -> None:
    for name in ("blog_post_add", "blog_comment_add", "blog_author_add"):
        text = admin_client.get(reverse(f"admin:{name}")).text
        fields = re.findall(
            r'<(?:textarea|input type="text")[^>]*name="(?:title|body|tags|excerpt|name|bio)"[^>]*>', text
        )
        assert fields
        assert [field for field in fields if 'dir="auto"' not in field] == []


def test_explorer_has_one_heading_and_one_main_content() -> None:
    text = render_page("frontend/any/")[1].decode()

    assert text.count("<main") == text.count("<h1") == 1
    assert text.index("<main") < text.index("<h1") < text.index('id="explorer"') < text.index("</main>")
