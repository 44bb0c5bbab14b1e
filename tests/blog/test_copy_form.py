"""The form of a post that changes its working copy: its buttons, and saves after somebody else's."""

import re
from datetime import UTC, datetime
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from blog import services
from blog.desk.posts.conflict import choose_button
from blog.models import Post, WorkingCopy
from contentapi.core.identity import OPERATOR, Role
from tests.admin_forms import get_page, read_form, submit_form
from tests.blog.post_copies import publish_in_desk, save
from tests.blog.post_rows import LATER
from tests.blog.post_versions import edit
from tests.blog.test_admin_conflicts import BODY, MINE, THEIRS, choose, meet_conflict, read_forms
from tests.factories import make_actor, make_author, make_post, make_working_copy

LIST = reverse("admin:blog_post_changelist")
TIME = {"schedule_at_local": "2100-07-01T09:00", "schedule_at_zone": "Europe/Berlin"}


def read_copy() -> dict[str, Any]:
    content: dict[str, Any] = WorkingCopy.objects.get().content
    return content


def list_buttons(page: str) -> list[str]:
    """Return the labels of the buttons in the row that stays in view."""
    row = page[page.index('id="submit-row"') :]
    labels = [label.strip() for label in re.findall(r"<button[^>]*>([^<]*)</button>", row)]
    return labels[: labels.index("Save and continue editing") + 1]


def test_save_of_a_published_post_is_a_working_copy_that_the_form_then_shows(editor_client: Client) -> None:
    post = make_post(title="Tides", body="High.", tags=["sea"])

    response = submit_form(editor_client, get_page(post), title="Ebb", body="Low.\r\n", tags="a\r\nb", _save="Save")

    assert response.headers["Location"] == LIST
    assert (Post.objects.get().title, Post.objects.get().version) == ("Tides", 1)
    assert {name: read_copy()[name] for name in ("title", "body", "tags")} == {
        "title": "Ebb",
        "body": "Low.\n",
        "tags": ["a", "b"],
    }
    assert "are saved. Readers do not see them yet." in editor_client.get(LIST).text
    page = editor_client.get(get_page(post))
    shown = read_form(page.text)
    assert (shown["title"], shown["tags"]) == ("Ebb", "a\r\nb")
    assert "This post has changes that readers do not see" in page.text
    assert list_buttons(page.text) == ["Save changes", "Publish changes", "Save and continue editing"]


def test_publish_changes_makes_one_version(editor_client: Client) -> None:
    post = make_post(title="Tides")
    save(post, title="Flood")

    publish_in_desk(editor_client, post, body="Low.")

    assert Post.objects.values_list("title", "body", "version").get() == ("Flood", "Low.", 2)
    assert not WorkingCopy.objects.exists()
    assert "has the new text" in editor_client.get(LIST).text


def test_draft_is_saved_itself_unless_it_has_a_working_copy(editor_client: Client) -> None:
    draft = make_post(status="draft")
    submit_form(editor_client, get_page(draft), title="Ebb")
    assert (Post.objects.get().title, WorkingCopy.objects.exists()) == ("Ebb", False)
    save(draft, title="Flood")

    page = editor_client.get(get_page(draft)).text
    publish_in_desk(editor_client, draft, body="Low.")

    assert list_buttons(page)[:2] == ["Save changes", "Take over the changes"]
    assert Post.objects.values_list("title", "body", "status").get() == ("Flood", "Low.", "draft")


def test_changes_are_scheduled_and_unscheduled(editor_client: Client) -> None:
    post = make_post()

    submit_form(editor_client, get_page(post), title="Ebb", _act="schedule_changes", **TIME)
    assert WorkingCopy.objects.get().publish_at == datetime(2100, 7, 1, 7, tzinfo=UTC)
    submit_form(editor_client, get_page(post), _act="unschedule_changes")

    assert WorkingCopy.objects.get().publish_at is None
    refused = submit_form(editor_client, get_page(post), _act="schedule_changes", schedule_at_local="")
    assert "A scheduled post needs a time of publication." in refused.text


def test_coauthors_of_a_published_post_change_at_once(editor_client: Client) -> None:
    post, other = make_post(), make_author()

    submit_form(editor_client, get_page(post), coauthor_ids=[str(other.pk)], title="Ebb", _save="Save")

    post.refresh_from_db()
    assert (post.coauthor_ids, post.title != "Ebb", read_copy()["title"]) == ([other.pk], True, "Ebb")


def test_summaries_of_the_working_copy_are_in_the_form_and_the_default_texts_are_those_of_its_text(
    editor_client: Client,
) -> None:
    post = make_post(body="High.", excerpt="Of tides.")

    submit_form(editor_client, get_page(post), body="Low.", excerpt="", description="Short.", _save="Save")

    assert (read_copy()["excerpt"], read_copy()["description"]) == (None, "Short.")
    page = editor_client.get(get_page(post)).text
    shown = read_form(page)
    assert (shown["excerpt"], shown["description"]) == ("", "Short.")
    assert 'placeholder="Low."' in page


def test_working_copy_that_another_person_saved_is_a_page_with_both_texts(editor_client: Client) -> None:
    post, ada = make_post(body=BODY), make_actor(Role.EDITOR)

    page = meet_conflict(editor_client, post, lambda: save(post, ada, body=THEIRS, title="Ada's title"), body=MINE)

    assert "It replaces the changes of" in page.text
    merge = read_forms(page)["merge"]
    assert (merge["body"], merge["title"]) == ("Mine\r\ntwo\r\nthree\r\nfour\r\ntheirs\r\n", "Ada's title")
    choose(editor_client, post, page, "merge")
    assert read_copy()["body"] == MINE.replace("five", "theirs")


def test_form_does_not_take_back_the_coauthors_that_another_person_has_set(editor_client: Client) -> None:
    post, other = make_post(), make_author(name="Jo")
    save(post, title="Ebb")

    page = meet_conflict(editor_client, post, lambda: edit(post, coauthor_ids=[str(other.pk)]), body="Low.")
    choose(editor_client, post, page, "merge")

    assert (Post.objects.get().coauthor_ids, read_copy()["body"]) == ([other.pk], "Low.")


def test_publication_of_changes_of_an_outdated_text_is_a_page_that_merges_and_publishes(editor_client: Client) -> None:
    post = make_post(body=BODY)
    save(post, body=MINE)
    edit(post, body=THEIRS)

    page = meet_conflict(editor_client, post, lambda: None, _act="publish_changes")
    saved = choose(editor_client, post, page, "merge", _act="publish_changes")
    submit_form(editor_client, saved.headers["Location"])
    assert Post.objects.values_list("body", "version").get() == (MINE.replace("five", "theirs"), 3)


@pytest.mark.parametrize(
    ("pressed", "status", "name", "then"),
    [
        ("publish_changes", "published", "_act", " and publish it"),
        ("schedule_changes", "published", "_act", " and schedule the changes"),
        ("unschedule_changes", "published", "_act", " and do not publish the changes"),
        ("schedule_changes", "archived", "_save", ""),  # the post is not public any more
        ("discard", "published", "_save", ""),
        ("publish", "draft", "_act", " and publish now"),
        ("publish", "published", "_save", ""),
    ],
)
def test_button_of_a_refused_save_stays_if_the_state_still_allows_its_action(
    pressed: str, status: str, name: str, then: str
) -> None:
    post = make_post(status=status)
    form: Any = SimpleNamespace(data={"_act": pressed})

    button = choose_button(make_actor(Role.EDITOR), form, post, make_working_copy(post, publish_at=LATER))

    assert (button["name"], button["then"]) == (name, then)


def test_page_of_a_conflict_keeps_the_pressed_button(editor_client: Client) -> None:
    post = make_post(body=BODY)

    page = meet_conflict(editor_client, post, lambda: save(post, body=THEIRS), _act="schedule_changes", **TIME)

    for choice, label in {"mine": "Keep my version", "merge": "Save the merged version"}.items():
        assert f'name="_act" value="schedule_changes">{label} and schedule the changes</button>' in page.text
        assert read_forms(page)[choice]["schedule_at_local"] == TIME["schedule_at_local"]


def test_draft_that_was_published_meanwhile_is_saved_as_a_working_copy(editor_client: Client) -> None:
    post = make_post(body=BODY, status="draft")

    page = meet_conflict(editor_client, post, lambda: edit(post, body=THEIRS, status="published"), body=MINE)
    choose(editor_client, post, page, "mine")

    assert (Post.objects.get().body, read_copy()["body"]) == (THEIRS, MINE)


def test_working_copy_that_the_form_of_a_draft_did_not_open_is_not_replaced_unseen(editor_client: Client) -> None:
    post = make_post(body=BODY, status="draft")

    page = meet_conflict(editor_client, post, lambda: save(edit(post, title="Ebb"), body=THEIRS), body=MINE)
    choose(editor_client, post, page, "merge")

    assert (Post.objects.get().body, read_copy()["body"]) == (BODY, MINE.replace("five", "theirs"))


def test_changes_that_another_person_discarded_are_a_conflict_and_can_be_kept(editor_client: Client) -> None:
    post = make_post(body=BODY)
    save(post, body=THEIRS)
    discard = partial(services.discard_working_copy, actor=OPERATOR, post_id=str(post.pk))

    choose(editor_client, post, meet_conflict(editor_client, post, discard, body=MINE), "mine")

    assert (Post.objects.get().version, read_copy()["body"]) == (1, MINE)
