"""A webhook belongs to one sender at a time, and nothing is lost when a sender is killed."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event as StopEvent
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import F
from django.utils import timezone
from psycopg.errors import LockNotAvailable

from blog.models import Post
from contentapi.events.webhooks.deliveries import claim, record
from contentapi.events.webhooks.models import Webhook
from contentapi.events.webhooks.retries import judge
from contentapi.events.webhooks.sender import Sender
from contentapi.events.webhooks.sending import ReceivedResponse
from tests.contentapi.events.webhooks.hooks import list_deliveries, list_states, make_hook, send_all
from tests.event_log import relay
from tests.factories import make_author, make_post
from tests.receiver_behaviours import accept, delay
from tests.webhook_receivers import Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("local_receivers")]
with_transactions = pytest.mark.django_db(transaction=True)  # which other threads see


def end_lease(webhook: Webhook) -> None:
    Webhook.objects.filter(pk=webhook.pk).update(leased_until=timezone.now() - timedelta(seconds=1))


def make_events(count: int) -> None:
    for _ in range(count):
        make_author()
    relay()


@with_transactions
def test_webhook_that_a_service_has_locked_is_claimed_and_recorded_later() -> None:
    webhook = make_hook()
    make_events(1)
    lease = uuid4()

    assert call_while_locked(webhook, lambda: claim(lease, webhook.pk)) is None
    claimed = claim(lease, webhook.pk)
    assert claimed is not None
    results = [judge(delivery, ReceivedResponse(204), timezone.now(), 0.1) for delivery in claimed.deliveries]
    assert call_while_locked(webhook, lambda: record(lease, webhook.pk, results)) is False
    assert record(lease, webhook.pk, results)
    assert list_states(webhook) == ["delivered"]


def call_while_locked(webhook: Webhook, call: Callable[[], object]) -> object:
    """Return what a function returns in a thread while a transaction has locked the webhook."""

    def call_and_close() -> object:
        try:
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor() as thread, transaction.atomic():
        Webhook.objects.select_for_update().get(pk=webhook.pk)
        return thread.submit(call_and_close).result()


@pytest.mark.parametrize("is_hidden", [None, True, False], ids=["nothing", "hidden object", "changed scopes"])
def test_what_a_killed_sender_has_sent_is_sent_again_as_it_is_now(*, is_hidden: bool | None) -> None:
    with Receiver(accept) as receiver:
        webhook = make_hook(receiver.url, types=["post.*"], scopes=["events:read"] if is_hidden else None)
        post = make_post(title="Before")
        relay()
        Sender().take()
        receiver.wait_for(lambda found: len(found) == 1)  # it is not recorded

        send_all()
        assert len(receiver.received) == 1  # the lease protects it
        end_lease(webhook)
        if is_hidden:
            Post.objects.filter(pk=post.pk).update(status="draft")
        elif is_hidden is not None:
            Webhook.objects.filter(pk=webhook.pk).update(scopes=[])
            Post.objects.filter(pk=post.pk).update(title="After")
        send_all()

    first, second, *_ = receiver.received
    assert (first.id, first.event["position"]) == (second.id, second.event["position"])
    assert first.event["data"]["title"] == "Before"
    if is_hidden is None:
        assert first.body == second.body
    else:
        assert second.event["data"] is None if is_hidden else second.event["data"]["title"] == "After"
    assert set(list_states(webhook)) == {"delivered"}


def test_position_of_a_webhook_never_goes_back() -> None:
    webhook = make_hook()
    make_events(2)
    claim(uuid4(), webhook.pk)
    planned = Webhook.objects.get(pk=webhook.pk).position
    Webhook.objects.filter(pk=webhook.pk).update(position=F("position") + 5)  # another sender was faster
    end_lease(webhook)

    claim(uuid4(), webhook.pk)

    assert Webhook.objects.get(pk=webhook.pk).position == planned + 5
    assert len(list_deliveries(webhook)) == 2


def test_result_is_recorded_after_an_error_that_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = [OperationalError("canceling statement due to lock timeout")]
    errors[0].__cause__ = LockNotAvailable()

    def fail_once(*values: Any) -> bool:
        if errors:
            raise errors.pop()
        return record(*values)

    monkeypatch.setattr("contentapi.events.webhooks.sender.record", fail_once)
    with Receiver(accept) as receiver:
        webhook = make_hook(receiver.url)
        make_events(1)
        send_all()

    assert list_states(webhook) == ["delivered"]


@pytest.mark.thorough
@with_transactions
def test_two_senders_at_once_send_each_event_once_and_in_order() -> None:
    with Receiver(delay(0.002)) as receiver:
        hooks = [make_hook(f"{receiver.url}/{number}", types=["post.*"]) for number in range(2)]
        posts = [make_post() for _ in range(4)]
        for number in range(5):
            for post in posts:
                Post.objects.filter(pk=post.pk).update(title=f"Title {number}")
        relay()
        stop = StopEvent()

        def work() -> None:
            sender = Sender()
            while not stop.is_set():
                sender.run(stop)
            connection.close()

        threads = [Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            found = receiver.wait_for(lambda found: len(found) >= 2 * 4 * 6)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    assert len({(each.line, each.id) for each in found}) == len(found) == 2 * 4 * 6
    for number, hook in enumerate(hooks):
        assert set(list_states(hook)) == {"delivered"}
        for post in posts:
            mine = [each for each in found if f"/{number} " in each.line and each.event["subject"] == str(post.pk)]
            assert [int(each.event["version"]) for each in mine] == list(range(1, 7))
