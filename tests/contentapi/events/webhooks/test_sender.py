"""The sender: each event is sent at least once, in the order of its object, and what fails is sent again."""

from collections.abc import Callable
from datetime import timedelta
from threading import Event as StopEvent
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone
from standardwebhooks import Webhook as StandardWebhook

from blog.models import Post
from contentapi.core.identity import Role, Scope
from contentapi.db.statements import execute
from contentapi.events.webhooks.deliveries import MAILS
from contentapi.events.webhooks.models import Delivery, Webhook
from contentapi.events.webhooks.sender import Sender
from contentapi.events.webhooks.signing import list_keys
from tests.contentapi.events.webhooks.hooks import (
    allow_local_receivers,
    list_deliveries,
    list_states,
    make_due,
    make_hook,
    send_all,
)
from tests.event_log import relay
from tests.factories import make_actor, make_author, make_post
from tests.receiver_behaviours import accept, fail_if, fail_one_in, respond
from tests.webhook_receivers import Exchange, Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("local_receivers")]
ODD = "“Storm”, 👩🏽‍🚀 e\u0301 \u2028 </script> \\u0000"
with_transactions = pytest.mark.django_db(transaction=True)  # whose commit writes the log line and sends the mail


def is_about(*subjects: int) -> Callable[[Exchange], bool]:
    return lambda exchange: exchange.request.event["subject"] in map(str, subjects)


def edit(post: Post, times: int) -> None:
    for number in range(times):
        Post.objects.filter(pk=post.pk).update(title=f"Title {number}")


def test_event_is_sent_as_the_feed_shows_it() -> None:
    with Receiver(accept) as receiver:
        webhook = make_hook(receiver.url)
        post = make_post(title=ODD)
        send_all()

    author, event = receiver.received
    delivered = Delivery.objects.get(webhook=webhook, subject_id=post.pk)
    (secret,) = list_keys(webhook)
    assert author.event["type"] == "author.created"
    assert StandardWebhook(secret).verify(event.body, event.headers)["data"]["title"] == ODD
    assert event.event["subject"] == str(post.pk)
    assert event.event["position"] == str(delivered.position)
    assert event.id == delivered.message_id
    assert event.headers["content-type"] == "application/json"
    assert list_states(webhook) == ["delivered", "delivered"]
    attempt = delivered.log.get()
    assert (attempt.number, attempt.status, attempt.error) == (1, 204, "")


def test_events_before_the_webhook_and_of_other_types_are_not_sent() -> None:
    with Receiver(accept) as receiver:
        make_author()
        make_hook(receiver.url, types=["author.*"])
        post = make_post()
        send_all()

    assert [each.event["subject"] for each in receiver.received] == [str(post.author_id)]


def test_selection_replaces_data() -> None:
    with Receiver(accept) as receiver:
        make_hook(receiver.url, selection="fragment Data on Post { title author { name } }")
        post = make_post()
        send_all()

    author, event = receiver.received
    assert event.event["data"] == {"title": post.title, "author": {"name": post.author.name}}
    assert author.event["data"]["name"] == post.author.name


@pytest.mark.parametrize(("headers", "least"), [([], 3), (["Retry-After: 600"], 599)])
def test_failed_attempt_is_kept_and_repeated_after_five_seconds_or_when_the_receiver_wants(
    headers: list[str], least: int
) -> None:
    with Receiver(respond(500, *headers, body=b"Out of order.")) as receiver:
        webhook = make_hook(receiver.url)
        make_author()
        send_all()

    (delivery,) = list_deliveries(webhook)
    attempt = delivery.log.get()
    assert (delivery.state, delivery.attempts, delivery.status) == ("waiting", 1, 500)
    assert delivery.due_at is not None
    assert timedelta(seconds=least) < delivery.due_at - attempt.started_at < timedelta(seconds=least + 60)
    assert (attempt.response, attempt.error) == ("Out of order.", "The receiver answered 500.")
    webhook.refresh_from_db()
    assert webhook.failing_since == attempt.started_at


def test_success_ends_the_time_of_failures() -> None:
    with Receiver(fail_one_in(2)) as receiver:
        webhook = make_hook(receiver.url)
        make_author()
        send_all()
        make_due(webhook)
        send_all()

    webhook.refresh_from_db()
    first, second = receiver.received
    assert webhook.failing_since is None
    assert first.id == second.id
    assert first.body == second.body
    assert list_states(webhook) == ["delivered"]
    assert [attempt.number for attempt in list_deliveries(webhook)[0].log.order_by("number")] == [1, 2]


def test_failing_object_blocks_only_itself() -> None:
    with Receiver(accept) as receiver:
        webhook = make_hook(receiver.url, types=["post.*"])
        bad, good = make_post(), make_post()
        receiver.behave = fail_if(is_about(bad.pk))
        edit(bad, 3)
        edit(good, 3)
        send_all()
        blocked = [each.event["version"] for each in receiver.received if each.event["subject"] == str(bad.pk)]
        receiver.behave = accept
        make_due(webhook)
        send_all()

    versions = {
        post.pk: [each.event["version"] for each in receiver.received if each.event["subject"] == str(post.pk)]
        for post in (bad, good)
    }
    assert set(blocked) == {"1"}
    assert versions == {bad.pk: [*blocked, "1", "2", "3", "4"], good.pk: ["1", "2", "3", "4"]}


def test_delivery_fails_after_ten_attempts_and_the_next_one_is_sent() -> None:
    with Receiver(fail_one_in(1)) as receiver:
        webhook = make_hook(receiver.url, types=["post.*"])
        post = make_post()
        receiver.behave = fail_if(lambda exchange: exchange.request.event["version"] == "1")
        edit(post, 1)
        for _ in range(10):
            make_due(webhook)
            send_all()

    failed, delivered = list_deliveries(webhook)
    assert (failed.state, failed.attempts, failed.due_at) == ("failed", 10, None)
    assert delivered.state == "delivered"


@with_transactions
def test_receiver_that_answers_410_is_disabled(caplog: pytest.LogCaptureFixture) -> None:
    with Receiver(respond(410)) as receiver:
        webhook = make_hook(receiver.url)
        make_author()
        send_all()
        make_author()
        send_all()

    webhook.refresh_from_db()
    assert webhook.disabled_reason == "gone"
    assert len(receiver.received) == 1
    assert f"The webhook {webhook.pk} is disabled: the receiver answered 410." in caplog.messages


@with_transactions
def test_five_days_of_failures_disable_and_tell_the_maker(
    settings: Any, mailoutbox: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    allow_local_receivers(settings, EMAIL_URL="smtp://mail.example.com?from=api@example.com")
    with Receiver(respond(503)) as receiver:
        webhook = make_hook(receiver.url)
        Webhook.objects.filter(pk=webhook.pk).update(failing_since=timezone.now() - timedelta(days=5))
        make_author()
        send_all()

    webhook.refresh_from_db()
    assert webhook.disabled_reason == "failures"
    assert f"The webhook {webhook.pk} is disabled: nothing but failures for five days." in caplog.messages
    MAILS.submit(bool).result()  # after the mail
    (mail,) = mailoutbox
    assert mail.to == [get_user_model().objects.get(pk=webhook.maker_id).email]
    assert webhook.url in mail.body


def test_event_that_the_webhook_may_not_see_any_more_is_cancelled() -> None:
    admin = make_actor(Role.ADMIN)
    with Receiver(fail_one_in(1)) as receiver:
        webhook = make_hook(receiver.url, actor=admin, types=["post.*"])
        make_post(status="draft")
        send_all()
        Webhook.objects.filter(pk=webhook.pk).update(scopes=[Scope.POSTS_READ])
        make_due(webhook)
        send_all()

    assert len(receiver.received) == 1
    assert list_states(webhook) == ["cancelled"]


@pytest.mark.parametrize("change", [{"is_active": False}, {"role": "reader"}])
def test_rights_of_the_maker_are_checked_again(change: dict[str, Any]) -> None:
    admin = make_actor(Role.ADMIN)
    with Receiver(accept) as receiver:
        webhook = make_hook(receiver.url, actor=admin, types=["post.*"])
        values: dict[str, Any] = {"is_active": True, "role": "admin"} | change
        execute("UPDATE users_user SET is_active = %s, role = %s WHERE id = %s", [*values.values(), admin.user_id])
        make_post(status="draft")
        public = make_post()
        send_all()

    webhook.refresh_from_db()
    sent = [each.event["subject"] for each in receiver.received]
    assert sent == ([] if "is_active" in change else [str(public.pk)])
    assert webhook.disabled_reason == ("maker" if "is_active" in change else "")


def test_sender_that_stops_records_what_it_has_sent_and_ends_its_lease() -> None:
    with Receiver(accept) as receiver:
        webhook = make_hook(receiver.url)
        make_author()
        relay()
        stop = StopEvent()
        stop.set()
        Sender().run(stop)

    webhook.refresh_from_db()
    assert webhook.lease is None
    assert list_states(webhook) == ["delivered"]
    assert len(receiver.received) == 1
