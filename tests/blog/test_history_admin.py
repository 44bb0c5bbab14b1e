"""The history of posts in the admin: its pages, restoring, Django's log, and access."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from blog import services
from blog.models import Post
from contentapi.core.identity import OPERATOR
from tests.admin_forms import read_form, submit_form
from tests.blog.post_copies import publish_in_desk
from tests.blog.post_versions import edit
from tests.factories import make_comment, make_post
from users.models import User

DELETED = reverse("admin:blog_post_deleted")


def get_url(name: str, *arguments: Any) -> str:
    return reverse(f"admin:blog_post_{name}", args=arguments)


def delete(post: Post) -> None:
    services.delete_post(actor=OPERATOR, post_id=str(post.pk))


def restore(client: Client, page: str) -> Any:
    """Press the button on the page of a version."""
    values = read_form(client.get(page).text)
    return client.post(f"{page}restore/", values, follow=True)


def list_log_messages() -> list[str]:
    return [entry.get_change_message() for entry in LogEntry.objects.order_by("pk")]


def get_messages(response: Any) -> list[str]:
    return [str(message) for message in response.context["messages"]]


def test_history_page_shows_who_changed_what_and_with_what(editor_client: Client) -> None:
    post = make_post(title="Soup")
    edit(post, title="<b>Soup</b>", tags=["hot"])
    publish_in_desk(editor_client, post, body="New.")

    page = editor_client.get(get_url("history", post.pk))

    editor = User.objects.get(pk=editor_client.session["_auth_user_id"])
    assert [(person, changes) for _, person, changes in page.context["versions"]] == [
        (f"{editor.name}, in the admin", "text"),
        ("command line", "title, tags"),
        ("database", "first version"),
    ]
    assert "<b>Soup</b>" not in page.text
    assert all(get_url("version", post.pk, number) in page.text for number in (1, 2, 3))


def test_history_page_has_links_to_older_versions(editor_client: Client) -> None:
    post = make_post(title="1")
    for number in range(2, 53):
        Post.objects.update(title=str(number))

    page = editor_client.get(get_url("history", post.pk))
    older = editor_client.get(get_url("history", post.pk), {"before": "3"})

    assert '<a href="?before=3">' in page.text
    assert [version.number for version, *_ in older.context["versions"]] == [2, 1]


def test_version_page_shows_the_differences_from_the_version_before(editor_client: Client) -> None:
    post = make_post(title="Old", body="One\ntwo <i>")
    edit(post, title="New", body="One\nthree <i>")

    page = editor_client.get(get_url("version", post.pk, 2))

    assert page.context["fields"] == [("title", "Old", "New")]
    assert '<del class="line"><mark>two</mark> &lt;i&gt;</del>' in page.text
    assert '<ins class="line"><mark>three</mark> &lt;i&gt;</ins>' in page.text
    assert "Restore title" not in page.text  # it is the present version


def test_version_page_compares_with_the_requested_version(editor_client: Client) -> None:
    post = make_post(title="One")
    edit(post, title="Two")
    edit(post, title="Three")

    page = editor_client.get(get_url("version", post.pk, 1), {"compare": "3"})

    assert page.context["fields"] == [("title", "Three", "One")]
    assert f'Differences from <a href="{get_url("version", post.pk, 3)}">version 3</a>' in page.text


def test_first_version_names_and_links_the_present_post(editor_client: Client) -> None:
    present, deleted = make_post(title="Old"), make_post(title="Old")
    edit(present, title="New")
    delete(deleted)

    pages = [editor_client.get(get_url("version", post.pk, 1)) for post in (present, deleted)]

    assert [page.context["title"] for page in pages] == ["Version 1 of New", "Version 1 of Old"]
    assert f'<a href="{get_url("change", present.pk)}">New</a>' in pages[0].text


def test_editor_restores_a_version_of_a_hidden_post_from_its_page(editor_client: Client) -> None:
    post = make_post(title="Old", body="Old.", status="archived")
    edit(post, title="New", body="New.")

    response = restore(editor_client, get_url("version", post.pk, 1))

    assert response.redirect_chain == [(get_url("change", post.pk), 302)]
    assert get_messages(response) == ["The text of version 1 is restored as version 3."]
    assert Post.objects.values_list("title", "body", "status", "version").get() == ("Old", "Old.", "archived", 3)


@pytest.mark.parametrize("present", ["1", "x"])
def test_restore_after_another_change_is_refused_with_a_message(editor_client: Client, present: str) -> None:
    post = make_post(title="Old")
    edit(post, title="New")

    response = editor_client.post(get_url("restore_version", post.pk, 1), {"present": present}, follow=True)

    assert get_messages(response) == ["Version conflict: the post is at version 2."]
    assert Post.objects.get().title == "New"


def test_editor_restores_a_deleted_post(editor_client: Client) -> None:
    post = make_post(title="Soup")
    make_comment(post)
    editor_client.post(get_url("delete", post.pk), {"post": "yes"})
    listed = editor_client.get(DELETED)
    history = editor_client.get(get_url("history", post.pk))

    response = editor_client.post(get_url("restore_deleted", post.pk), {"ids": post.pk, "next": DELETED}, follow=True)

    editor = User.objects.get(pk=editor_client.session["_auth_user_id"])
    ((deleted, person),) = listed.context["posts"]
    assert (deleted["title"], deleted["comments"], person) == ("Soup", 1, f"{editor.name}, in the admin")
    assert "This post is deleted." in history.text
    assert response.redirect_chain == [(DELETED, 302)]
    page = get_url("change", post.pk)
    assert get_messages(response) == [f'“<a class="message-link" href="{page}">Soup</a>” is restored.']
    restored = editor_client.get(get_url("history", post.pk))
    assert [changes for *_, changes in restored.context["versions"]] == ["restored", "first version"]
    assert post.comments.count() == 1
    assert list_log_messages()[-1] == "Restored."


def test_refused_restore_of_a_deleted_post_shows_the_reason(editor_client: Client) -> None:
    post = make_post()
    delete(post)
    post.author.delete()

    response = editor_client.post(get_url("restore_deleted", post.pk), {"ids": post.pk, "next": DELETED}, follow=True)

    assert response.redirect_chain == [(DELETED, 302)]
    reason = "The author of this post was deleted. The post cannot be restored without its author."
    assert get_messages(response) == [f"“{post.title}, version 1” was not restored. {reason}"]


def test_missing_version_is_a_404_page(editor_client: Client) -> None:
    post = make_post()

    pages = [editor_client.get(get_url("version", post.pk, number)) for number in (2, 10**18, 10**30)]

    assert [page.status_code for page in pages] == [404] * 3
    assert "This post has no version 2." in pages[0].text


# Django's own log


def test_log_names_the_fields_of_the_form_that_changed(editor_client: Client) -> None:
    post = make_post(title="Old", body="One\ntwo\n", tags=["a"], status="draft")
    page = get_url("change", post.pk)

    submit_form(editor_client, get_url("add"), title="Soup", author=str(post.author_id))
    submit_form(editor_client, page, body="One\r\nthree", tags="a\r\nb")
    submit_form(editor_client, page, _act="publish")
    submit_form(editor_client, get_url("change", make_post(title="Old", tags=["a"]).pk), title=" Old ", tags=" a \r\n")

    assert list_log_messages() == ["Added.", "Changed Text and tags.", "No fields changed."]
