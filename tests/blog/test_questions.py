"""What publishes, hides or destroys something asks once: dialogs of the form of a post, and pages of actions."""

import re
from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from blog.models import Comment, WorkingCopy
from contentapi.core.identity import Role
from contentapi.desk.actions import Action
from contentapi.desk.bases import PolicyAdmin
from tests.admin_forms import get_page, read_form, submit_form
from tests.blog.post_copies import save
from tests.blog.test_admin_states import ADD, LATER
from tests.blog.test_bulk_admin import choose_action, list_states
from tests.contract.own_types import OWN_TYPES
from tests.factories import make_author, make_comment, make_post, make_user


@pytest.mark.parametrize(
    ("status", "asking"),
    [
        (None, ["publish"]),
        ("draft", ["publish", "archive"]),
        ("scheduled", ["publish"]),
        ("published", ["unpublish", "archive"]),
        ("archived", ["publish_again"]),
    ],
)
def test_dialog_asks_before_a_button_publishes_or_hides_a_post(
    editor_client: Client, status: str | None, asking: list[str]
) -> None:
    times = {"publish_at": LATER} if status == "scheduled" else {}
    post = make_post(title="Soup", author=make_author(name="Ines"), status=status, **times) if status else None

    page = editor_client.get(get_page(post) if post else ADD).text

    dialogs = re.findall(r'<dialog.*?data-value="(\w+)".*?</dialog>', page, re.DOTALL)
    assert dialogs == asking
    assert page.count("<span data-title>Soup</span>") == page.count("The post is by Ines.") == len(asking) * bool(post)


@pytest.mark.parametrize(
    ("action", "status"),
    [
        ("publish", "draft"),
        ("publish_again", "archived"),
        ("archive", "published"),
    ],
)
def test_action_that_publishes_hides_or_deletes_asks_for_one_post_too(
    editor_client: Client, action: str, status: str
) -> None:
    post = make_post(status=status, title="Soup")

    page = choose_action(editor_client, action, [post])

    assert read_form(page.text)["ids"] == str(post.pk)
    assert ("desk-danger" in page.text) == (not action.startswith("publish"))
    assert list_states() == [status]


def list_actions() -> Iterator[tuple[str, Action]]:
    for model, model_admin in admin.site._registry.items():
        if isinstance(model_admin, PolicyAdmin):
            yield from ((f"{model.__name__}.{action.name}", action) for action in model_admin.desk_actions)


def test_each_action_that_destroys_or_hides_something_asks_first() -> None:
    asking = {name for name, action in list_actions() if action.is_dangerous and action.confirmed_from == 1}

    assert asking - {f"{own.name}.unpublish" for own in OWN_TYPES} == {
        "ApiKey.revoke", "Comment.delete", "Image.delete", "Order.cancel", "Post.archive", "Post.delete_selected",
        "Post.unpublish",
        "User.lock", "Webhook.disable",
    }  # fmt: skip
    dangerous = re.compile(r"delete|\barchive$|cancel|disable|\block$|remove|revoke|unpublish")
    named = {name for name, _ in list_actions() if dangerous.search(name.rpartition(".")[2])}
    assert named <= asking


def test_deletion_of_a_comment_asks_and_can_be_undone(editor_client: Client) -> None:
    comment = make_comment(make_post(title="Soup"), author=make_author(name="Rosa"), body="Tasty.")
    form, page = get_page(comment.post), reverse("admin:blog_comment_action", args=[comment.pk, "delete"])

    button = re.search(rf'href="({page}[^"]*)"', editor_client.get(form).text)
    assert button
    asked = editor_client.get(button[1])
    assert Comment.objects.get().state == "visible"
    assert "Delete: Tasty." in asked.text
    assert "By Rosa, on “Soup”" in asked.text
    assert 'class="desk-button desk-danger"' in asked.text
    response = submit_form(editor_client, button[1])

    assert response.headers["Location"] == f"{form}#comments"
    assert Comment.objects.get().state == "deleted"
    assert (
        reverse("admin:blog_comment_action", args=[comment.pk, "restore"])
        in editor_client.get(reverse("admin:blog_comment_change", args=[comment.pk])).text
    )


def test_dialog_names_whose_changes_are_discarded(editor_client: Client) -> None:
    post = make_post(title="Soup", author=make_author(name="Ines"))
    save(post, title="Stew")
    WorkingCopy.objects.update(updated_by=make_user(Role.EDITOR, name="Ada").pk)

    page = editor_client.get(get_page(post)).text

    dialog = page.partition('id="discard-question"')[2].partition("</dialog>")[0]
    assert 'data-value="discard"' in dialog
    assert "Discard the changes of “<span data-title>Soup</span>”?" in dialog
    assert "The post is by Ines. Ada saved them at <time" in dialog
    assert "desk-danger" in dialog
