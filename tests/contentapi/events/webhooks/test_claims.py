"""A webhook belongs to one sender at a time, and nothing is lost when a sender is killed."""

from datetime import timedelta
from threading import Event as StopEvent
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from blog.models import Post
from contentapi.events.webhooks.deliveries import claim, find_webhooks, judge, record
from contentapi.events.webhooks.models import Delivery, Webhook
from contentapi.events.webhooks.sender import Sender
from contentapi.events.webhooks.sending import ReceivedResponse
from contentapi.events.webhooks.services import edit_webhook
from tests.contentapi.events.webhooks.hooks import (
    list_deliveries,
    list_states,
    make_due,
    make_hook,
    send_all,
)
from tests.event_log import relay
from tests.factories import make_author, make_post
from tests.receiver_behaviours import accept, delay, fail_one_in
from tests.webhook_receivers import Receiver

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("local_receivers")]


def end_lease(webhook: Webhook) -> None:
    Webhook.objects.filter(pk=webhook.pk).update(leased_until=timezone.now() - timedelta(seconds=1))


def make_events(count: int) -> None:
    for _ in range(count):
        make_author()
    relay()


def test_webhook_of_another_sender_is_left_alone() -> None:
    webhook = make_hook()
    make_events(3)
    first, second = uuid4(), uuid4()

    ((_, _, deliveries),), broken = claim(first, [webhook.pk])

    assert (len(deliveries), broken) == (3, [])
    assert find_webhooks() == []
    assert claim(second, [webhook.pk]) == ([], [])
    record(first, {webhook.pk: []})
    assert find_webhooks() == [webhook.pk]


def test_webhook_that_a_service_has_locked_is_claimed_later() -> None:
    webhook = make_hook()
    make_events(1)
    found: list[Any] = []

    def look() -> None:
        found.append(claim(uuid4(), [webhook.pk])[0])
        connection.close()

    with transaction.atomic():
        Webhook.objects.select_for_update().get(pk=webhook.pk)
        thread = Thread(target=look)
        thread.start()
        thread.join()

    assert found == [[]]
    assert len(claim(uuid4(), [webhook.pk])[0]) == 1


def test_results_of_a_webhook_that_a_service_has_locked_are_recorded_later() -> None:
    webhook = make_hook()
    make_events(1)
    lease = uuid4()
    ((_, _, (delivery,)),), _ = claim(lease, [webhook.pk])
    results = {webhook.pk: [judge(delivery, ReceivedResponse(204), timezone.now(), 0.1)]}
    found: list[Any] = []

    def look() -> None:
        found.append(record(lease, results))
        connection.close()

    with transaction.atomic():
        Webhook.objects.select_for_update().get(pk=webhook.pk)
        thread = Thread(target=look)
        thread.start()
        thread.join()

    assert found == [{webhook.pk}]
    assert record(lease, results) == set()
    assert list_states(webhook) == ["delivered"]


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


def test_sender_without_its_lease_records_nothing() -> None:
    webhook = make_hook()
    make_events(1)
    first, second = uuid4(), uuid4()
    ((_, _, (late,)),), _ = claim(first, [webhook.pk])
    end_lease(webhook)
    claim(second, [webhook.pk])

    assert record(first, {webhook.pk: [judge(late, ReceivedResponse(500), timezone.now(), 0.1)]}) == set()

    webhook.refresh_from_db()
    assert webhook.lease == second
    assert list_deliveries(webhook)[0].attempts == 0


def test_disabled_webhook_is_not_claimed() -> None:
    webhook = make_hook()
    make_events(1)
    Webhook.objects.filter(pk=webhook.pk).update(disabled_at=timezone.now(), disabled_reason="person")

    assert claim(uuid4(), [webhook.pk]) == ([], [])


def test_position_of_a_webhook_never_goes_back() -> None:
    webhook = make_hook()
    make_events(2)
    claim(uuid4(), [webhook.pk])
    planned = Webhook.objects.get(pk=webhook.pk).position
    Webhook.objects.filter(pk=webhook.pk).update(position=F("position") + 5)  # another sender was faster
    end_lease(webhook)

    claim(uuid4(), [webhook.pk])

    assert Webhook.objects.get(pk=webhook.pk).position == planned + 5
    assert len(list_deliveries(webhook)) == 2


def test_two_senders_at_once_send_each_event_once_and_in_order() -> None:
    with Receiver(delay(0.002)) as receiver:
        hooks = [make_hook(f"{receiver.url}/{number}", types=["post.*"]) for number in range(4)]
        posts = [make_post() for _ in range(5)]
        for number in range(10):
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
            found = receiver.wait_for(lambda found: len(found) >= 4 * 5 * 11)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    assert len({(each.line, each.id) for each in found}) == len(found) == 4 * 5 * 11
    for number, hook in enumerate(hooks):
        assert set(list_states(hook)) == {"delivered"}
        for post in posts:
            mine = [each for each in found if f"/{number} " in each.line and each.event["subject"] == str(post.pk)]
            assert [int(each.event["version"]) for each in mine] == list(range(1, 12))


@pytest.mark.usefixtures("no_retry_by_itself")
def test_delivery_that_waits_is_found_when_it_is_due() -> None:
    with Receiver(fail_one_in(2)) as receiver:
        webhook = make_hook(receiver.url)
        make_events(1)
        send_all()
        assert find_webhooks() == []
        make_due(webhook)
        assert find_webhooks() == [webhook.pk]
        send_all()

    assert len(receiver.received) == 2


def test_webhook_that_is_enabled_again_continues_where_it_stopped(admin_actor: Any) -> None:
    with Receiver(accept) as receiver:
        webhook = make_hook(receiver.url)
        edit_webhook(actor=admin_actor, webhook_id=str(webhook.pk), changes={"enabled": False})
        make_events(2)
        send_all()
        assert receiver.received == []
        edit_webhook(actor=admin_actor, webhook_id=str(webhook.pk), changes={"enabled": True})
        send_all()

    assert len(receiver.received) == 2
    assert Delivery.objects.filter(webhook=webhook).count() == 2
