"""The clock: it publishes due posts, survives an outage of the database, and stops on request."""

import logging
from datetime import timedelta
from threading import Event, Thread

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from blog.models import Post, PostVersion
from contentapi import clock
from tests.factories import make_post

pytestmark = pytest.mark.django_db


def make_due_post() -> Post:
    return make_post(status="scheduled", publish_at=timezone.now() - timedelta(minutes=1))


def test_clock_publishes_due_posts_and_no_others() -> None:
    due = make_due_post()
    later = make_post(status="scheduled", publish_at=timezone.now() + timedelta(days=1))
    clock.do_due_work(Event())
    assert Post.objects.get(pk=due.pk).status == "published"
    assert Post.objects.get(pk=later.pk).status == "scheduled"


def test_clock_sets_published_at_to_the_time_of_publication() -> None:
    post, before = make_due_post(), timezone.now()
    clock.do_due_work(Event())
    published_at = Post.objects.get(pk=post.pk).published_at
    assert published_at is not None
    assert before <= published_at <= timezone.now()


@pytest.mark.django_db(transaction=True)
def test_concurrent_clocks_publish_each_post_once(caplog: pytest.LogCaptureFixture) -> None:
    posts = [make_due_post() for _ in range(20)]
    caplog.set_level(logging.INFO, "contentapi.clock")

    def work() -> None:
        clock.do_due_work(Event())
        connection.close()

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    logged = sorted(record.getMessage() for record in caplog.records if record.name == "contentapi.clock")
    assert logged == sorted(f"Published post {post.pk}, which was scheduled." for post in posts)
    assert set(Post.objects.values_list("status", "version")) == {("published", 2)}


@pytest.mark.django_db(transaction=True)
def test_clock_continues_after_an_outage_and_logs_it_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stop, rounds = Event(), iter(["down", "down", "up"])

    def work(_: Event) -> None:
        if next(rounds) == "down":
            raise OperationalError("the connection is lost")
        stop.set()

    monkeypatch.setattr(clock, "do_due_work", work)
    monkeypatch.setattr(clock, "INTERVAL", 0)
    clock.run_clock(stop)
    assert [record.message for record in caplog.records] == [
        "The clock cannot use the database, and continues to try: the connection is lost"
    ]


def test_clock_stops_between_two_posts() -> None:
    for _ in range(3):
        make_due_post()
    stop = Event()
    stop.set()
    clock.do_due_work(stop)
    assert Post.objects.filter(status="published").count() == 1


def test_clock_deletes_the_history_of_posts_deleted_31_days_ago(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "contentapi.clock")
    make_post().delete()
    recent = make_post(title="Recent")
    PostVersion.objects.update(pgh_created_at=timezone.now() - timedelta(days=31))
    recent.delete()

    clock.do_due_work(Event())

    assert PostVersion.objects.get().title == "Recent"
    logged = [record.getMessage() for record in caplog.records if record.name == "contentapi.clock"]
    assert logged == ["Deleted the history of 1 posts, which were deleted more than 30 days ago."]


@pytest.mark.django_db(transaction=True)
def test_locked_post_does_not_delay_the_others() -> None:
    locked, free = make_due_post(), make_due_post()
    is_locked, is_done = Event(), Event()

    def hold() -> None:
        with transaction.atomic():
            Post.objects.select_for_update().get(pk=locked.pk)
            is_locked.set()
            is_done.wait(60)
        connection.close()

    holder = Thread(target=hold)
    holder.start()
    assert is_locked.wait(60)
    try:
        clock.do_due_work(Event())
    finally:
        is_done.set()
        holder.join()

    assert Post.objects.get(pk=free.pk).status == "published"
    assert Post.objects.get(pk=locked.pk).status == "scheduled"


@pytest.mark.django_db(transaction=True)
def test_clock_continues_after_an_unexpected_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stop, rounds = Event(), iter(["wrong", "right"])

    def work(_: Event) -> None:
        if next(rounds) == "wrong":
            raise RuntimeError("unexpected")
        stop.set()

    monkeypatch.setattr(clock, "do_due_work", work)
    monkeypatch.setattr(clock, "INTERVAL", 0)
    clock.run_clock(stop)

    logged = [record.getMessage() for record in caplog.records if record.name == "contentapi.clock"]
    assert logged == ["The clock failed, and continues."]
