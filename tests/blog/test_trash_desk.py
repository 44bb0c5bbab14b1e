"""The page of deleted posts: its search, its selection, and undone imports as one line each."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from blog import services
from blog.files import jobs
from blog.models import ImportJob, ImportResult, ImportState, Post
from contentapi.core.identity import OPERATOR, Role
from tests.admin_forms import read_form
from tests.factories import make_post, make_user

TRASH, RESTORE = reverse("admin:blog_post_deleted"), reverse("admin:blog_post_restore_selected")


def delete(*posts: Post) -> None:
    for post in posts:
        services.delete_post(actor=OPERATOR, post_id=str(post.pk))


def undo_import(*posts: Post) -> ImportJob:
    """Return an import that has created these posts and was undone."""
    job = ImportJob.objects.create(
        owner=make_user(Role.EDITOR), undone_by=make_user(Role.EDITOR, name="Edda").pk, file_name="harbour.zip",
        source="harbour", state=ImportState.UNDONE, total=3, ignored=0, updated_at=timezone.now() - timedelta(hours=1),
    )  # fmt: skip
    for number, post in enumerate(posts):
        ImportResult.objects.create(
            job=job, is_plan=False, number=number, path=f"{number}.md", outcome=jobs.UNDONE, post_id=post.pk
        )
    delete(*posts)
    return job


def test_search_finds_deleted_posts_by_their_title(editor_client: Client) -> None:
    delete(make_post(title="Fish soup"), make_post(title="Tide table"))

    page = editor_client.get(TRASH, {"q": "SOUP"}).text

    assert "Fish soup" in page
    assert "Tide table" not in page


def test_selected_posts_are_restored_together(editor_client: Client) -> None:
    posts = [make_post(title=title, status="draft") for title in ("One", "Two", "Three")]
    delete(*posts)

    page = editor_client.post(RESTORE, {"post": [posts[0].pk, posts[2].pk, "x"]}, follow=True).text

    assert "2 posts are restored." in page
    assert set(Post.objects.values_list("title", flat=True)) == {"One", "Three"}
    assert "Select posts first." in editor_client.post(RESTORE, {"post": ["x"]}, follow=True).text


def test_undone_import_is_one_line_and_is_restored_at_once(editor_client: Client) -> None:
    posts = [make_post(title=f"Imported {number}", status="draft") for number in range(3)]
    job = undo_import(*posts)
    delete(make_post(title="Fish soup"))

    page = editor_client.get(TRASH).text
    assert "Import of harbour.zip: 3 posts" in page
    assert "Edda" in page
    assert "Fish soup" in page
    assert "Imported 1" not in page

    restored = editor_client.post(RESTORE, {"import": job.pk}, follow=True).text
    assert "3 posts are restored." in restored
    assert "harbour.zip" not in restored
    assert set(Post.objects.all()) == set(posts)


def test_restored_import_can_be_undone_again(editor_client: Client) -> None:
    job = undo_import(make_post(status="draft"), make_post(status="draft"))
    editor_client.post(RESTORE, {"import": job.pk})

    job.refresh_from_db()
    assert jobs.may_be_undone(job)
    assert jobs.plan_undo(job).deleted == 2
    assert jobs.find_undone_posts() == {}


def test_posts_of_an_undone_import_are_found_and_restored_alone(editor_client: Client) -> None:
    posts = [make_post(title=f"Imported {number}", status="draft") for number in range(3)]
    job = undo_import(*posts)

    assert "Imported 1" in editor_client.get(TRASH, {"q": "imported 1"}).text
    assert "Imported 2" in editor_client.get(TRASH, {"import": job.pk}).text
    address = reverse("admin:blog_post_restore_deleted", args=[posts[1].pk])
    editor_client.post(address, {"import": job.pk})

    assert list(Post.objects.all()) == [posts[1]]
    assert "Import of harbour.zip: 2 posts" in editor_client.get(TRASH).text


@pytest.mark.parametrize("address", [RESTORE, "one"])
def test_restoring_a_public_post_asks_first(editor_client: Client, address: str) -> None:
    public, draft = make_post(title="Tides"), make_post(title="Soup", status="draft")
    delete(public, draft)
    address = reverse("admin:blog_post_restore_deleted", args=[public.pk]) if address == "one" else address
    chosen = {"post": [public.pk, draft.pk]} if address == RESTORE else {}

    page = editor_client.post(address, chosen).text

    assert f"by {public.author}, public again at once" in page
    assert page.count("public again at once") == 1
    assert not Post.objects.exists()
    editor_client.post(RESTORE, read_form(page))
    assert Post.objects.count() == (2 if address == RESTORE else 1)
