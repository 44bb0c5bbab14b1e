"""The form of a post that changes its working copy, after somebody else has saved the copy or the post."""

import re

import pytest
from django.test import Client

from blog import services
from blog.models import Post
from contentapi.core.identity import OPERATOR, Role
from tests.admin_forms import get_page, read_form, submit_form
from tests.blog.post_copies import save
from tests.blog.post_rows import LATER
from tests.blog.test_admin_conflicts import BODY, MINE, THEIRS, read_forms
from tests.blog.test_copy_form import TIME, read_copy
from tests.factories import make_actor, make_author, make_post


def test_working_copy_that_another_person_saved_is_a_page_with_both_texts(editor_client: Client) -> None:
    ada = make_actor(Role.EDITOR)
    post = make_post(body=BODY)
    opened = read_form(editor_client.get(get_page(post)).text)
    save(post, ada, body=THEIRS, title="Ada's title")

    page = editor_client.post(get_page(post), opened | {"body": MINE, "_save": "Save"})

    assert page.status_code == 409
    assert "It replaces the changes of" in page.text
    merge = read_forms(page)["merge"]
    assert (merge["body"], merge["title"]) == ("Mine\r\ntwo\r\nthree\r\nfour\r\ntheirs\r\n", "Ada's title")
    response = editor_client.post(get_page(post), merge | {"_save": "Save"})
    assert response.status_code == 302
    assert read_copy()["body"] == MINE.replace("five", "theirs")


def test_form_does_not_take_back_the_coauthors_that_another_person_has_set(editor_client: Client) -> None:
    post, other = make_post(), make_author(name="Jo")
    save(post, title="Ebb")
    opened = read_form(editor_client.get(get_page(post)).text)
    changes = {"coauthor_ids": [str(other.pk)]}
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes=changes)

    page = editor_client.post(get_page(post), opened | {"body": "Low.", "_save": "Save"})

    assert page.status_code == 409
    merge = read_forms(page)["merge"]
    assert editor_client.post(get_page(post), merge | {"_save": "Save"}).status_code == 302
    assert (Post.objects.get().coauthor_ids, read_copy()["body"]) == ([other.pk], "Low.")


def test_publication_of_changes_of_an_outdated_text_is_a_page_that_merges_and_publishes(editor_client: Client) -> None:
    post = make_post(body=BODY)
    save(post, body=MINE)
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"body": THEIRS})
    opened = read_form(editor_client.get(get_page(post)).text)

    page = editor_client.post(get_page(post), opened | {"_act": "publish_changes"})

    assert page.status_code == 409
    merge = read_forms(page)["merge"]
    saved = editor_client.post(get_page(post), merge | {"_act": "publish_changes"})
    submit_form(editor_client, saved.headers["Location"])
    assert Post.objects.values_list("body", "version").get() == (MINE.replace("five", "theirs"), 3)


@pytest.mark.parametrize(
    ("pressed", "status", "name", "then"),
    [
        ("schedule_changes", "published", "_act", "and schedule the changes"),
        ("unschedule_changes", "published", "_act", "and do not publish the changes"),
        ("schedule_changes", "archived", "_save", "<"),  # the post is not public any more
        ("discard", "published", "_save", "<"),
    ],
)
def test_page_of_a_conflict_keeps_the_pressed_button(
    editor_client: Client, pressed: str, status: str, name: str, then: str
) -> None:
    post = make_post(body=BODY)
    save(post, body=MINE, publish_at=LATER)
    opened = read_form(editor_client.get(get_page(post)).text)
    save(post, body=THEIRS)
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"status": status})

    page = editor_client.post(get_page(post), opened | {"_act": pressed, **TIME})

    assert page.status_code == 409
    for choice, label in {"mine": "Keep my version", "merge": "Save the merged version"}.items():
        section = page.text.partition(f'id="choice-{choice}"')[2].partition("</section>")[0]
        assert re.search(rf'name="{name}" value="\w+">{label} ?{then}', section)
        assert read_forms(page)[choice]["schedule_at_local"] == TIME["schedule_at_local"]


def test_draft_that_was_published_meanwhile_is_saved_as_a_working_copy(editor_client: Client) -> None:
    post = make_post(body=BODY, status="draft")
    opened = read_form(editor_client.get(get_page(post)).text)
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"body": THEIRS, "status": "published"})
    page = editor_client.post(get_page(post), opened | {"body": MINE, "_save": "Save"})

    editor_client.post(get_page(post), read_forms(page)["mine"] | {"_save": "Save"})

    assert (Post.objects.get().body, read_copy()["body"]) == (THEIRS, MINE)


def test_working_copy_that_the_form_of_a_draft_did_not_open_is_not_replaced_unseen(editor_client: Client) -> None:
    post = make_post(body=BODY, status="draft")
    opened = read_form(editor_client.get(get_page(post)).text)
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"title": "Ebb"})
    save(post, body=THEIRS)

    page = editor_client.post(get_page(post), opened | {"body": MINE, "_save": "Save"})

    assert editor_client.post(get_page(post), read_forms(page)["merge"] | {"_save": "Save"}).status_code == 302
    assert (Post.objects.get().body, read_copy()["body"]) == (BODY, MINE.replace("five", "theirs"))


def test_changes_that_another_person_discarded_are_a_conflict_and_can_be_kept(editor_client: Client) -> None:
    post = make_post(body=BODY)
    save(post, body=THEIRS)
    opened = read_form(editor_client.get(get_page(post)).text)
    services.discard_working_copy(actor=OPERATOR, post_id=str(post.pk))

    page = editor_client.post(get_page(post), opened | {"body": MINE, "_save": "Save"})

    assert page.status_code == 409
    assert editor_client.post(get_page(post), read_forms(page)["mine"] | {"_save": "Save"}).status_code == 302
    assert (Post.objects.get().version, read_copy()["body"]) == (1, MINE)
