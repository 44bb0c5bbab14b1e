"""The admin pages of the blog: access, lists, authors, comments, bulk deletion and errors."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from blog.models import Author, Comment
from tests.admin_forms import submit_form
from tests.blog.search_posts import index_posts
from tests.factories import make_author, make_comment, make_post

ADD, AUTHORS = reverse("admin:blog_post_add"), reverse("admin:blog_author_changelist")


@pytest.mark.parametrize(
    ("address", "target"),
    [("blog_post_changelist", "result_list"), ("blog_comment_changelist", "main-content")],
)
def test_first_link_of_a_page_skips_the_navigation(editor_client: Client, address: str, target: str) -> None:
    make_post()

    text = editor_client.get(reverse(f"admin:{address}")).text

    first, *_ = re.findall("<(?:a|button|input|select|textarea)[ >].*?>", text)
    assert first == f'<a class="skip-link" href="#{target}">'
    assert text.count(f'id="{target}"') == text.count("<main ") == text.count("<header>") == 1


def test_posts_are_searched_like_in_the_api_and_in_the_order_of_the_list(editor_client: Client) -> None:
    older = make_post(title="Kelp", status="draft")
    newer = make_post(body="Forests of kelp.")
    make_post(body="Lemons.")
    index_posts()
    page = editor_client.get(reverse("admin:blog_post_changelist"), {"q": "kel"})
    assert [post.pk for post in page.context["cl"].result_list] == [newer.pk, older.pk]


def test_search_that_is_too_long_shows_a_message_and_no_posts(editor_client: Client) -> None:
    make_post()
    page = editor_client.get(reverse("admin:blog_post_changelist"), {"q": "x" * 201})
    assert page.status_code == 200
    assert not page.context["cl"].result_list
    assert "No posts are shown: search must have at most 200 characters." in page.text


def test_editor_adds_changes_and_deletes_an_author(editor_client: Client) -> None:
    added = submit_form(editor_client, reverse("admin:blog_author_add"), name="Ines")
    author = Author.objects.get(name="Ines")
    page = reverse("admin:blog_author_change", args=[author.pk])

    changed, refused = (
        submit_form(editor_client, page, name="Jo", bio="Baker."),
        submit_form(editor_client, page, avatar_url="no address"),
    )
    kept = Author.objects.values("name", "bio", "avatar_url").get(pk=author.pk)
    deleted = editor_client.post(reverse("admin:blog_author_delete", args=[author.pk]), {"post": "yes"})

    assert [added.status_code, changed.status_code, refused.status_code, deleted.status_code] == [302, 302, 200, 302]
    assert kept == {"name": "Jo", "bio": "Baker.", "avatar_url": ""}
    assert not Author.objects.filter(pk=author.pk).exists()


def test_editor_adds_a_comment_and_cannot_change_its_words(editor_client: Client) -> None:
    post, author = make_post(), make_author()
    values = {"post": str(post.pk), "author": str(author.pk), "body": "Hear!"}
    added = editor_client.post(reverse("admin:blog_comment_add"), values)
    comment = Comment.objects.get()
    assert (added.status_code, comment.post, comment.author, comment.body) == (302, post, author, "Hear!")

    page = reverse("admin:blog_comment_change", args=[comment.pk])
    refused = editor_client.post(page, {**values, "body": "Well said."})

    assert (refused.status_code, Comment.objects.get().body) == (403, "Hear!")
    assert "<textarea" not in editor_client.get(page).text


def test_bulk_deletion_refused_by_a_service_deletes_nothing(editor_client: Client) -> None:
    authors = [make_author().pk, make_author().pk]
    make_post(coauthor_ids=authors[1:])

    response = editor_client.post(
        AUTHORS, {"action": "delete_selected", "_selected_action": authors, "post": "yes"}, follow=True
    )

    assert "is a co-author of posts." in response.text
    assert Author.objects.filter(pk__in=authors).count() == 2


def test_pages_before_a_deletion_are_our_own_and_load_no_scripts_of_lists(editor_client: Client) -> None:
    post, authors = make_post(title="Soup"), [make_author(name=name) for name in ("Ann", "Ben")]
    make_comment(post)
    selected = {"action": "delete_selected", "_selected_action": [author.pk for author in authors]}

    page = editor_client.get(reverse("admin:blog_post_delete", args=[post.pk])).text
    page_of_authors = editor_client.post(AUTHORS, selected).text

    assert "Delete the post “Soup”?" in page
    assert "Comments: 1" in page
    assert "For 30 days you can restore it" in page
    assert "Delete 2 authors?" in page_of_authors
    assert "This cannot be undone." in page_of_authors
    for text in (page, page_of_authors):
        assert "DateTimeShortcuts" not in text
        assert "admin/js/actions.js" not in text
