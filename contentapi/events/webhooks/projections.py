"""Projections of webhooks: how each field of the SDL is read."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.functions import Now, NullIf

from contentapi.core.identity import Actor
from contentapi.db.expressions import Term, TextLiteral
from contentapi.events.webhooks.models import NO_SUBJECT, Attempt, Delivery, DisabledReason, Webhook
from contentapi.events.webhooks.selectors import filter_deliveries
from contentapi.projection import Computed, Connection, ConnectionType, Projection, RelayType, SameRowAsType, ToMany


def build_unless_empty(column: str, field: models.Field[Any, Any]) -> Computed:
    """Return the text of a column, or null if it is empty."""
    return Computed(lambda _: NullIf(column, TextLiteral(""), output_field=field))


def build_previous_until(_: Actor) -> Term:
    return Case(When(previous_until__gt=Now(), then=F("previous_until")), output_field=models.DateTimeField())


ATTEMPT = Projection("WebhookAttempt", Attempt)

DELIVERY = Projection(
    "WebhookDelivery",
    Delivery,
    {
        "subject": Computed(lambda _: NullIf("subject_id", models.Value(NO_SUBJECT))),
        "attemptCount": "attempts",
        "attempts": ToMany("log", lambda attempts, _: attempts.order_by("-number", "-id")),
    },
)

WEBHOOK = Projection(
    "Webhook",
    Webhook,
    {
        "selection": build_unless_empty("selection", models.TextField()),
        "makerId": Computed(lambda _: F("maker_id")),
        "enabled": Computed(lambda _: models.ExpressionWrapper(Q(disabled_at__isnull=True), models.BooleanField())),
        "disabledReason": build_unless_empty("disabled_reason", models.CharField(choices=DisabledReason.choices)),
        "previousSecretUntil": Computed(build_previous_until),
        "deliveries": Connection("deliveries", filter_deliveries),
    },
)

DELIVERY_CONNECTION = ConnectionType(DELIVERY, is_counted=False)
WEBHOOK_CONNECTION = ConnectionType(WEBHOOK)

PROJECTIONS: list[Projection | RelayType] = [
    *(ATTEMPT, DELIVERY, DELIVERY_CONNECTION, DELIVERY_CONNECTION.edge),
    *(WEBHOOK, WEBHOOK_CONNECTION, WEBHOOK_CONNECTION.edge),
    Projection("UpdateWebhookPayload", Webhook, {"webhook": SameRowAsType()}),
    Projection("PingWebhookPayload", Delivery, {"delivery": SameRowAsType()}),
    Projection("RedeliverWebhookDeliveryPayload", Delivery, {"delivery": SameRowAsType()}),
]
