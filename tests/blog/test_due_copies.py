"""Working copies with a time of publication."""

import io
import logging
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from blog import background, services
from blog.models import Post, WorkingCopy
from contentapi.core.errors import Invalid
from contentapi.core.identity import OPERATOR
from tests.blog.racing import race
from tests.factories import make_post, make_working_copy

LATER = datetime(2100, 1, 1, tzinfo=UTC)


def make_due_copy(post: Post | None = None, minutes: int = 1, **content: Any) -> Post:
    post = post or make_post()
    make_working_copy(post, publish_at=timezone.now() - timedelta(minutes=minutes), **{"title": "Ebb", **content})
    return post


def publish_due_copies() -> list[tuple[int, str]]:
    return [(due.post.pk, due.problem) for due in services.publish_due(actor=OPERATOR) if due.is_copy]


def schedule(post: Post, publish_at: datetime) -> WorkingCopy:
    return services.save_working_copy(actor=OPERATOR, post_id=str(post.pk), publish_at=publish_at)


@pytest.mark.parametrize("status", ["published", "scheduled"])
def test_changes_of_a_published_or_scheduled_post_can_have_a_time(status: str) -> None:
    post = make_post(status=status, publish_at=LATER if status == "scheduled" else None)

    assert schedule(post, LATER).publish_at == LATER
    assert services.save_working_copy(actor=OPERATOR, post_id=str(post.pk), title="Ebb").publish_at == LATER


@pytest.mark.parametrize("status", ["draft", "archived"])
def test_changes_of_other_posts_cannot_have_a_time(status: str) -> None:
    with pytest.raises(Invalid, match="published or scheduled"):
        schedule(make_post(status=status), LATER)


def test_time_must_be_in_the_future() -> None:
    with pytest.raises(Invalid, match="in the future"):
        schedule(make_post(), timezone.now())


def test_due_copies_are_published_in_the_order_of_their_times() -> None:
    late, later, not_yet = make_due_copy(minutes=1), make_due_copy(minutes=60), make_due_copy(minutes=-5)

    assert publish_due_copies() == [(later.pk, ""), (late.pk, "")]
    assert Post.objects.get(pk=late.pk).title == "Ebb"
    assert Post.objects.get(pk=late.pk).version == 2
    assert WorkingCopy.objects.get().pk == not_yet.pk
    assert publish_due_copies() == []


def test_scheduled_post_is_public_with_the_text_of_its_due_copy() -> None:
    past = timezone.now() - timedelta(minutes=1)
    post = make_due_copy(make_post(status="scheduled", publish_at=past))

    background.publish_due(Event())

    post.refresh_from_db()
    assert (post.title, post.status, post.version) == ("Ebb", "published", 3)


@pytest.mark.parametrize("status", ["draft", "archived"])
def test_due_copy_of_a_post_that_is_not_public_stays_without_a_time(status: str) -> None:
    post = make_due_copy(make_post(status=status, title="Tides"))

    assert publish_due_copies() == [(post.pk, f"The post is {status}.")]
    assert (Post.objects.get().title, WorkingCopy.objects.get().publish_at) == ("Tides", None)
    assert publish_due_copies() == []


def test_due_copy_of_a_post_whose_text_has_changed_stays_without_a_time() -> None:
    post = make_due_copy()
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"body": "Changed."})

    [(pk, problem)] = publish_due_copies()

    assert (pk, "has changed since version 1" in problem) == (post.pk, True)
    assert (Post.objects.get().version, WorkingCopy.objects.get().publish_at) == (2, None)


def test_due_copy_whose_slug_was_taken_stays_and_holds_no_other_up() -> None:
    make_post(slug="taken")
    first, second = make_due_copy(make_post(), slug="taken", minutes=9), make_due_copy()

    assert publish_due_copies() == [
        (first.pk, "The slug taken is taken: another post has or had it."),
        (second.pk, ""),
    ]


@pytest.mark.django_db(transaction=True)
def test_workers_at_the_same_time_publish_each_copy_once() -> None:
    posts = [make_due_copy(), make_due_copy()]

    def lock_table() -> None:
        WorkingCopy.objects.select_for_update().get(post=posts[0])

    outcomes = race(lock_table, publish_due_copies, publish_due_copies)

    assert sorted([*outcomes[0], *outcomes[1]]) == sorted((post.pk, "") for post in posts)
    assert set(Post.objects.values_list("version", flat=True)) == {2}


def test_worker_logs_what_it_published_and_what_it_did_not(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "contentapi.worker")
    published, refused = make_due_copy(minutes=9), make_due_copy(make_post(status="archived"))

    background.publish_due(Event())

    assert [record.getMessage() for record in caplog.records if record.name == "contentapi.worker"] == [
        f"Published the working copy of post {published.pk}, which was scheduled.",
        f"Did not publish the working copy of post {refused.pk}, which was scheduled. The post is archived.",
    ]


def test_command_prints_the_posts_that_it_published_and_whose_copies() -> None:
    past = timezone.now() - timedelta(minutes=1)
    posts = [make_post(status="scheduled", publish_at=past) for _ in range(2)]
    published, refused = make_due_copy(minutes=9), make_due_copy(make_post(status="archived"))
    out, err = io.StringIO(), io.StringIO()

    call_command("publish_due", stdout=out, stderr=err)

    assert out.getvalue() == "".join(f"{post.pk}\n" for post in (*posts, published))
    assert err.getvalue() == (
        f"The working copy of post {refused.pk} was not published. The post is archived.\nPosts published: 3.\n"
    )
