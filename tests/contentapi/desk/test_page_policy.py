"""Pages of the admin run the scripts of this site only: no code in the page, no `eval`, no style in the page."""

import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from django.contrib import admin
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from blog.models import PostSource
from contentapi.core.identity import Role
from tests.factories import make_author, make_comment, make_order, make_post, make_user
from users.oauth.clients import register_client

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "contentapi/static/unfold"
POLICY = (
    "default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "script-src 'self'; connect-src 'self'; form-action 'self'; img-src 'self' data:"
)


class InlineCode(HTMLParser):
    """Finds what a strict policy refuses: code and styles in the page, and scripts of other sites."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "style" or (tag == "script" and not given.get("src", "").startswith("/")):
            self.found.append(f"<{tag}>")
        self.found += [name for name in given if name == "style" or re.fullmatch(r"on[a-z]+", name)]
        self.found += [value for value in given.values() if value.lower().startswith("javascript:")]


def list_urls() -> list[str]:
    """Write an object of each kind. Return the address of the pages of lists, of new objects and of objects."""
    post = make_post(author=make_author(user=make_user(Role.AUTHOR)))
    PostSource.objects.create(post=post, source="kitchen", path="soup.md", digest=b"1", authors=[])
    make_comment(post)
    make_order()
    register_client(name="App", redirect_uris=["https://app.example.invalid/callback"])
    urls = [reverse(f"admin:{name}") for name in ("index", "password_change", "blog_post_deleted")]
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        urls += [reverse(f"{name}_changelist"), reverse(f"{name}_add")]
        row = model._base_manager.first()
        urls += [] if row is None else [reverse(f"{name}_change", args=[row.pk])]
    urls += [reverse(f"admin:blog_post_{page}", args=[post.pk]) for page in ("history", "delete")]
    return [*urls, reverse("admin:blog_author_history", args=[post.author_id])]  # the log of all other models


@pytest.mark.thorough  # fifty pages
def test_pages_have_a_strict_policy_and_nothing_that_it_refuses(admin_client: Client) -> None:
    for url in list_urls():
        response = admin_client.get(url)

        policy = response["Content-Security-Policy"]
        assert "default-src 'none'" in policy, url
        assert "unsafe" not in policy, url
        assert (InlineCode(response.text).found, url) == ([], url)


def test_policy_of_a_list_and_of_the_login_names_this_site_only(admin_client: Client) -> None:
    urls = [reverse("admin:index"), reverse("admin:blog_post_changelist")]

    policies = {admin_client.get(url)["Content-Security-Policy"] for url in urls}
    login = Client().get(reverse("admin:login"))["Content-Security-Policy"]

    assert policies | {login} == {POLICY}


def test_pages_may_show_images_of_the_network_that_delivers_them(admin_client: Client, settings: Settings) -> None:
    address = "https://cdn.example.invalid/images"
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_media_url=address)

    page = admin_client.get(reverse("admin:blog_image_changelist"))

    assert page["Content-Security-Policy"] == f"{POLICY} https://cdn.example.invalid"


def test_form_of_a_post_may_show_images_of_other_sites_in_the_preview(admin_client: Client) -> None:
    post = make_post()
    urls = [reverse("admin:blog_post_add"), reverse("admin:blog_post_change", args=[post.pk])]

    assert {admin_client.get(url)["Content-Security-Policy"] for url in urls} == {f"{POLICY} http: https:"}


def test_alpine_of_the_theme_is_replaced_by_the_build_of_the_readme() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| `([0-9a-f]{64})` \|", (FOLDER / "README.md").read_text(), re.MULTILINE)

    files = [path for path in FOLDER.rglob("*") if path.is_file() and path.name != "README.md"]
    found = {str(path.relative_to(FOLDER)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    assert found == dict(rows)
    assert finders.find("unfold/js/alpine/alpine.js") == str(FOLDER / "js/alpine/alpine.js")
