"""Links from the desk to posts on the web site."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.admin_forms import get_page, submit_form
from tests.blog.post_copies import publish_in_desk
from tests.blog.test_admin_states import LIST
from tests.environment import set_environment
from tests.factories import make_post

ADDRESS = "https://www.example.com/a/{}/?x=1"
LINK = f'<a class="message-link" href="{ADDRESS}" target="_blank" rel="noopener">View on the site</a>'


@pytest.fixture
def site(settings: Settings) -> None:
    set_environment(settings, CONTENTAPI_SITE_POST_URL="https://www.example.com/a/{slug}/?x=1")


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(("status", "is_linked"), [("published", True), ("draft", False), ("archived", False)])
def test_form_and_list_link_to_a_public_post_on_the_site(
    editor_client: Client,
    status: str,
    is_linked: bool,  # noqa: FBT001
) -> None:
    post = make_post(slug="ebb", status=status)

    pages = [editor_client.get(url).text for url in (get_page(post), LIST)]

    assert [LINK.format("ebb") in page for page in pages] == [is_linked, is_linked]
    assert "View on the site" not in editor_client.get(reverse("admin:blog_post_add")).text


@pytest.mark.usefixtures("site")
def test_messages_after_a_publication_link_to_the_site(editor_client: Client) -> None:
    draft, archived, public = (make_post(slug=status, status=status) for status in ("draft", "archived", "published"))

    def read_message() -> str:
        return str(next(iter(editor_client.get(LIST).context["messages"])))

    submit_form(editor_client, get_page(draft), _act="publish")
    assert LINK.format("draft") in read_message()
    submit_form(editor_client, get_page(archived), _act="publish_again")
    assert LINK.format("archived") in read_message()
    publish_in_desk(editor_client, public, title="New")
    assert LINK.format("published") in read_message()
    submit_form(editor_client, get_page(draft), _act="unpublish")
    assert "View on the site" not in read_message()


def test_desk_without_the_setting_has_no_links_to_a_site(editor_client: Client) -> None:
    post = make_post(status="draft")

    submit_form(editor_client, get_page(post), _act="publish")

    pages = [editor_client.get(url).text for url in (LIST, get_page(post))]
    assert not any("View on the site" in page for page in pages)
