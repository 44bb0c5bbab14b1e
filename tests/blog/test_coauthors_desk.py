"""Co-authors in the desk: what they see of their posts, and their places in the form, on its pages and in conflicts."""

import pytest
from django.test import Client
from django.urls import reverse

from blog import services
from blog.models import Author, Post
from contentapi.core.identity import OPERATOR, Role
from tests.admin_forms import get_form_errors, get_page, log_in, open_form, read_form, submit_form
from tests.blog.author_clients import browse
from tests.blog.stored_images import make_ready_image
from tests.factories import get_user, make_actor, make_author, make_comment, make_post, make_working_copy

ADD = reverse("admin:blog_post_add")

LIST, INDEX = reverse("admin:blog_post_changelist"), reverse("admin:index")


@pytest.fixture
def jo() -> Author:
    return make_author(name="Joanna Quill")


@pytest.fixture
def browser(jo: Author) -> Client:
    """Return a browser in which the author Joanna Quill is logged in."""
    return log_in(get_user(make_actor(Role.AUTHOR, author=jo)))


def list_titles(browser: Client, **parameters: str) -> list[str]:
    return [post.title for post in browser.get(LIST, parameters).context["cl"].result_list]


def test_list_has_the_posts_that_the_person_has_written_with_others(browser: Client, jo: Author) -> None:
    make_post(title="Alone", author=jo, status="draft")
    for status in ("draft", "published", "archived"):
        make_post(title=f"Joint {status}", coauthor_ids=[make_author().pk, jo.pk], status=status)
        make_post(title=f"Others' {status}", coauthor_ids=[make_author().pk], status=status)

    assert list_titles(browser) == ["Joint archived", "Joint published", "Joint draft", "Alone"]
    assert list_titles(browser, status__exact="draft") == ["Joint draft", "Alone"]
    assert list_titles(browser, o="6") == ["Alone", "Joint draft", "Joint published", "Joint archived"]


def test_first_page_counts_joint_posts(browser: Client, jo: Author) -> None:
    for status in ("draft", "published", "published"):
        make_working_copy(make_post(title=f"Joint {status}", coauthor_ids=[jo.pk], status=status))

    desk = browser.get(INDEX).context["desk"]

    assert [each.total for each in (desk.drafts, desk.published, desk.changed)] == [1, 2, 0]


def test_list_does_not_tell_of_changes_that_a_coauthor_may_not_see(browser: Client, jo: Author) -> None:
    make_working_copy(make_post(coauthor_ids=[jo.pk]))
    assert "unpublished changes" not in browser.get(LIST).text

    make_working_copy(make_post(author=jo))
    assert browser.get(LIST).text.count("unpublished changes") == 1


def test_list_of_an_author_has_joint_posts_for_editors(editor_client: Client, jo: Author) -> None:
    make_post(title="Alone", author=jo)
    make_post(title="Joint", coauthor_ids=[jo.pk])
    make_post(title="Others'")

    assert list_titles(editor_client, author__id__exact=str(jo.pk)) == ["Joint", "Alone"]
    assert editor_client.get(LIST, {"author__id__exact": "x"}).headers["Location"] == f"{LIST}?e=1"


def test_page_shows_the_text_as_readers_see_it(browser: Client, jo: Author) -> None:
    image = make_ready_image()
    body = f"Some **strong** words.\n\n* one\n\n![A boat](image:{image.pk})\n\n<script>alert(1)</script>"
    post = make_post(body=body, coauthor_ids=[jo.pk], status="draft", cover_id=image.pk)
    make_comment(post, body="A remark")

    page = browser.get(get_page(post)).text

    assert "<strong>strong</strong>" in page
    assert "<li>one</li>" in page
    assert 'alt="A boat"' in page
    assert image.name in page
    assert "A remark" in page
    assert not {text for text in ("alert(1)", "**strong**", "Cover id", "The id of an image") if text in page}
    assert not {name for name in ("editor.js", "presence.js", "cover.js", "coauthors.js") if name in page}
    assert reverse("admin:blog_post_history", args=[post.pk]) not in page
    assert 'name="_save"' not in page


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


def test_wrong_coauthors_are_errors_of_the_form(editor_client: Client) -> None:
    post = make_post()

    refused = submit_form(editor_client, get_page(post), coauthor_ids=[str(post.author.pk)])

    assert set(get_form_errors(refused)) == {"coauthor_ids"}


def test_authors_see_the_coauthors_of_their_posts_and_cannot_change_them() -> None:
    browser = browse(Role.AUTHOR, name="Own")
    ines = make_author(name="Ines")
    post = make_post(author=Author.objects.get(name="Own"), coauthor_ids=[ines.pk], status="draft")

    page = browser.get(get_page(post)).text
    submit_form(browser, get_page(post), title="New", coauthor_ids=[])
    submit_form(browser, ADD, title="Soup", coauthor_ids=[str(ines.pk)])

    assert "Ines" in page
    assert reverse("admin:blog_post_history", args=[post.pk]) in page
    assert "coauthor_ids" not in page
    assert Post.objects.get(title="New").coauthor_ids == [ines.pk]
    assert Post.objects.get(title="Soup").coauthor_ids == []


def test_conflict_merges_the_coauthors_of_both(editor_client: Client) -> None:
    ines, jo, kim = (make_author(name=name) for name in ("Ines", "Jo", "Kim"))
    post = make_post(coauthor_ids=[ines.pk])
    opened = open_form(editor_client, get_page(post))
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
