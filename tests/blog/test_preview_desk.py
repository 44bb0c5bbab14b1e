"""Preview links in the admin: open the site, copy a link for a reviewer, revoke one."""

import re
from html import unescape

import msgspec
import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from blog import services
from blog.models import Post, PreviewLink
from contentapi.auth.sessions import SessionStore
from contentapi.core.identity import OPERATOR
from tests.admin_forms import log_in
from tests.blog.own_posts import make_own_post
from tests.blog.preview_requests import make_link, read_title
from tests.blog.stored_images import make_ready_image
from tests.factories import get_user, make_author, make_post

SITE = "https://www.example.com/preview?token={token}&path=/blog/{slug}"
TOKEN = re.compile(r"cap_[0-9a-f]{64}")


def open_desk(settings: Settings, addresses: str = "") -> tuple[Client, Post]:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_preview_url=addresses)
    actor, post = make_own_post(status="draft", title="Ebb", slug="ebb")
    browser = log_in(get_user(actor))
    return browser, post


def open_site(browser: Client, post: Post, **values: str) -> str:
    """Press "Preview on the site". Return the address to which the page leads."""
    response = browser.post(reverse("admin:blog_post_open_preview", args=[post.pk]), values)
    assert response.headers["Referrer-Policy"] == "no-referrer"
    found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', response.text)
    assert found is not None
    return unescape(found[1])


def test_preview_opens_the_site_with_a_link_of_one_hour_that_is_used_again(settings: Settings) -> None:
    browser, post = open_desk(settings, SITE)

    address = open_site(browser, post)

    token = TOKEN.findall(address)[0]
    link = PreviewLink.objects.get()
    assert address == SITE.format(token=token, slug="ebb")
    assert (link.expires_at - link.created_at).total_seconds() == 3600
    assert read_title(token, post) == "Ebb"
    assert open_site(browser, post) == address
    link.delete()
    assert open_site(browser, post) != address


def test_no_session_has_a_token_that_can_be_read(settings: Settings) -> None:
    browser, post = open_desk(settings, SITE)

    token = TOKEN.findall(open_site(browser, post))[0]

    stored = [SessionStore().decode(session.session_data) for session in Session.objects.all()]
    assert len(stored) == 1
    assert token[4:] not in str(stored)


def test_each_named_site_has_a_button(settings: Settings) -> None:
    browser, post = open_desk(settings, f"web={SITE} app=https://app.example.com/{{token}}")

    form = browser.get(reverse("admin:blog_post_change", args=[post.pk])).text

    assert "Preview on the site: web" in form
    assert "Preview on the site: app" in form
    assert open_site(browser, post, site="app").startswith("https://app.example.com/cap_")


def test_without_a_site_the_preview_is_a_page_of_this_server(settings: Settings) -> None:
    browser, post = open_desk(settings)

    address = open_site(browser, post)

    page = Client().get(address)
    assert page.status_code == 200
    assert "Ebb" in page.text


def test_page_of_a_preview_shows_the_cover_and_all_authors(settings: Settings) -> None:
    _, post = open_desk(settings)
    writers = [make_author(name=name) for name in ("Second Writer", "Third Writer")]
    image = make_ready_image(alt="Lemons on a beach")
    changes = {"cover_id": image.pk, "coauthor_ids": [str(each.pk) for each in writers]}
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes=changes)

    page = Client().get(make_link(post).addresses[-1].url).text

    names = [post.author.name, "Second Writer", "Third Writer"]
    assert re.findall("<span>([^<:]*)</span>", page) == names
    assert re.search(r'<img src="[^"]+" srcset="[^"]+"[^>]* alt="Lemons on a beach">', page)
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"cover_alt": "The crate"})
    assert 'alt="The crate"' in Client().get(make_link(post).addresses[-1].url).text


def test_link_for_a_reviewer_is_shown_once_and_listed(settings: Settings) -> None:
    browser, post = open_desk(settings, SITE)
    form = reverse("admin:blog_post_change", args=[post.pk])

    shown = browser.post(
        reverse("admin:blog_post_create_preview_link", args=[post.pk]), {"days": "7", "note": "For <the> harbour"}
    )

    tokens = set(TOKEN.findall(shown.text))
    link = PreviewLink.objects.get()
    assert len(tokens) == 1
    assert 'id="preview-links"' in shown.text  # the section alone, with the new link in its list
    assert "<html" not in shown.text
    assert "For &lt;the&gt; harbour" in shown.text
    assert (link.expires_at - link.created_at).days == 7
    assert read_title(tokens.pop(), post) == "Ebb"
    listed = browser.get(form).text
    assert "For &lt;the&gt; harbour" in listed
    assert not TOKEN.search(listed)
    revoke = reverse("admin:blog_post_revoke_preview_link", args=[post.pk, link.pk])
    assert f'href="{revoke}"' in listed
    asked = browser.get(revoke).text
    assert "Revoke the preview link “For &lt;the&gt; harbour”?" in asked
    assert PreviewLink.objects.exists()
    browser.post(revoke)
    assert not PreviewLink.objects.exists()
    assert "For &lt;the&gt; harbour" not in browser.get(form).text


@pytest.mark.parametrize("days", ["31", "x"])
def test_link_of_another_lifetime_is_refused_with_a_message(settings: Settings, days: str) -> None:
    browser, post = open_desk(settings)

    response = browser.post(reverse("admin:blog_post_create_preview_link", args=[post.pk]), {"days": days}, follow=True)

    assert "From 300 to 2592000 seconds" in response.text
    assert not PreviewLink.objects.exists()


def test_post_of_somebody_else_has_no_previews_in_the_form(settings: Settings) -> None:
    browser, _ = open_desk(settings)
    other = make_post()
    make_link(other, note="For the harbour")

    form = browser.get(reverse("admin:blog_post_change", args=[other.pk])).text

    assert "For the harbour" not in form
    assert "Preview on the site" not in form
