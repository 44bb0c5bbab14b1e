"""Drafts and working copies that a script saves while a person writes, and where the desk shows them."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from blog.desk.posts.form import PostForm
from blog.desk.posts.saving import make_title
from blog.history import versions
from blog.models import Post, WorkingCopy
from contentapi.core.identity import OPERATOR, Actor, Role
from tests.admin_forms import get_page, open_form
from tests.blog.post_rows import LATER
from tests.blog.post_versions import edit
from tests.blog.test_copy_form import read_copy
from tests.factories import make_actor, make_author, make_post, make_working_copy

LIST = reverse("admin:blog_post_changelist")


def autosave(client: Client, post: Post, **edits: str) -> Any:
    sent = open_form(client, get_page(post)) | edits
    return client.post(reverse("admin:blog_post_autosave", args=[post.pk]), sent)


def test_draft_is_saved_with_the_version_and_the_slug_that_it_then_has(editor_client: Client) -> None:
    post = make_post(title="Tides", slug="tides", status="draft")

    response = autosave(editor_client, post, title="Ebb", _act="publish")

    assert response.json()["versions"] == {"opened_copy": "", "opened_version": 2, "opened_post": "1"}
    assert response.json()["addresses"]["slug"] == "ebb"
    assert Post.objects.values_list("title", "status", "version").get() == ("Ebb", "draft", 2)


def test_working_copy_is_saved_with_its_next_version(editor_client: Client) -> None:
    post = make_post()

    first = autosave(editor_client, post, title="Ebb").json()["versions"]
    second = autosave(editor_client, post, body="Low.").json()["versions"]

    assert first["opened_copy"] < second["opened_copy"] == WorkingCopy.objects.get().version
    assert (read_copy()["title"], read_copy()["body"], Post.objects.get().version) == ("Ebb", "Low.", 1)


def test_text_of_a_post_that_is_neither_is_not_saved(editor_client: Client) -> None:
    post = make_post(status="archived")

    assert autosave(editor_client, post, title="Ebb").status_code == 200
    assert Post.objects.get().version == 1


@pytest.mark.parametrize("status", ["published", "archived"])
def test_text_of_a_draft_that_somebody_publishes_meanwhile_is_a_conflict(editor_client: Client, status: str) -> None:
    post = make_post(status="draft", title="Tides")
    opened = open_form(editor_client, get_page(post))
    edit(post, status=status)
    address = reverse("admin:blog_post_autosave", args=[post.pk])

    response = editor_client.post(address, opened | {"title": "Ebb"})

    assert (response.status_code, response.json().get("isConflict")) == (409, True)
    assert editor_client.post(address, opened).status_code == 200  # there is no text to lose


def test_outdated_text_is_refused(editor_client: Client) -> None:
    post = make_post(status="draft")
    opened = open_form(editor_client, get_page(post))
    edit(post, body="Other.")

    late = editor_client.post(reverse("admin:blog_post_autosave", args=[post.pk]), opened | {"title": "Ebb"})

    assert (late.status_code, Post.objects.get().version) == (409, 2)


@pytest.mark.parametrize("status", ["draft", "published", "scheduled"])
def test_form_of_a_draft_or_a_working_copy_has_an_address_for_the_script(status: str) -> None:
    form = PostForm(instance=make_post(status=status, publish_at=LATER if status == "scheduled" else None))

    assert ("data-autosave" in form.fields["body"].widget.attrs) is (status != "scheduled")


def test_refused_text_names_the_field_and_the_rule(editor_client: Client) -> None:
    make_post(slug="taken")
    post = make_post(status="draft")
    sent = {"title": " ", "tags": "x" * 51}

    refused = autosave(editor_client, post, **sent)
    assert (refused.status_code, refused.json()["problem"]) == (
        422,
        "Title: This field is required. Tags: Item 1 in the array did not validate: Ensure this value has at most 50 "
        "characters (it has 51).",
    )
    taken = autosave(editor_client, post, slug="taken")
    assert (taken.status_code, "isConflict" in taken.json()) == (409, False)
    assert "taken" in taken.json()["problem"]


def test_save_by_hand_saves_other_posts_and_the_author_but_not_the_state(editor_client: Client) -> None:
    author, post = make_author(), make_post(status="archived")

    assert (
        autosave(editor_client, post, title="Ebb", author=str(author.pk), _act="unarchive", by_hand="yes").status_code
        == 200
    )

    assert Post.objects.values_list("title", "author_id", "status").get() == ("Ebb", author.pk, "archived")


def test_save_by_hand_saves_the_author_of_a_published_post_beside_its_copy(editor_client: Client) -> None:
    author, post = make_author(), make_post()

    versions = autosave(editor_client, post, title="Ebb", author=str(author.pk), by_hand="yes").json()["versions"]

    assert Post.objects.values_list("author_id", "version").get() == (author.pk, versions["opened_post"])
    assert read_copy()["title"] == "Ebb"


# --- New posts -----------------------------------------------------------------------------------------


def create(client: Client, **edits: str) -> Any:
    sent = open_form(client, reverse("admin:blog_post_add")) | edits
    return client.post(reverse("admin:blog_post_autosave", args=["new"]), sent)


def test_new_text_becomes_a_draft_with_its_first_words_as_title(editor_client: Client) -> None:
    saved = create(editor_client, body="# Low tide\n\nThe boats lie *on the sand* until the evening comes back.").json()

    post = Post.objects.get()
    assert (post.status, post.title) == ("draft", "The boats lie on the sand until the…")
    assert saved["post"]["change"] == get_page(post)
    assert saved["addresses"]["title"] == post.title
    again = editor_client.post(
        saved["post"]["autosave"],
        open_form(editor_client, get_page(post)) | saved["versions"] | {"title": "Low"},
    )
    assert again.status_code == 200
    assert Post.objects.get().title == "Low"


@pytest.mark.parametrize(
    ("body", "title"), [("![](https://example.com/a.png)", "Untitled"), ("x" * 300, "x" * 200), (" ", "")]
)
def test_text_without_words_or_with_a_long_one_has_a_title(body: str, title: str) -> None:
    assert make_title(body)[:201] == title


def test_text_whose_response_was_lost_becomes_one_draft(editor_client: Client) -> None:
    kept = "kept-text:1:new:00000000-0000-0000-0000-000000000000"
    create(editor_client, title="Ebb", kept_text=kept)
    left = create(editor_client, title="Ebb", body="Low.", kept_text=kept, leaving="yes")
    create(editor_client, title="Flood", kept_text=kept.replace("new:0", "new:1"))

    assert left.cookies["saved_text"].value == kept
    assert list(Post.objects.order_by("pk").values_list("title", "body")) == [("Ebb", "Low."), ("Flood", "")]


# --- Lists and history ---------------------------------------------------------------------------------


def test_list_and_desk_mark_posts_with_unpublished_changes(editor_client: Client) -> None:
    make_post(title="Unchanged")
    assert "npublished changes" not in editor_client.get(LIST).text + editor_client.get(reverse("admin:index")).text
    scheduled = make_post(status="scheduled", publish_at="2100-01-01T00:00:00Z")
    make_working_copy(scheduled)
    make_working_copy(make_post(title="Changed"))

    page = editor_client.get(LIST).text
    assert "published, unpublished changes" in page
    assert re.search(r"scheduled for <time[^>]*>[^<]*</time>, unpublished changes", page)
    desk = editor_client.get(reverse("admin:index"))
    assert [post.title for post in desk.context["desk"].changed.rows] == ["Changed", scheduled.title]
    assert "Unpublished changes" in desk.text


def test_versions_of_a_draft_by_one_person_within_ten_minutes_are_one_entry() -> None:
    ada, ben = (make_actor(Role.EDITOR).through("admin") for _ in range(2))
    post = make_post(title="0", status="draft", changed_at=timezone.now() - timedelta(hours=1))
    saves: list[tuple[Actor, dict[str, Any]]] = [
        (ada, {"title": "1"}),
        (ada, {"body": "2"}),
        (ben, {"title": "3"}),
        (ada, {"title": "4"}),
        (ada, {"tags": ["5"]}),
    ]
    for actor, changes in saves:
        edit(post, actor, **changes)

    entries = versions.group_versions(versions.list_versions(actor=OPERATOR, post_id=str(post.pk)))

    assert [(entry.number, entry.changed_fields) for entry in entries] == [
        (6, ["title", "tags"]),
        (4, ["title"]),
        (3, ["title", "body"]),
        (1, None),
    ]


def test_versions_of_a_published_post_and_late_ones_are_entries_of_their_own() -> None:
    ada = make_actor(Role.EDITOR)
    public, draft = make_post(title="0"), make_post(title="0", status="draft")
    for post in (public, draft):
        for title in ("1", "2"):
            edit(post, ada, title=title)
            Post.objects.filter(pk=draft.pk, version=2).update(changed_at=timezone.now() - timedelta(minutes=11))

    for post in (public, draft):
        page = versions.list_versions(actor=OPERATOR, post_id=str(post.pk))
        assert [entry.number for entry in versions.group_versions(page)] == [3, 2, 1]
