"""A locked person publishes nothing: what they have scheduled stays, with a note in the desk."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from blog import services
from blog.models import Post, WorkingCopy
from blog.services import Edit, StateAction, save_edit
from contentapi.core.identity import OPERATOR, Actor, Role
from tests.factories import get_user, make_actor, make_post
from users.services import lock_user, unlock_user


@pytest.fixture
def editor() -> Actor:
    return make_actor(Role.EDITOR)


@pytest.fixture
def other() -> Actor:
    return make_actor(Role.EDITOR)


def get_time(days: int = 1) -> datetime:
    return timezone.now() + timedelta(days=days)


def schedule(actor: Actor, post: Post) -> None:
    state = {"status": "scheduled", "publish_at": get_time()}
    services.edit_post(actor=actor, post_id=str(post.pk), changes=state)


def schedule_copy(actor: Actor, post: Post, days: int = 1) -> None:
    services.save_working_copy(actor=actor, post_id=str(post.pk), publish_at=get_time(days), title="Flood")


def lock(actor: Actor) -> None:
    lock_user(actor=OPERATOR, user_id=str(actor.user_id))


def publish_all() -> None:
    """Let all times come, and publish what is due."""
    past = timezone.now() - timedelta(minutes=1)
    Post.objects.filter(status="scheduled").update(publish_at=past)
    WorkingCopy.objects.exclude(publish_at=None).update(publish_at=past)
    for _ in services.publish_due(actor=OPERATOR):
        pass


def test_post_of_a_locked_person_stays_scheduled_until_the_unlock(editor: Actor, other: Actor) -> None:
    held, shown = make_post(status="draft"), make_post(status="draft")
    schedule(editor, held)
    schedule(other, shown)
    services.edit_post(actor=other, post_id=str(held.pk), changes={"tags": ["sea"]})
    lock(editor)
    publish_all()

    assert Post.objects.get(pk=held.pk).status == "scheduled"
    assert Post.objects.get(pk=shown.pk).status == "published"

    unlock_user(actor=OPERATOR, user_id=str(editor.user_id))
    publish_all()

    assert Post.objects.get(pk=held.pk).status == "published"


def test_new_post_with_a_time_is_not_published_either() -> None:
    author = make_actor(Role.AUTHOR)
    values: dict[str, Any] = {"status": "scheduled", "publish_at": get_time()}
    post = services.create_post(actor=author, title="Ebb", body="Low tide.", **values)
    lock(author)
    publish_all()

    assert Post.objects.get(pk=post.pk).status == "scheduled"


def test_another_person_who_chooses_a_time_lets_it_be_published(editor: Actor, other: Actor) -> None:
    post, copied = make_post(status="draft"), make_post()
    schedule(editor, post)
    schedule_copy(editor, copied)
    lock(editor)
    save_edit(other, str(post.pk), Edit(action=StateAction.SCHEDULE, publish_at=get_time(2)))
    schedule_copy(other, copied, days=2)
    publish_all()

    assert Post.objects.get(pk=post.pk).status == "published"
    assert Post.objects.get(pk=copied.pk).title == "Flood"


def test_time_from_before_the_post_was_a_draft_again_does_not_count(editor: Actor, other: Actor) -> None:
    post = make_post(status="draft")
    schedule(editor, post)
    services.edit_post(actor=other, post_id=str(post.pk), changes={"status": "draft"})
    schedule(other, post)
    lock(editor)
    publish_all()

    assert Post.objects.get(pk=post.pk).status == "published"


def test_working_copy_of_a_locked_person_stays_with_its_time(editor: Actor, other: Actor) -> None:
    post = make_post(title="Ebb")
    schedule_copy(editor, post)
    services.save_working_copy(actor=other, post_id=str(post.pk), tags=["sea"])
    lock(editor)
    publish_all()

    assert Post.objects.get(pk=post.pk).title == "Ebb"
    assert WorkingCopy.objects.get(pk=post.pk).publish_at is not None

    unlock_user(actor=OPERATOR, user_id=str(editor.user_id))
    publish_all()

    assert Post.objects.get(pk=post.pk).title == "Flood"


def test_form_says_whose_account_is_locked(client: Client, editor: Actor, other: Actor) -> None:
    post, copied = make_post(status="draft"), make_post()
    schedule(editor, post)
    schedule_copy(editor, copied)
    client.force_login(get_user(other))
    pages = [f"/admin/blog/post/{each.pk}/change/" for each in (post, copied)]
    name = get_user(editor).name
    assert not any("is locked" in client.get(page).text for page in pages)
    lock(editor)

    assert all(f"the account of {name}, who chose this time, is locked" in client.get(page).text for page in pages)
