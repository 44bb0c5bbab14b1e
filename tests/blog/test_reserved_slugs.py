"""Slugs that no other post gets, although no post has them now: those of deleted posts, and those being given up."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from blog import services
from blog.history import trash
from blog.models import OldSlug, Post
from contentapi.core.errors import Conflict
from contentapi.core.identity import Actor
from tests.blog.markdown_files import build_file, import_text
from tests.blog.post_versions import edit
from tests.blog.racing import race
from tests.blog.test_slugs import create_post
from tests.conftest import GraphQL
from tests.resources import send_request


def test_old_slug_of_a_deleted_post_is_reserved_and_leads_to_it_again(editor: Actor) -> None:
    post = create_post(editor, status="published")
    edit(post, editor, slug="moon")
    services.delete_post(actor=editor, post_id=str(post.pk))

    assert create_post(editor).slug == "tides-2"
    trash.restore_deleted_post(actor=editor, post_id=str(post.pk))
    assert send_request("GET", "/posts/by-slug/tides").headers["Location"] == "/posts/by-slug/moon"


def test_slug_of_a_deleted_post_that_was_public_is_reserved_for_it(editor: Actor, gql: GraphQL) -> None:
    post, draft = create_post(editor, status="published"), create_post(editor, slug="draft")
    for each in (post, draft):
        services.delete_post(actor=editor, post_id=str(each.pk))

    assert [create_post(editor).slug, create_post(editor, slug="draft").slug] == ["tides-2", "draft"]
    with pytest.raises(Conflict):
        create_post(editor, slug="tides")
    assert send_request("GET", "/posts/by-slug/tides").status == 404
    assert trash.restore_deleted_post(actor=editor, post_id=str(post.pk)).slug == "tides"
    read = gql('{ postBySlug(slug: "tides") { slug oldSlugs } }').data["postBySlug"]
    assert read == {"slug": "tides", "oldSlugs": []}


def test_present_slug_is_no_old_one_after_a_restore_by_the_release_before(editor: Actor, gql: GraphQL) -> None:
    post = create_post(editor, status="published")
    edit(post, editor, slug="moon")
    OldSlug.objects.create(slug="moon", post_id=post.pk)  # which only this release deletes

    read = gql('{ postBySlug(slug: "moon") { slug oldSlugs } }').data["postBySlug"]

    assert read == {"slug": "moon", "oldSlugs": ["tides"]}


def test_old_slug_of_a_file_is_not_kept_if_another_post_has_or_had_it(editor: Actor, tmp_path: Path) -> None:
    post = create_post(editor, status="published")
    edit(post, editor, slug="moon")

    import_text(tmp_path, build_file('aliases = ["/tides/", "/moon/", "/ebb/"]'))

    imported = Post.objects.get(title="Soup")
    kept = OldSlug.objects.order_by("slug").values_list("slug", "post_id")
    assert list(kept) == [("ebb", imported.pk), ("tides", post.pk)]


@pytest.fixture
def rivals(editor: Actor, tmp_path: Path) -> tuple[Post, Post]:
    """A post that was created while the file of the other one was imported, which names its slug as an old one."""
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        import_text(tmp_path, build_file('aliases = ["/tides/"]'))
        created = pool.submit(call_in_own_connection, lambda: create_post(editor)).result(60)
    imported = Post.objects.get(title="Soup")
    assert (created.slug, OldSlug.objects.get().post_id) == ("tides", imported.pk)
    return created, imported


def call_in_own_connection(action: Callable[[], Post]) -> Post:
    try:
        return action()
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_slug_that_a_new_post_got_during_an_import_is_that_of_the_new_post_alone(
    editor: Actor, rivals: tuple[Post, Post], gql: GraphQL
) -> None:
    created, imported = rivals
    with pytest.raises(Conflict):
        edit(imported, editor, slug="tides")

    assert edit(created, editor, body="Low.", slug="tides").slug == "tides"
    assert edit(created, editor, slug=None, status="published").slug == "tides"
    found = gql('{ postBySlug(slug: "tides") { title } posts { title oldSlugs } }').data
    assert found["postBySlug"] == {"title": "Tides"}
    assert [post["oldSlugs"] for post in found["posts"]] == [[], []]


@pytest.mark.django_db(transaction=True)
def test_slug_that_a_new_post_got_during_an_import_is_reserved_for_it_and_keeps_leading_to_it(
    editor: Actor, rivals: tuple[Post, Post]
) -> None:
    created, _ = rivals
    edit(created, editor, status="published")

    services.delete_post(actor=editor, post_id=str(created.pk))
    assert send_request("GET", "/posts/by-slug/tides").status == 404
    assert trash.restore_deleted_post(actor=editor, post_id=str(created.pk)).slug == "tides"
    edit(created, editor, slug="moon")

    assert send_request("GET", "/posts/by-slug/tides").headers["Location"] == "/posts/by-slug/moon"


@pytest.mark.django_db(transaction=True)
def test_slug_that_a_public_post_is_giving_up_is_not_free_yet(editor: Actor) -> None:
    post, deleted = (create_post(editor, title, status="published") for title in ("Tides", "Ebb"))

    def give_up_slugs() -> None:
        edit(post, editor, slug="moon")
        services.delete_post(actor=editor, post_id=str(deleted.pk))

    def take(**values: Any) -> str:
        try:
            return str(create_post(editor, **values).slug)
        except Conflict:
            return "conflict"

    taken = race(give_up_slugs, *[partial(take, slug=slug) for slug in ("tides", "ebb")], take)

    assert taken == ["conflict", "conflict", "tides-2"]
