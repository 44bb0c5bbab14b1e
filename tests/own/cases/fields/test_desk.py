"""Own fields in the desk: the form of a post and of an author, the history, and the merge of two versions."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from blog import services
from blog.history import copies, versions
from blog.history.conflicts import merge_post, read_conflict
from blog.models import Author, Post, PostStatus, WorkingCopy
from contentapi.auth.sessions import build_session_actor
from contentapi.core.identity import Actor, Role
from tests.admin_forms import open_form
from tests.factories import make_author, make_post, make_user


@pytest.fixture
def editor(client: Client) -> Actor:
    """Return an editor, who is logged in in the client."""
    user = make_user(Role.EDITOR)
    client.force_login(user)
    return build_session_actor(user)


def test_form_shows_and_saves_own_fields(client: Client, editor: Actor) -> None:  # noqa: ARG001
    post = make_post(status=PostStatus.DRAFT, own={"rating": 3, "sources": ["a", "b"], "unknown": 1})
    address = reverse("admin:blog_post_change", args=[post.pk])

    sent = open_form(client, address)
    changed = {"own_rating": "5", "own_sources": "b\r\n\r\nc", "own_level": "expert", "own_subtitle": "A line"}
    response = client.post(address, {**sent, **changed, "_save": "Save"})

    assert (sent["own_rating"], sent["own_sources"], sent["own_level"]) == ("3", "a\r\nb", "beginner")
    assert response.status_code == 302
    post.refresh_from_db()
    assert post.own == {
        "rating": 5, "sources": ["b", "c"], "level": "expert", "subtitle": "A line", "unknown": 1,
    }  # fmt: skip


def test_form_names_the_field_that_breaks_a_limit(client: Client, editor: Actor) -> None:  # noqa: ARG001
    post = make_post(status=PostStatus.DRAFT)
    address = reverse("admin:blog_post_change", args=[post.pk])

    response = client.post(address, {**open_form(client, address), "own_rating": "6", "own_price": "dear"})

    errors = response.context["adminform"].form.errors
    assert errors == {"own": ["Rating: The largest value is 5 (got 6).", "Price: price must be a number."]}


def test_inputs_have_labels(client: Client, editor: Actor) -> None:  # noqa: ARG001
    page = client.get(reverse("admin:blog_post_add")).content.decode()

    found = re.search(r'<label for="(\w+)">Event at</label>', page)
    assert found
    assert re.search(rf'<input[^>]* name="own_event_at"[^>]* id="{found[1]}"', page)
    assert "A line under the title." in page


def test_new_post_of_the_form_has_own_fields(client: Client, editor: Actor) -> None:  # noqa: ARG001
    address = reverse("admin:blog_post_add")

    client.post(address, {**open_form(client, address), "title": "T", "body": "B", "own_rating": "2"})

    assert Post.objects.get().own["rating"] == 2


def test_author_is_edited_in_the_desk(client: Client, editor: Actor) -> None:  # noqa: ARG001
    author = make_author(own={"town": "Lund"})
    address = reverse("admin:blog_author_change", args=[author.pk])

    shown = client.get(address).content.decode()
    response = client.post(address, {"name": "Ann", "bio": "", "avatar_url": "", "email": "", "own_town": "Ystad"})

    assert 'value="Lund"' in shown
    assert response.status_code == 302
    assert Author.objects.get(pk=author.pk).own == {"town": "Ystad"}


def test_working_copy_has_own_fields_until_it_is_published(editor: Actor) -> None:
    post = make_post(own={"rating": 3})

    services.save_working_copy(actor=editor, post_id=str(post.pk), rating=4)
    services.save_working_copy(actor=editor, post_id=str(post.pk), subtitle="A line")
    assert WorkingCopy.objects.get().content["own"] == {"rating": 4, "subtitle": "A line"}
    assert Post.objects.get().own == {"rating": 3}

    services.publish_working_copy(actor=editor, post_id=str(post.pk))
    assert Post.objects.get().own == {"rating": 4, "subtitle": "A line"}


def test_history_names_the_changed_field_and_restores_it(editor: Actor) -> None:
    post = make_post(status=PostStatus.DRAFT, own={"rating": 3})
    post = services.edit_post(actor=editor, post_id=str(post.pk), changes={"rating": None, "subtitle": "A line"})

    comparison = versions.compare_versions(actor=editor, post_id=str(post.pk), old=1, new=2)
    page = versions.list_versions(actor=editor, post_id=str(post.pk))
    copies.restore_text(actor=editor, post_id=str(post.pk), number=1, post_version=2, copy_version=0)

    assert comparison.fields == [("subtitle", None, "A line"), ("rating", 3, None)]
    assert page.versions[0].changed_fields == ["subtitle", "rating"]
    assert Post.objects.get().own == {"rating": 3}


def test_pages_of_the_history_show_own_fields(client: Client, editor: Actor) -> None:
    post = make_post(status=PostStatus.DRAFT, own={"sources": ["a"]})
    services.edit_post(actor=editor, post_id=str(post.pk), changes={"sources": ["b", "c"]})

    history = client.get(reverse("admin:blog_post_history", args=[post.pk])).content.decode()
    version = client.get(reverse("admin:blog_post_version", args=[post.pk, 2])).content.decode()

    assert "sources" in history
    assert "b, c" in version


def test_merge_takes_both_changes_of_own_fields(editor: Actor) -> None:
    post = make_post(status=PostStatus.DRAFT, own={"rating": 3, "subtitle": "Old"})
    post_id = str(post.pk)
    services.edit_post(actor=editor, post_id=post_id, changes={"rating": 4, "price": 2})

    conflict = read_conflict(actor=editor, post_id=post_id, opened=1)
    mine = {**conflict.present.values, "own": {"rating": 5, "subtitle": "New", "price": None}}
    merged = merge_post(conflict, mine, their_name="Ann")

    chosen = {name: value for name, value in merged.values["own"].items() if value is not None}
    assert chosen == {"rating": 5, "subtitle": "New", "price": 2.0}
    assert merged.disputed == ["rating"]


def test_conflict_page_shows_own_fields_of_both(client: Client, editor: Actor) -> None:
    post = make_post(status=PostStatus.DRAFT, own={"subtitle": "Old"})
    address = reverse("admin:blog_post_change", args=[post.pk])
    sent = open_form(client, address)
    services.edit_post(actor=editor, post_id=str(post.pk), changes={"subtitle": "Theirs"})

    response = client.post(address, {**sent, "own_subtitle": "Mine", "_save": "Save"})

    assert response.status_code == 409
    assert ("subtitle", "Old", "Theirs", "Mine") in response.context["fields"]
    assert response.context["merged"].values["own"]["subtitle"] == "Mine"
