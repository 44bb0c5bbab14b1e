"""Webhooks and deliveries, written without sending anything."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from contentapi.core.identity import OPERATOR
from contentapi.events.webhooks import services
from contentapi.events.webhooks.models import Attempt, Delivery, Webhook
from tests.event_log import begin_log
from users.models import User

URL = "https://hooks.example.com/hook"
WEBHOOK: dict[str, Any] = {"name": "Site", "url": URL, "types": ["post.*"]}


def make_webhook(maker: User, **values: Any) -> Webhook:
    """Create a webhook of a user, which sees what everybody sees."""
    begin_log()
    given = {**WEBHOOK, "scopes": [], **values}
    return services.create_webhook(actor=OPERATOR, maker_id=maker.pk, **given).webhook


def make_delivery(webhook: Webhook, *, created_at: datetime | None = None, **values: Any) -> Delivery:
    """Write a delivery, by default one that waits, into the partition of today."""
    now = timezone.now()
    given = {"type": "post.published", "message_id": "evt_1", "subject_id": 1, "position": 1, **values}
    return Delivery.objects.create(webhook=webhook, day=now.date(), created_at=created_at or now, **given)


def make_attempt(delivery: Delivery, number: int = 1, **values: Any) -> Attempt:
    given = {"day": delivery.day, "started_at": delivery.created_at, "seconds": 0.25, **values}
    return Attempt.objects.create(delivery=delivery, number=number, **given)
