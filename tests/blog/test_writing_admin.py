"""The form of a post as a place to write: its fields, the session and the kept text."""

import hashlib
import re
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse

from blog.desk.posts.form import PostForm
from blog.desk.posts.writing import name_saved_text
from blog.models import Author, Post
from contentapi.core.identity import Role
from tests.admin_forms import get_form_errors, open_form, submit_form
from tests.blog.author_clients import browse
from tests.factories import make_author, make_post, make_user

ROOT = Path(__file__).resolve().parents[2]
VENDOR = ROOT / "blog/static/blog/vendor"
ADD = reverse("admin:blog_post_add")
PREVIEW = reverse("admin:blog_post_preview")
SESSION = reverse("admin:blog_post_session")
KEPT = "kept-text:7:new:01234567-89ab-cdef-0123-456789abcdef"


# The form


def test_form_of_a_new_post_has_the_own_profile_as_author() -> None:
    client = browse(Role.EDITOR, name="Own")

    assert open_form(client, ADD)["author"] == str(Author.objects.get(name="Own").pk)
    assert open_form(client, f"{ADD}?author={make_author().pk}")["author"] == str(Author.objects.latest("pk").pk)


@pytest.mark.parametrize("has_profile", [True, False])
def test_editor_who_chooses_no_author_writes_as_themselves(has_profile: bool) -> None:
    client, editor = Client(), make_user(Role.EDITOR, name="Edda Editor")
    client.force_login(editor)
    if has_profile:
        make_author(user=editor, name="Edda Editor")

    response = submit_form(client, ADD, title="Mine", body="Text", tags="", author="")

    assert response.status_code == 302, get_form_errors(response)
    post = Post.objects.select_related("author").get(title="Mine")
    assert (post.author.user_id, post.author.name) == (editor.pk, "Edda Editor")


def test_title_that_was_pasted_in_lines_is_stored_as_one_line() -> None:
    assert PostForm.base_fields["title"].clean("Soup\r\nfor forty") == "Soup for forty"


def test_unchanged_title_with_a_line_end_is_kept() -> None:
    post = make_post(title="One\r\ntwo", status="draft")

    submit_form(browse(Role.EDITOR), reverse("admin:blog_post_change", args=[post.pk]), body="New.")

    post.refresh_from_db()
    assert (post.title, post.body) == ("One\r\ntwo", "New.")


def test_form_names_its_post_and_version_and_whether_it_was_refused() -> None:
    post = make_post(version=3)
    client = browse(Role.EDITOR)
    address = reverse("admin:blog_post_change", args=[post.pk])

    fresh, refused = client.get(address).text, submit_form(client, address, title="", kept_text=KEPT)

    assert f'data-post="{post.pk}" data-version="3"' in fresh
    assert "saved_text" not in refused.cookies
    assert "data-unsaved" not in fresh
    assert "data-unsaved" in refused.text


def test_form_loads_files_of_this_server_only() -> None:
    page = browse(Role.EDITOR).get(ADD).text

    assert 'data-post="new"' in page
    addresses = re.findall(r'<(?:script|link|img|iframe)[^>]* (?:src|href)="([^"]*)"', page)
    assert any("markdown-toolbar-element" in address for address in addresses)
    assert all(address.startswith(("/static/", "/admin/")) for address in addresses)


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("One\r\n\r\n![Uploading sea  1 .png, 12](image:0)\r\n\r\nTwo", "One\n\nTwo"),
        ("![Uploading a.png, 1](image:0)", ""),
        ("In ![Uploading a.png, 1](image:0) a line", "In  a line"),
        ("![Uploading a.png, 1](image:7) ![Boat](image:0)", "![Uploading a.png, 1](image:7) ![Boat](image:0)"),
    ],
)
def test_marks_of_uploads_are_not_stored(sent: str, stored: str) -> None:
    assert PostForm.base_fields["body"].clean(sent) == stored


# The session and the kept text


def test_session_names_the_user_and_a_token_that_is_not_cached() -> None:
    client = Client(enforce_csrf_checks=True)
    user = make_user(Role.AUTHOR)
    client.force_login(user)

    response = client.get(SESSION)

    assert response.json()["user"] == str(user.pk)
    assert "no-store" in response["Cache-Control"]
    sent = client.post(PREVIEW, {"post": "new", "csrfmiddlewaretoken": response.json()["token"]})
    assert sent.status_code == 200


def test_saved_post_names_the_kept_text_that_the_browser_may_remove() -> None:
    client = browse(Role.AUTHOR)

    response = submit_form(client, ADD, title="Soup", kept_text=KEPT)
    changed = submit_form(client, reverse("admin:blog_post_change", args=[Post.objects.get().pk]), kept_text=KEPT)

    for cookie in (response.cookies["saved_text"], changed.cookies["saved_text"]):
        assert (cookie.value, cookie["path"], cookie["samesite"]) == (KEPT, "/admin/", "Lax")


@pytest.mark.parametrize("kept", ["x; Domain=evil", ""])
def test_strange_name_sets_no_cookie(kept: str) -> None:
    response = name_saved_text(RequestFactory().post("/", {"kept_text": kept}), HttpResponse())

    assert "saved_text" not in response.cookies


def test_every_page_names_its_user_to_the_script_of_the_kept_texts() -> None:
    client, user = Client(), make_user(Role.AUTHOR)

    anonymous = client.get(reverse("admin:login")).text
    client.force_login(user)

    assert 'src="/static/blog/kept_texts.js?user="' in anonymous
    assert f'src="/static/blog/kept_texts.js?user={user.pk}"' in client.get(reverse("admin:index")).text


# Files of other projects


def test_vendored_files_are_those_of_the_versions_in_the_readme() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| `([0-9a-f]{64})` \|", (VENDOR / "README.md").read_text(), re.MULTILINE)

    files = [path for path in VENDOR.rglob("*") if path.is_file() and path.name != "README.md"]
    found = {str(path.relative_to(VENDOR)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    assert dict(rows) == found
