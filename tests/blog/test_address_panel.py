"""The addresses, the summaries and the author of a post in the form of the desk, and the address on the web site."""

import re
from threading import Event

import msgspec
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from blog import services
from blog.models import Post
from tests.admin_forms import get_form_errors, get_page, submit_form
from tests.conftest import GraphQL
from tests.factories import make_author, make_post

ADD = reverse("admin:blog_post_add")


def test_new_post_gets_its_slug_from_the_title_or_the_form(editor_client: Client) -> None:
    author = str(make_author().pk)

    submit_form(editor_client, ADD, title="Soup", author=author)
    submit_form(editor_client, ADD, title="Stew", author=author, slug="goulash", canonical_url="https://a.example/")

    stored = Post.objects.order_by("pk").values_list("slug", "canonical_url")
    assert list(stored) == [("soup", None), ("goulash", "https://a.example/")]


def test_summaries_are_stored_as_typed_and_shown_where_they_are_missing(editor_client: Client) -> None:
    post = make_post(body="Boil it.", description="Old.", status="draft")
    services.render_posts(Event())

    page = editor_client.get(get_page(post)).text
    submit_form(editor_client, get_page(post), excerpt="Fish\r\n& chips", description="")

    assert re.search(r'<textarea name="excerpt"[^>]* placeholder="Boil it."', page)
    assert page.count("search-result-description") == 1
    assert Post.objects.values_list("excerpt", "description").get() == ("Fish\n& chips", None)


def test_wrong_addresses_and_long_summaries_are_errors_of_the_form(editor_client: Client) -> None:
    post = make_post()
    make_post(slug="soup")
    values = {"slug": "So up", "canonical_url": "soup", "excerpt": "x" * 501, "description": "x" * 301}

    wrong = submit_form(editor_client, get_page(post), **values)
    taken = submit_form(editor_client, get_page(post), slug="soup")

    assert set(get_form_errors(wrong)) == values.keys()
    assert "is taken" in taken.text
    assert Post.objects.get(pk=post.pk).version == 1


def test_emptied_slug_is_made_from_the_title_again(editor_client: Client) -> None:
    post = make_post(title="Soup", slug="goulash", status="draft")

    submit_form(editor_client, get_page(post), slug="")

    assert Post.objects.get(pk=post.pk).slug == "soup"


def test_url_is_the_address_of_the_setting(gql: GraphQL, settings: Settings) -> None:
    post = make_post(slug="soup")
    address = "https://www.example.com/100%/{slug}?it's"
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_site_post_url=address)

    # A name of its own: other tests have compiled statements without the setting.
    found = gql("query ($id: ID!) { post(id: $id) { addressOnTheSite: url } }", id=str(post.pk)).data["post"]

    assert found == {"addressOnTheSite": "https://www.example.com/100%/soup?it's"}
