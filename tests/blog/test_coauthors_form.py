"""The co-authors of a post in the form of the desk, on its pages and in conflicts."""

import pytest
from django.test import Client
from django.urls import reverse

from blog import services
from blog.models import Author, Post
from contentapi.core.identity import OPERATOR, Role
from tests.admin_forms import get_form_errors, get_page, read_form, submit_form
from tests.blog.author_clients import browse
from tests.factories import make_author, make_post

ADD = reverse("admin:blog_post_add")


def test_editor_sets_the_coauthors_in_their_order(editor_client: Client) -> None:
    post, ines, jo = make_post(status="draft"), make_author(name="Ines"), make_author(name="Jo")

    submit_form(editor_client, get_page(post), coauthor_ids=[str(jo.pk), str(ines.pk)])
    assert Post.objects.get(pk=post.pk).coauthor_ids == [jo.pk, ines.pk]
    page = editor_client.get(get_page(post)).text
    assert page.index(">Jo</option>") < page.index(">Ines</option>")

    submit_form(editor_client, get_page(post), title="New")
    submit_form(editor_client, get_page(post), coauthor_ids=[])

    assert Post.objects.get(pk=post.pk).coauthor_ids == []
    assert Post.objects.get(pk=post.pk).version == 4


@pytest.mark.parametrize("wrong", ["author", "nobody"])
def test_wrong_coauthors_are_errors_of_the_form(editor_client: Client, wrong: str) -> None:
    post = make_post()
    ids = [str(post.author.pk)] if wrong == "author" else ["x"]

    refused = submit_form(editor_client, get_page(post), coauthor_ids=ids)

    assert set(get_form_errors(refused)) == {"coauthor_ids"}


def test_authors_see_the_coauthors_of_their_posts_and_cannot_change_them() -> None:
    browser = browse(Role.AUTHOR, name="Own")
    ines = make_author(name="Ines")
    post = make_post(author=Author.objects.get(name="Own"), coauthor_ids=[ines.pk], status="draft")

    page = browser.get(get_page(post)).text
    submit_form(browser, get_page(post), title="New", coauthor_ids=[])
    submit_form(browser, ADD, title="Soup", coauthor_ids=[str(ines.pk)])

    assert "Ines" in page
    assert "coauthor_ids" not in page
    assert "coauthor_ids" not in browser.get(ADD).text
    assert Post.objects.get(title="New").coauthor_ids == [ines.pk]
    assert Post.objects.get(title="Soup").coauthor_ids == []


def test_conflict_merges_the_coauthors_of_both(editor_client: Client) -> None:
    ines, jo, kim = (make_author(name=name) for name in ("Ines", "Jo", "Kim"))
    post = make_post(coauthor_ids=[ines.pk])
    opened = read_form(editor_client.get(get_page(post)).text)
    changes = {"coauthor_ids": [str(ines.pk), str(jo.pk)]}
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes=changes)

    conflict = editor_client.post(get_page(post), {**opened, "coauthor_ids": [str(kim.pk), str(ines.pk)]})

    assert conflict.status_code == 409
    assert "Ines, Jo" in conflict.text
    assert "Kim, Ines" in conflict.text
    merged = conflict.text.partition('id="merge-form"')[2]
    assert [name for name in (">Ines<", ">Jo<", ">Kim<") if name in merged] == [">Ines<", ">Jo<", ">Kim<"]
    editor_client.post(get_page(post), {**read_form(merged), "_save": "Save"})
    assert Post.objects.get(pk=post.pk).coauthor_ids == [ines.pk, jo.pk, kim.pk]
