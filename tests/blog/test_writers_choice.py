"""Accounts without an author profile are offered as authors in the forms of the desk, and get one when chosen."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from blog.models import Author, Comment, Post
from contentapi.core.identity import Role
from tests.admin_forms import get_form_errors, submit_form
from tests.factories import make_author, make_post, make_user
from users.models import User

CHOOSE, ADD = reverse("admin:blog_author_choose"), reverse("admin:blog_post_add")


@pytest.fixture
def account() -> User:
    return make_user(Role.AUTHOR, name="Nadia Berg", email="nadia@example.invalid")


def suggest(browser: Client, **parameters: str) -> dict[str, str]:
    found = browser.get(CHOOSE, parameters).json()
    return {result["id"]: result["text"] for result in found["results"]}


def test_suggestions_have_authors_and_accounts_that_may_write(editor_client: Client, account: User) -> None:
    author = make_author(name="Berg, a guest")
    make_user(Role.READER, name="Berg, a reader")
    make_user(Role.EDITOR, name="Berg, locked", is_active=False)

    expected = {str(author.pk): "Berg, a guest", f"account-{account.pk}": "Nadia Berg (no author profile yet)"}

    assert suggest(editor_client, term="berg") == expected
    assert suggest(editor_client, term="nadia@") == {f"account-{account.pk}": "Nadia Berg (no author profile yet)"}
    assert suggest(editor_client, term="berg", field_name="user") == {str(account.pk): "Nadia Berg"}


def test_accounts_follow_the_last_page_of_authors(editor_client: Client, account: User) -> None:
    for number in range(21):
        make_author(name=f"Author {number:02}", email="nadia@example.invalid")

    pages = [editor_client.get(CHOOSE, {"term": "nadia", "page": page}).json() for page in ("1", "2", 2**63 - 1)]

    assert [page["pagination"]["more"] for page in pages] == [True, False, False]
    assert [len(page["results"]) for page in pages[:2]] == [20, 2]
    assert pages[1]["results"][-1]["id"] == f"account-{account.pk}"


@pytest.mark.usefixtures("account")
def test_authors_do_not_see_who_has_an_account(client: Client) -> None:
    client.force_login(make_user(Role.AUTHOR))

    assert client.get(CHOOSE, {"term": "berg"}).status_code == 403


def test_chosen_account_becomes_the_author_of_a_post(editor_client: Client, account: User) -> None:
    assert submit_form(editor_client, ADD, title="Soup", author=f"account-{account.pk}").status_code == 302

    author = Author.objects.get(user=account)
    assert (author.name, author.email) == ("Nadia Berg", "nadia@example.invalid")
    assert Post.objects.get().author == author


def test_chosen_accounts_become_coauthors_in_their_order(editor_client: Client, account: User) -> None:
    post, jo = make_post(), make_author()
    chosen: list[Any] = [f"account-{account.pk}", str(jo.pk)]

    submit_form(editor_client, reverse("admin:blog_post_change", args=[post.pk]), coauthor_ids=chosen)

    assert Post.objects.get().coauthor_ids == [Author.objects.get(user=account).pk, jo.pk]


def test_form_that_is_refused_keeps_the_chosen_account(editor_client: Client, account: User) -> None:
    refused = submit_form(editor_client, ADD, title="", author=f"account-{account.pk}")

    assert set(get_form_errors(refused)) == {"title"}
    assert f'<option value="{Author.objects.get(user=account).pk}" selected' in refused.text


def test_unknown_account_is_an_error_of_the_field(editor_client: Client) -> None:
    refused = submit_form(editor_client, ADD, title="Soup", author="account-x")

    assert set(get_form_errors(refused)) == {"author"}
    assert not Post.objects.exists()


def test_comment_and_profile_can_name_an_account(editor_client: Client, account: User) -> None:
    other = make_user(Role.AUTHOR)
    comment = {"post": str(make_post().pk), "body": "Soup", "author": f"account-{account.pk}"}

    submit_form(editor_client, reverse("admin:blog_comment_add"), **comment)
    submit_form(editor_client, reverse("admin:blog_author_add"), name="Guest", user=str(other.pk))

    assert Comment.objects.get().author.user == account
    assert Author.objects.get(name="Guest").user == other
