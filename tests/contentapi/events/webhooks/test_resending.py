"""Pings, deliveries that are sent again, replays, and deliveries of many events."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from blog.models import Post
from contentapi.core.errors import Conflict, EventsExpired, Forbidden, Invalid, Malformed
from contentapi.core.identity import Actor, Role, Scope
from contentapi.db.statements import execute
from contentapi.events.feed import read_log
from contentapi.events.partitions import list_partitions, read_today
from contentapi.events.webhooks import resending
from contentapi.events.webhooks.models import Webhook
from contentapi.events.webhooks.resending import ping_webhook, redeliver, replay_webhook
from contentapi.events.webhooks.services import edit_webhook
from tests.contentapi.events.webhooks.hooks import list_deliveries, list_states, make_due, make_hook, send_all
from tests.factories import make_actor, make_author, make_post
from tests.receiver_behaviours import accept, fail_if, respond
from tests.webhook_receivers import Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("local_receivers")]


def test_ping_is_sent_once_whatever_the_answer(admin_actor: Actor) -> None:
    with Receiver(respond(500)) as receiver:
        webhook = make_hook(receiver.url)
        ping = ping_webhook(actor=admin_actor, webhook_id=str(webhook.pk))
        send_all()

    (sent,) = receiver.received
    assert sent.id == f"ping_{ping.pk}"
    assert sent.event["data"] == {"webhook": str(webhook.pk)}
    assert list_states(webhook) == ["failed"]
    webhook.refresh_from_db()
    assert webhook.failing_since is None


def test_ping_makes_the_partition_of_today_if_no_worker_has(admin_actor: Actor) -> None:
    webhook = make_hook()
    execute("DROP TABLE " + list_partitions("events_delivery")[read_today()])

    ping = ping_webhook(actor=admin_actor, webhook_id=str(webhook.pk))

    assert list_deliveries(webhook) == [ping]


def test_delivery_is_sent_again_with_the_same_id(admin_actor: Actor) -> None:
    with Receiver(accept) as receiver:
        webhook = make_hook(receiver.url)
        make_author()
        send_all()
        (delivery,) = list_deliveries(webhook)
        redeliver(actor=admin_actor, delivery_id=str(delivery.pk))
        send_all()

    first, second = receiver.received
    assert first.id == second.id
    assert list_deliveries(webhook)[0].attempts == 2


def test_waiting_delivery_is_sent_at_once(admin_actor: Actor) -> None:
    with Receiver(fail_if(lambda exchange: exchange.number == 0)) as receiver:
        webhook = make_hook(receiver.url)
        make_author()
        send_all()
        redeliver(actor=admin_actor, delivery_id=str(list_deliveries(webhook)[0].pk), webhook_id=str(webhook.pk))
        send_all()

    assert list_states(webhook) == ["delivered"]


def test_older_delivery_waits_for_the_one_of_its_object_that_is_due(admin_actor: Actor) -> None:
    with Receiver(fail_if(lambda exchange: exchange.request.event["version"] == "2")) as receiver:
        webhook = make_hook(receiver.url, types=["post.*"])
        post = make_post()
        Post.objects.filter(pk=post.pk).update(title="New")
        send_all()
        first, second = list_deliveries(webhook)
        redeliver(actor=admin_actor, delivery_id=str(first.pk))

    first, second = list_deliveries(webhook)
    assert (first.state, first.due_at) == ("waiting", None)
    assert second.due_at is not None


def test_disabled_webhook_sends_nothing_again(admin_actor: Actor) -> None:
    webhook = make_hook()
    ping = ping_webhook(actor=admin_actor, webhook_id=str(webhook.pk))
    edit_webhook(actor=admin_actor, webhook_id=str(webhook.pk), changes={"enabled": False})

    for again in (
        lambda: ping_webhook(actor=admin_actor, webhook_id=str(webhook.pk)),
        lambda: replay_webhook(actor=admin_actor, webhook_id=str(webhook.pk)),
        lambda: redeliver(actor=admin_actor, delivery_id=str(ping.pk)),
    ):
        with pytest.raises(Conflict, match="The webhook is disabled"):
            again()


def test_events_between_two_cursors_are_replayed_with_their_ids(admin_actor: Actor) -> None:
    with Receiver(accept) as receiver:
        webhook = make_hook(receiver.url)
        make_author()
        send_all()
        log = read_log()
        make_author()
        make_post()
        send_all()
        sent = [each.id for each in receiver.received]
        replay = replay_webhook(
            actor=admin_actor, webhook_id=str(webhook.pk), after=log.format_cursor(log.position), types=["author.*"]
        )
        send_all()

    assert replay.delivery_count == 2  # the post has an author too
    assert [each.id for each in receiver.received[len(sent) :]] == [sent[1], sent[2]]


def test_only_failed_deliveries_are_sent_again(admin_actor: Actor) -> None:
    with Receiver(accept) as receiver:
        webhook = make_hook(receiver.url)
        make_author()
        make_author()
        send_all()
        failed = list_deliveries(webhook)[0]
        webhook.deliveries.filter(pk=failed.pk).update(state="failed")
        replay = replay_webhook(actor=admin_actor, webhook_id=str(webhook.pk), only_failed=True)
        send_all()

    assert replay.delivery_count == 1
    assert receiver.received[-1].id == failed.message_id
    assert list_states(webhook) == ["delivered", "delivered"]


def test_replay_is_limited_and_its_cursors_are_checked(admin_actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    webhook = make_hook()
    make_author()
    make_author()
    send_all()
    values: dict[str, Any] = {"actor": admin_actor, "webhook_id": str(webhook.pk)}

    with pytest.raises(Malformed):
        replay_webhook(**values, after="soon")
    with pytest.raises(EventsExpired):
        replay_webhook(**values, to="other-1")
    monkeypatch.setattr(resending, "MAX_REPLAYED", 1)
    with pytest.raises(Invalid, match="At most 1 events"):
        replay_webhook(**values)
    monkeypatch.setattr(resending, "MAX_READ", 1)
    with pytest.raises(Invalid, match="At most 1 positions"):
        replay_webhook(**values)


def test_replay_needs_the_scopes_of_the_webhook() -> None:
    webhook = make_hook()
    narrow = make_actor(Role.ADMIN, scopes={Scope.WEBHOOKS_MANAGE})

    with pytest.raises(Forbidden, match="use a webhook with authors:read"):
        replay_webhook(actor=narrow, webhook_id=str(webhook.pk))


def test_events_are_collected_in_one_delivery() -> None:
    with Receiver(accept) as receiver:
        webhook = make_hook(receiver.url, coalesce=30)
        authors = [make_author() for _ in range(3)]
        send_all()
        make_author()
        send_all()  # 30 seconds have not passed
        collected = len(receiver.received)
        Webhook.objects.filter(pk=webhook.pk).update(planned_at=timezone.now() - timedelta(seconds=31))
        send_all()

    first, second = [each.event for each in receiver.received]
    assert collected == 1
    assert first["type"] == "events.batch"
    assert (first["count"], first["types"]) == (3, ["author.created"])
    assert first["subjects"] == sorted(str(author.pk) for author in authors)
    assert second["count"] == 1
    assert int(second["first"]) == int(first["last"]) + 1
    assert list_states(webhook) == ["delivered", "delivered"]


def test_ping_does_not_delay_collected_events(admin_actor: Actor) -> None:
    with Receiver(accept) as receiver:
        webhook = make_hook(receiver.url, coalesce=300)
        send_all()
        ping_webhook(actor=admin_actor, webhook_id=str(webhook.pk))
        send_all()
        make_author()
        send_all()

    assert [each.event["type"] for each in receiver.received] == ["webhook.ping", "events.batch"]


@pytest.mark.usefixtures("no_retry_by_itself")
def test_collected_events_wait_behind_a_delivery_that_fails_and_are_read_with_the_present_rights() -> None:
    with Receiver(respond(500)) as receiver:
        webhook = make_hook(receiver.url, coalesce=1)
        make_author()
        make_post(status="draft")
        send_all()
        make_author()
        Webhook.objects.filter(pk=webhook.pk).update(planned_at=timezone.now() - timedelta(seconds=2))
        send_all()
        assert len(list_deliveries(webhook)) == 1
        Webhook.objects.filter(pk=webhook.pk).update(scopes=[])
        receiver.behave = accept
        make_due(webhook)
        send_all()

    first, second = [each.event for each in receiver.received][:2]
    assert first["types"] == ["author.created", "post.created"]
    assert second["types"] == ["author.created"]
