"""Working copies: publish and discard them, and what becomes of them with their posts. The rules of the services."""

from typing import Any

import pytest

from blog import services
from blog.history import trash
from blog.models import Post, PostVersion, WorkingCopy
from contentapi.core.errors import Conflict, NotFound, VersionConflict
from contentapi.core.identity import OPERATOR
from tests.blog.own_posts import make_own_post
from tests.blog.post_copies import publish, save
from tests.blog.post_rows import LATER
from tests.blog.post_versions import edit
from tests.factories import make_post, make_working_copy


@pytest.mark.parametrize("status", ["draft", "scheduled", "published", "archived"])
def test_published_copy_is_one_version_of_the_post_whose_status_stays(status: str) -> None:
    publish_at = LATER if status == "scheduled" else None
    actor, post = make_own_post(status=status, publish_at=publish_at, title="Tides")
    save(post, actor, title="Ebb", body="Low.", tags=["sea"], canonical_url="https://www.example.com/", slug="ebb")

    published = publish(post, actor)

    assert (published.title, published.body, published.tags, published.slug) == ("Ebb", "Low.", ["sea"], "ebb")
    assert (published.status, published.version, published.changed_by) == (status, 2, actor.user_id)
    assert list(PostVersion.objects.values_list("version", "title")) == [(1, "Tides")]
    assert not WorkingCopy.objects.exists()


def test_published_copy_of_a_public_post_is_rendered_at_once() -> None:
    post = make_post(body="Boil.", excerpt="Own.")
    save(post, body="Fry.", excerpt="")

    rendered = publish(post)

    rendered.refresh_from_db()
    texts = (rendered.body_html, rendered.default_excerpt, rendered.default_description)
    assert texts == ("<p>Fry.</p>\n", "Fry.", "Fry.")
    assert (rendered.excerpt, rendered.rendered_version) == (None, 2)


def test_published_copy_with_another_title_keeps_the_rendered_text() -> None:
    post = edit(make_post(), body="Boil.")
    save(post, title="Soup")

    publish(post)

    assert Post.objects.values_list("body_html", "rendered_version").get() == ("<p>Boil.</p>\n", 3)


def test_text_that_changed_since_the_base_is_a_conflict_until_it_is_merged() -> None:
    post = make_post(title="Tides")
    save(post, title="Ebb")
    edit(post, body="Changed.")

    with pytest.raises(VersionConflict, match="changed since version 1, on which the working copy is based"):
        publish(post)

    save(post, body="Changed.", base_version="2")
    assert (publish(post).title, Post.objects.get().body) == ("Ebb", "Changed.")


def test_slug_that_was_taken_since_the_save_is_a_conflict_if_a_person_chose_it() -> None:
    post, draft = make_post(title="Boats"), make_post(title="Tides", slug="tides", status="draft")
    save(post, slug="ebb")
    save(draft, title="Ebb")
    make_post(slug="ebb")

    with pytest.raises(Conflict, match="The slug ebb is taken"):
        publish(post)
    assert publish(draft).slug == "ebb-2"


def test_field_that_a_copy_lacks_stays_that_of_the_post() -> None:
    post = make_post(tags=["sea"])
    copy = make_working_copy(post, title="Ebb")
    del copy.content["tags"]
    copy.save()

    assert (publish(post).title, Post.objects.get().tags) == ("Ebb", ["sea"])


@pytest.mark.parametrize("action", [services.publish_working_copy, services.discard_working_copy])
def test_outdated_and_missing_copy_can_be_neither_published_nor_discarded(action: Any) -> None:
    post = make_post()
    with pytest.raises(NotFound, match="There is no working copy with this id"):
        action(actor=OPERATOR, post_id=str(post.pk))
    save(post, title="Ebb")

    with pytest.raises(VersionConflict, match="the working copy is at version"):
        action(actor=OPERATOR, post_id=str(post.pk), expected_version="0")

    assert WorkingCopy.objects.exists()


def test_archived_post_keeps_its_copy_and_a_deleted_post_does_not() -> None:
    post = make_post()
    save(post, title="Ebb")
    edit(post, status="archived")
    assert WorkingCopy.objects.get().content["title"] == "Ebb"

    services.delete_post(actor=OPERATOR, post_id=str(post.pk))
    trash.restore_deleted_post(actor=OPERATOR, post_id=str(post.pk))

    assert not WorkingCopy.objects.exists()
