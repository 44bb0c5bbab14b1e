"""What authors and editors see and change in the admin, beside the permission table of tests/contract."""

from typing import Any

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse

from blog.models import Author, Post, PostSource
from contentapi.core.identity import Role
from contentapi.desk.theme import build_sidebar
from tests.admin_forms import log_in, submit_form
from tests.contract.own_types import OWN_TYPES
from tests.factories import make_author, make_comment, make_post, make_user


@pytest.fixture
def author(db: None) -> Author:
    user = make_user(Role.AUTHOR)
    return make_author(user=user, email="ines@example.invalid", name="Ines")


@pytest.fixture
def browser(author: Author, client: Client) -> Client:
    assert author.user
    client.force_login(author.user)
    return client


def list_rows(browser: Client, page: str, **filters: str) -> set[Any]:
    return set(browser.get(reverse(f"admin:{page}_changelist"), filters).context["cl"].result_list)


def test_author_lists_own_posts_and_comments_on_them(browser: Client, author: Author) -> None:
    own, others = make_post(author=author), make_post()
    comment = make_comment(own, author=others.author)
    make_comment(others, author=author)

    assert list_rows(browser, "blog_post") == {own}
    assert list_rows(browser, "blog_comment") == {comment}
    assert list_rows(browser, "blog_author") == {author}


def test_new_post_of_an_author_is_their_own(browser: Client, author: Author) -> None:
    url = reverse("admin:blog_post_add")

    response = submit_form(browser, url, title="Soup", author=str(make_author().pk))

    assert (response.status_code, 'name="author"' in browser.get(url).text) == (302, False)
    assert Post.objects.get().author == author


def test_author_changes_own_profile_but_not_its_account(browser: Client, author: Author) -> None:
    page = reverse("admin:blog_author_change", args=[author.pk])

    response = submit_form(browser, page, name="Ines F.", bio="Baker.", email="new@example.invalid", user="")

    before = author.user
    author.refresh_from_db()
    assert response.status_code == 302
    assert (author.name, author.bio) == ("Ines F.", "Baker.")
    assert (author.email, author.user) == ("ines@example.invalid", before)


def test_author_reads_another_profile_without_its_email(browser: Client) -> None:
    other = make_author(email="jo@example.invalid", bio="Fisher.")

    response = browser.get(reverse("admin:blog_author_change", args=[other.pk]))

    assert ("Fisher." in response.text, "jo@example.invalid" in response.text) == (True, False)


def test_log_of_an_object_names_people_by_name(browser: Client, author: Author) -> None:
    editor = make_user(Role.EDITOR, name="Edda", email="edda@example.invalid")
    desk = log_in(editor)
    submit_form(desk, reverse("admin:blog_author_change", args=[author.pk]), bio="Baker.")

    text = browser.get(reverse("admin:blog_author_history", args=[author.pk])).text

    assert ("Edda" in text, "Changed Bio." in text, "edda@example.invalid" in text) == (True, True, False)


def test_author_search_does_not_find_other_emails(browser: Client) -> None:
    make_author(email="jo@example.invalid")
    autocomplete = {"app_label": "blog", "model_name": "post", "field_name": "author", "term": "jo@"}

    assert list_rows(browser, "blog_author", q="jo@") == set()
    assert browser.get(reverse("admin:autocomplete"), autocomplete).json()["results"] == []


@pytest.mark.parametrize(
    ("role", "entries"),
    [
        (Role.AUTHOR, {"Desk", "Posts", "Comments", "Authors", "Images", "API keys"}),
        (Role.EDITOR, {"Desk", "Posts", "Comments", "Authors", "Images", "Imports", "API keys"}),
        (
            Role.ADMIN,
            {"Desk", "Posts", "Comments", "Authors", "Images", "Imports", "API keys"}
            | {"Users", "Applications", "Connected applications", "Webhooks", "Orders"},
        ),
    ],
)
def test_sidebar_shows_what_the_role_may_open(role: Role, entries: set[str]) -> None:
    request = RequestFactory().get("/")
    request.user = make_user(role)

    shown = {item["title"] for group in build_sidebar(request) for item in group["items"]}

    assert shown - {own.plural.title() for own in OWN_TYPES} == entries


def test_author_sees_the_source_of_own_posts_only(browser: Client, author: Author) -> None:
    own, other = make_post(author=author), make_post()
    for post in (own, other):
        PostSource.objects.create(post=post, source="kitchen", path=f"{post.pk}.md", digest=b"1", authors=[])

    pages = [browser.get(reverse("admin:blog_post_change", args=[post.pk])).text for post in (own, other)]

    assert ["kitchen" in page for page in pages] == [True, False]
