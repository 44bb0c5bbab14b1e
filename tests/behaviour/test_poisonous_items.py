"""One item that fails stops no queue: the others are done, and it is counted."""

import io
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from django.utils import timezone

from blog import background, services
from blog.models import Image, ImageStatus, Post, PostSearch
from blog.search import indexing
from blog.search.indexing import SearchIndexer
from blog.services import image_processing, renderings
from contentapi.core.identity import WORKER
from contentapi.db.statements import execute
from contentapi.events.models import Event as LogEvent
from contentapi.events.models import OutboxEvent
from contentapi.events.partitions import prepare_partitions
from contentapi.events.relay import Relay
from contentapi.events.webhooks.models import Attempt, Delivery
from contentapi.media.folder import FolderStorage
from contentapi.monitoring.figures import FIGURES
from tests.blog.stored_images import make_files, make_ready_image
from tests.contentapi.events.webhooks.hooks import allow_local_receivers, list_states, make_due, make_hook, send_all
from tests.factories import make_author, make_image, make_post, make_working_copy
from tests.poison import poison
from tests.receiver_behaviours import accept, respond
from tests.webhook_receivers import Receiver

with_transactions = pytest.mark.django_db(transaction=True)  # which the threads of a sender need
PAST = timedelta(minutes=1)


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each failure adds the name of its job."""
    found: list[str] = []

    def count(name: str, *labels: str, **_: Any) -> None:
        found.extend(labels if name == "contentapi_item_failures_total" else ())

    monkeypatch.setattr(FIGURES, "count", count)
    return found


@with_transactions
@pytest.mark.parametrize("seconds", ["86401", "99999999999999", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_late_retry_of_one_webhook_is_recorded_beside_others(settings: Any, seconds: str, failures: list[str]) -> None:
    allow_local_receivers(settings)
    with Receiver(respond(503, f"Retry-After: {seconds}")) as slow, Receiver(respond(503)) as failing:
        hooks = [make_hook(slow.url), make_hook(failing.url)]
        make_author()
        sender = send_all()
    with Receiver(accept) as receiver:
        hooks.append(make_hook(receiver.url))
        make_author()
        send_all(sender)

    due = [Delivery.objects.filter(webhook=hook).earliest("pk").due_at or timezone.now() for hook in hooks[:2]]
    assert timedelta(hours=23) < due[0] - timezone.now() < timedelta(hours=25)
    assert timedelta() < due[1] - timezone.now() < PAST
    assert list_states(hooks[2]) == ["delivered"]
    assert failures == []


@with_transactions
@pytest.mark.parametrize(
    ("condition", "attempts"), [("NEW.status = 204", 1), ("true", 0)], ids=["result", "every result"]
)
def test_result_that_cannot_be_recorded_is_a_failed_attempt(
    settings: Any, failures: list[str], condition: str, attempts: int
) -> None:
    allow_local_receivers(settings)
    with Receiver(accept) as first, Receiver(accept) as second:
        good, bad = make_hook(first.url), make_hook(second.url)
        author = make_author()
        with poison("events_delivery", f"NEW.webhook_id = {bad.pk} AND NEW.attempts > 0 AND {condition}"):
            send_all()
        assert list_states(good) == ["delivered"]
        assert list_states(bad) == ["waiting"]
        assert set(failures) == {"webhooks"}
        errors = Attempt.objects.filter(delivery__webhook=bad).values_list("error", flat=True)
        assert ["could not be recorded" in error for error in errors] == [True] * attempts
        make_due(bad)
        send_all()
        assert {each.event["subject"] for each in second.received} == {str(author.pk)}
    assert list_states(bad) == ["delivered"]


@with_transactions
@pytest.mark.parametrize(
    ("table", "condition"),
    [("events_delivery", "NEW.webhook_id = {}"), ("events_webhook", "NEW.id = {} AND NEW.lease IS NOT NULL")],
    ids=["plan", "claim"],
)
def test_webhook_that_cannot_be_claimed_stops_no_other(
    settings: Any, failures: list[str], table: str, condition: str
) -> None:
    allow_local_receivers(settings)
    with Receiver(accept) as receiver:
        bad, good = make_hook(receiver.url), make_hook(receiver.url)
        make_author()
        with poison(table, condition.format(bad.pk)):
            sender = send_all()
            assert list_states(good) == ["delivered"]
            assert set(failures) == {"webhooks"}
        sender.rests.clear()
        send_all(sender)

    assert list_states(bad) == ["delivered"]


def test_event_that_cannot_be_moved_waits_and_the_others_are_moved(failures: list[str]) -> None:
    prepare_partitions()
    authors = [make_author().pk for _ in range(30)]
    relay = Relay()
    with poison("events_event", f"NEW.subject_id IN ({authors[0]}, {authors[17]})"):
        for _ in range(60):
            relay.run(Event())
    assert set(LogEvent.objects.values_list("subject_id", flat=True)) == {*authors} - {authors[0], authors[17]}
    assert failures == ["events", "events"]

    relay.refused_at = float("-inf")
    relay.run(Event())

    assert set(LogEvent.objects.values_list("subject_id", flat=True)) == {*authors}
    assert not OutboxEvent.objects.exists()


def test_post_that_cannot_be_rendered_stops_no_other(failures: list[str]) -> None:
    posts = [make_post(status="draft") for _ in range(renderings.POSTS_AT_ONCE + 2)]
    bad = {post.pk for post in posts[: renderings.POSTS_AT_ONCE]}
    Post.objects.update(rendered_version=0)
    with poison("blog_post", f"NEW.id IN ({', '.join(map(str, bad))}) AND NEW.rendered_version > 0"):
        background.render_posts(Event())

    assert {*Post.objects.filter(rendered_version=0).values_list("pk", flat=True)} == bad
    assert failures == ["rendering"] * renderings.POSTS_AT_ONCE


def test_post_that_cannot_be_indexed_stops_no_other(failures: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "POSTS_PER_TRANSACTION", 2)
    indexer, posts = SearchIndexer(), [make_post() for _ in range(5)]
    bad = {post.pk for post in posts[:2]}
    with poison("blog_postsearch", f"NEW.post_id IN ({', '.join(map(str, bad))})"):
        indexer.update(Event(), actor=WORKER)
        assert {*PostSearch.objects.values_list("post_id", flat=True)} == {post.pk for post in posts[2:]}
    SearchIndexer().update(Event(), actor=WORKER)
    assert PostSearch.objects.count() == 5

    Post.objects.update(title="Kelp")
    with poison("blog_postsearch", f"NEW.post_id = {posts[0].pk}"):
        indexer.update(Event(), actor=WORKER)
        assert PostSearch.objects.count() == 4  # and not the earlier text
    SearchIndexer().update(Event(), actor=WORKER)

    assert PostSearch.objects.count() == 5
    assert set(failures) == {"search"}


@with_transactions
def test_image_that_cannot_be_processed_stops_no_other(
    media: FolderStorage, monkeypatch: pytest.MonkeyPatch, failures: list[str]
) -> None:
    monkeypatch.setattr(image_processing, "process_file", make_files)
    bad, good = make_image(source="uploads/1"), make_image(source="uploads/2")
    for image in (bad, good):
        media.put(image.source, io.BytesIO(b"-"))
    now = timezone.now()
    hidden, shown = (make_ready_image(has_files=True, deleted_at=now) for _ in range(2))
    written = f"NEW.id = {bad.pk} AND NEW.status = 'ready' OR NEW.id = {hidden.pk} AND NEW.source <> ''"
    with poison("blog_image", written):
        background.process_images(Event())

    states = Image.objects.in_bulk()
    assert (states[bad.pk].status, states[good.pk].status) == (ImageStatus.PROCESSING, ImageStatus.READY)
    assert (states[hidden.pk].original, states[shown.pk].original) == ("700.jpg", "")
    assert sorted(failures)[-2:] == ["images", "images"]


def test_deleted_image_that_cannot_be_purged_stops_no_other(media: FolderStorage, failures: list[str]) -> None:
    bad, good = (
        make_ready_image(deleted_at=timezone.now() - timedelta(days=99), original="", source=f"deleted/{number}")
        for number in range(2)
    )
    (media.folder / "deleted" / "0" / "folder").mkdir(parents=True)  # in place of a file
    services.purge_images(actor=WORKER)

    assert not Image.objects.filter(pk=good.pk).exists()
    assert failures == ["purge_images"]
    assert bad.pk < good.pk


def test_post_that_cannot_be_published_stops_no_other(failures: list[str]) -> None:
    due = timezone.now() - PAST
    bad, good = (make_post(status="scheduled", publish_at=due) for _ in range(2))
    copied = make_post(), make_post()
    for post in copied:
        make_working_copy(post, publish_at=due, title="Ebb")
    with poison("blog_post", f"NEW.id IN ({bad.pk}, {copied[0].pk})"):
        background.publish_due(Event())

    states = dict(Post.objects.values_list("pk", "status"))
    assert (states[bad.pk], states[good.pk]) == ("scheduled", "published")
    assert Post.objects.get(pk=copied[1].pk).title == "Ebb"
    assert failures == ["publication", "publication"]
    background.publish_due(Event())
    assert Post.objects.get(pk=copied[0].pk).title == "Ebb"


def test_post_that_cannot_get_a_slug_stops_no_other(failures: list[str]) -> None:
    bad, good = make_post(), make_post()
    execute("UPDATE blog_post SET slug = NULL")
    with poison("blog_post", f"NEW.id = {bad.pk}"):
        background.give_first_slugs(Event())

    assert list(Post.objects.filter(slug=None)) == [bad]
    assert Post.objects.get(pk=good.pk).slug
    assert failures == ["slugs"]
