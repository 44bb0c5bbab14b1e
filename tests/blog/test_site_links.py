"""Links from the desk to posts on the web site."""

import pytest
from django.test import Client
from pytest_django import Settings

from blog.desk.posts.states import describe_result, link_site
from blog.services import StateAction
from tests.admin_forms import get_page
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
def test_form_and_list_link_to_a_public_post_on_the_site(editor_client: Client) -> None:
    post = make_post(slug="ebb")

    assert all(LINK.format("ebb") in editor_client.get(url).text for url in (get_page(post), LIST))


@pytest.mark.usefixtures("site")
def test_message_after_a_publication_links_to_the_site() -> None:
    public, draft = make_post(slug="ebb"), make_post(slug="flood", status="draft")

    assert LINK.format("ebb") in describe_result(StateAction.PUBLISH, public)
    assert LINK.format("ebb") in describe_result(StateAction.PUBLISH_AGAIN, public)
    assert "View on the site" not in describe_result(StateAction.UNPUBLISH, draft)


@pytest.mark.usefixtures("site")
def test_message_after_a_publication_of_changes_links_to_the_site(editor_client: Client) -> None:
    publish_in_desk(editor_client, make_post(slug="ebb"), title="New")

    assert LINK.format("ebb") in str(next(iter(editor_client.get(LIST).context["messages"])))


@pytest.mark.usefixtures("site")
def test_hidden_and_new_posts_have_no_link() -> None:
    assert [link_site(make_post(slug=status, status=status)) for status in ("draft", "archived")] == ["", ""]
    assert link_site(None) == ""


def test_desk_without_the_setting_has_no_links_to_a_site(editor_client: Client) -> None:
    post = make_post()

    assert link_site(post) == ""
    assert "show_site" not in editor_client.get(LIST).context["cl"].list_display
