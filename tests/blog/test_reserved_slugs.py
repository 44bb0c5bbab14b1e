"""Slugs that no other post gets, although no post has them now: those of deleted posts, and those being given up."""

from functools import partial
from typing import Any

import pytest

from blog import services
from blog.history import trash
from blog.models import OldSlug
from contentapi.core.errors import Conflict
from contentapi.core.identity import Actor, Role
from tests.blog.racing import race
from tests.blog.test_slugs import create_post, edit_post
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author
from tests.resources import send_request


@pytest.fixture
def editor() -> Actor:
    return make_actor(Role.EDITOR, author=make_author())


@pytest.mark.django_db
def test_old_slug_of_a_deleted_post_is_reserved_and_leads_to_it_again(editor: Actor) -> None:
    post = create_post(editor, status="published")
    edit_post(editor, post, slug="moon")
    services.delete_post(actor=editor, post_id=str(post.pk))

    assert create_post(editor).slug == "tides-2"
    trash.restore_deleted_post(actor=editor, post_id=str(post.pk))
    assert send_request("GET", "/posts/by-slug/tides").headers["Location"] == "/posts/by-slug/moon"


@pytest.mark.django_db
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


@pytest.mark.django_db
def test_present_slug_is_no_old_one_after_a_restore_by_the_release_before(editor: Actor, gql: GraphQL) -> None:
    post = create_post(editor, status="published")
    edit_post(editor, post, slug="moon")
    OldSlug.objects.create(slug="moon", post_id=post.pk)  # which only this release deletes

    read = gql('{ postBySlug(slug: "moon") { slug oldSlugs } }').data["postBySlug"]

    assert read == {"slug": "moon", "oldSlugs": ["tides"]}


@pytest.mark.django_db(transaction=True)
def test_slug_that_a_public_post_is_giving_up_is_not_free_yet(editor: Actor) -> None:
    post, deleted = (create_post(editor, title, status="published") for title in ("Tides", "Ebb"))

    def give_up_slugs() -> None:
        edit_post(editor, post, slug="moon")
        services.delete_post(actor=editor, post_id=str(deleted.pk))

    def take(**values: Any) -> str:
        try:
            return str(create_post(editor, **values).slug)
        except Conflict:
            return "conflict"

    taken = race(give_up_slugs, *[partial(take, slug=slug) for slug in ("tides", "ebb")], take)

    assert taken == ["conflict", "conflict", "tides-2"]
