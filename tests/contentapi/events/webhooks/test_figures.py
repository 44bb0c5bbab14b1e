"""The metrics of webhooks: their states, and how late the latest one is."""

from datetime import timedelta
from threading import Event as Stop
from typing import Any

import pytest
from django.utils import timezone

from contentapi.background import maintain_partitions
from contentapi.core.identity import Role
from contentapi.events.feed import read_log
from contentapi.events.models import Event, Log
from contentapi.events.webhooks.models import Webhook
from contentapi.monitoring.figures import FIGURES
from tests.event_log import relay
from tests.factories import make_post, make_user
from tests.webhook_rows import make_webhook

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _enabled(monkeypatch: pytest.MonkeyPatch) -> None:
    relay()
    monkeypatch.setattr(FIGURES, "is_enabled", True)
    monkeypatch.setattr(FIGURES, "measured", {})


def measure() -> dict[str, float]:
    """Return the values of the job, by the state or the name of the metric."""
    maintain_partitions(Stop())
    return {labels[0] if labels else name: value for name, labels, value in FIGURES.measured["webhooks"]}


def change(webhook: Webhook, **values: Any) -> None:
    Webhook.objects.filter(pk=webhook.pk).update(**values)


def test_webhooks_are_counted_by_their_state() -> None:
    admin, now = make_user(Role.ADMIN), timezone.now()
    for changes in ({}, {}, {"failing_since": now}, {"disabled_at": now, "disabled_reason": "gone"}):
        change(make_webhook(admin), **changes)

    assert measure() == {"active": 2, "failing": 1, "disabled": 1, "contentapi_webhook_waiting_seconds": 0}


def test_webhook_is_late_since_its_first_delivery_is_due() -> None:
    admin, now = make_user(Role.ADMIN), timezone.now()
    for hours in (-2, 1, 3):
        change(make_webhook(admin), due_at=now - timedelta(hours=hours))
    change(make_webhook(admin), due_at=now - timedelta(days=9), disabled_at=now, disabled_reason="person")

    assert 3 * 3600 <= measure()["contentapi_webhook_waiting_seconds"] < 4 * 3600


@pytest.mark.parametrize(("coalesce", "hours"), [(0, 2), (300, 1)])
def test_webhook_is_late_since_an_event_that_is_not_planned(coalesce: int, hours: int) -> None:
    webhook = make_webhook(make_user(Role.ADMIN), coalesce=coalesce)
    make_post(status="published")
    relay()
    Event.objects.filter(position=webhook.position + 1).update(timestamp=timezone.now() - timedelta(hours=2))

    found = measure()["contentapi_webhook_waiting_seconds"]

    assert hours * 3600 <= found <= 2 * 3600 + 60


@pytest.mark.parametrize(("coalesce", "is_late"), [(0, True), (30, False)])
def test_webhook_that_collects_is_not_late_while_its_receiver_fails(coalesce: int, *, is_late: bool) -> None:
    webhook, earlier = make_webhook(make_user(Role.ADMIN), coalesce=coalesce), timezone.now() - timedelta(hours=2)
    change(webhook, failing_since=earlier, due_at=timezone.now() + timedelta(hours=1))
    make_post(status="published")
    relay()
    Event.objects.filter(position=webhook.position + 1).update(timestamp=earlier)

    assert (measure()["contentapi_webhook_waiting_seconds"] > 0) is is_late


def test_new_log_begins_with_its_first_event_for_all_webhooks() -> None:
    webhook = make_webhook(make_user(Role.ADMIN))
    change(webhook, position=5000)
    Log.objects.all().delete()

    measure()

    webhook.refresh_from_db()
    assert (webhook.position, read_log().epoch == webhook.epoch) == (0, False)
