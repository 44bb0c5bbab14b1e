"""The page for an editor whose post was changed or deleted while it was open: nothing that they typed is lost."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from blog import services
from blog.models import Post, PostVersion
from contentapi.core.identity import Actor, Role
from tests.admin_forms import get_page, open_form, read_form
from tests.blog.post_versions import edit
from tests.blog.racing import race
from tests.blog.test_copy_history import make_editor
from tests.factories import make_author, make_post, make_user

BODY = "One\ntwo\nthree\nfour\nfive\n"
MINE, THEIRS = BODY.replace("One", "Mine"), BODY.replace("five", "theirs")


@pytest.fixture
def ada(db: None) -> Actor:
    return make_editor("Ada").through("GraphQL")


@pytest.fixture
def post_of_both(db: None) -> Post:
    return make_post(title="Old", body=BODY, tags=["a", "b"], status="draft")


def read_forms(response: Any) -> dict[str, dict[str, str]]:
    """Return the values of each form of the page of a conflict, by its choice."""
    parts = response.text.split('<section aria-labelledby="choice-')[1:]
    return {part[: part.index('"')]: read_form(part[: part.index("</section>")]) for part in parts}


def meet_conflict(client: Client, post: Post, change: Callable[[], object], **edits: Any) -> Any:
    """Open the form of a post, let somebody change the post, and send the form. Return the page of the conflict."""
    opened = open_form(client, get_page(post))
    change()
    page = client.post(get_page(post), {**opened, "_save": "Save", **edits})
    assert page.status_code == 409
    return page


def choose(client: Client, post: Post, page: Any, choice: str, **button: str) -> Any:
    """Send the form of a choice on the page of a conflict."""
    response = client.post(get_page(post), read_forms(page)[choice] | (button or {"_save": "Save"}))
    assert response.status_code == 302
    return response


def test_second_editor_sees_who_changed_what_and_both_texts(
    editor_client: Client, ada: Actor, post_of_both: Post
) -> None:
    theirs = partial(edit, post_of_both, ada, body=THEIRS, status="published")
    response = meet_conflict(editor_client, post_of_both, theirs, body=MINE, title="My title")

    changes = [(person.split(",")[0], labels) for _, person, labels in response.context["newer"]]
    assert changes == [("Ada", "text, status, published at")]
    rows = {row[0]: row[1:] for row in response.context["fields"]}
    assert rows["title"] == ("Old", "Old", "My title")
    assert rows["status"] == ("draft", "published", "draft")
    opened_text = response.text.partition('aria-label="Text that both began with"')[2].partition("</pre>")[0]
    assert opened_text.endswith(BODY)
    assert f'href="{reverse("admin:blog_post_version", args=[post_of_both.pk, 1])}"' in response.text
    kinds = {(line.kind, line.text.strip()) for line in response.context["my_difference"]}
    assert {("removed", "One"), ("added", "Mine"), ("removed", "theirs"), ("added", "five")} <= kinds
    assert Post.objects.values_list("title", "version").get() == ("Old", 2)


def test_kept_version_replaces_the_other_one_which_stays_in_the_history(
    editor_client: Client, ada: Actor, post_of_both: Post
) -> None:
    theirs = partial(edit, post_of_both, ada, body=THEIRS, tags=["ada"])
    choose(editor_client, post_of_both, meet_conflict(editor_client, post_of_both, theirs, body=MINE), "mine")

    assert Post.objects.values_list("body", "tags", "version").get() == (MINE, ["a", "b"], 3)
    assert PostVersion.objects.values_list("body", "tags").get(version=2) == (THEIRS, ["ada"])


def test_merged_version_has_the_changes_of_both(editor_client: Client, ada: Actor, post_of_both: Post) -> None:
    theirs = partial(edit, post_of_both, ada, body=THEIRS, tags=["a", "ada"], title="Ada's title")
    page = meet_conflict(editor_client, post_of_both, theirs, body=MINE, tags="a\r\nb\r\nme")
    choose(editor_client, post_of_both, page, "merge")

    merged = ("Ada's title", "Mine\ntwo\nthree\nfour\ntheirs\n", ["a", "ada", "me"])
    assert Post.objects.values_list("title", "body", "tags").get() == merged


def test_marks_of_a_conflict_are_refused_once(editor_client: Client, ada: Actor, post_of_both: Post) -> None:
    theirs = partial(edit, post_of_both, ada, body=BODY.replace("One", "Theirs"))
    page = meet_conflict(editor_client, post_of_both, theirs, body=MINE)
    merge = read_forms(page)["merge"]
    assert "<<<<<<< your text\r\nMine\r\n=======\r\nTheirs\r\n>>>>>>> text of Ada" in merge["body"]

    refused = editor_client.post(get_page(post_of_both), merge)
    again = editor_client.post(get_page(post_of_both), read_form(refused.text))

    assert "The text still has marks of a conflict" in refused.text
    assert (refused.status_code, again.status_code) == (200, 302)
    assert Post.objects.get().body.startswith("<<<<<<< your text\n")


def test_taken_over_version_stays_and_the_next_page_still_has_my_text(
    editor_client: Client, ada: Actor, post_of_both: Post
) -> None:
    theirs = partial(edit, post_of_both, ada, body=THEIRS)
    page = meet_conflict(editor_client, post_of_both, theirs, body=MINE, title="My title")

    url = reverse("admin:blog_post_take_over", args=[post_of_both.pk])
    response = editor_client.post(url, read_forms(page)["theirs"])

    assert response.status_code == 200
    assert f"readonly>\n{MINE}</textarea>" in response.text.replace("\r\n", "\n")
    assert "My title" in response.text
    assert Post.objects.values_list("body", "version").get() == (THEIRS, 2)


def test_unknown_post_cannot_be_taken_over_and_its_page_still_has_my_text(editor_client: Client) -> None:
    response = editor_client.post(reverse("admin:blog_post_take_over", args=["x"]), {"title": "My title", "body": MINE})

    assert response.status_code == 404
    assert f"readonly>\n{MINE}</textarea>" in response.text.replace("\r\n", "\n")


def test_form_without_a_version_is_a_conflict_and_keeps_the_text(editor_client: Client, post_of_both: Post) -> None:
    values = open_form(editor_client, get_page(post_of_both)) | {"opened_version": "", "body": MINE}

    response = editor_client.post(get_page(post_of_both), values)

    assert response.status_code == 409
    assert read_forms(response)["merge"]["body"] == MINE.replace("\n", "\r\n")
    assert Post.objects.get().version == 1


def test_text_of_a_deleted_post_is_shown_with_a_way_to_restore_it(
    editor_client: Client, ada: Actor, post_of_both: Post
) -> None:
    opened = open_form(editor_client, get_page(post_of_both))
    services.delete_post(actor=ada, post_id=str(post_of_both.pk))

    response = editor_client.post(get_page(post_of_both), opened | {"body": MINE})

    assert response.status_code == 404
    assert "Ada, by a program" in response.text
    assert f"readonly>\n{MINE}</textarea>" in response.text.replace("\r\n", "\n")
    restore = reverse("admin:blog_post_restore_deleted", args=[post_of_both.pk])
    assert f'action="{restore}"' in response.text


def test_text_is_shown_to_an_author_who_cannot_restore_the_post(client: Client) -> None:
    client.force_login(make_author(user=make_user(Role.AUTHOR)).user)  # type: ignore[arg-type]
    others = make_post(status="draft")

    response = client.post(get_page(others), {"title": "x", "body": MINE})

    assert response.status_code == 404
    assert MINE in response.text
    assert "Restore the post" not in response.text


def test_time_of_publication_is_part_of_the_conflict(editor_client: Client, ada: Actor) -> None:
    post = make_post(published_at="2020-01-01T00:00Z")
    theirs = partial(edit, post, ada, title="New")
    response = meet_conflict(editor_client, post, theirs, published_at_local="2019-01-01T00:00")

    rows = {row[0]: [str(value)[:10] for value in row[1:]] for row in response.context["fields"]}
    assert rows["published at"] == ["2020-01-01", "2020-01-01", "2019-01-01"]


@pytest.mark.django_db(transaction=True)
def test_second_of_two_concurrent_saves_gets_the_page_of_the_conflict() -> None:
    post, editor = make_post(title="Old", status="draft"), make_user(Role.EDITOR)
    browsers = [Client(), Client()]
    for browser in browsers:
        browser.force_login(editor)
    opened = open_form(browsers[0], get_page(post))

    responses = race(
        lambda: Post.objects.select_for_update().get(pk=post.pk),
        partial(browsers[0].post, get_page(post), opened | {"title": "First"}),
        partial(browsers[1].post, get_page(post), opened | {"title": "Second"}),
    )

    saved, refused = sorted(responses, key=lambda response: response.status_code)
    assert (saved.status_code, refused.status_code) == (302, 409)
    assert {read_forms(refused)["mine"]["title"], Post.objects.get(version=2).title} == {"First", "Second"}
