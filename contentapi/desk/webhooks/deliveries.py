"""The pages of deliveries: the last hours, those of a webhook, and one with its attempts, which a button repeats."""

import json
from datetime import datetime, timedelta
from typing import NamedTuple

from django.contrib import messages
from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from contentapi.auth.sessions import get_actor
from contentapi.core.errors import ApiError
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position
from contentapi.db.statements import fetch_rows
from contentapi.desk.bases import PolicyAdmin
from contentapi.events.sources import get_event_types
from contentapi.events.webhooks import resending, selectors
from contentapi.events.webhooks.bodies import find_actor, read_bodies
from contentapi.events.webhooks.models import BATCH_TYPE, PING, Delivery, DeliveryState, Webhook
from contentapi.projection.selections import SelectedFieldError

SHOWN = 50
MOST_SEARCHED = 10_000  # deliveries among which those of a type are found
HOURS = 24
MOST_COUNTED = 50_000  # deliveries, the newest ones
# `day` selects the partitions, and an index has the order. More rows would take too long. The last row has the sums.
COUNT = """
    SELECT date_trunc('hour', created_at, 'UTC'), count(*) FILTER (WHERE state = 'delivered'),
        count(*) FILTER (WHERE state IN ('failed', 'cancelled')), count(*) FILTER (WHERE state = 'waiting'), count(*)
    FROM (
        SELECT created_at, state FROM events_delivery
        WHERE webhook_id = %s AND created_at >= %s AND day >= (%s AT TIME ZONE 'UTC')::date
        ORDER BY created_at DESC, id DESC LIMIT %s
    ) AS newest
    GROUP BY ROLLUP (1)
"""
STATES = {"": "All", **{state.value: state.label for state in DeliveryState}}


class Hour(NamedTuple):
    """The deliveries that were planned in an hour, by what became of them. The sums of all hours begin at no time."""

    begins: datetime | None
    delivered: int = 0
    failed: int = 0  # or cancelled
    waiting: int = 0
    total: int = 0


def count_by_hour(webhook: Webhook) -> tuple[list[Hour], Hour]:
    """Count the newest deliveries of a webhook in the last 24 hours, the present one last. Return the sums too."""
    present = timezone.now().replace(minute=0, second=0, microsecond=0)
    begins = [present - timedelta(hours=number) for number in reversed(range(HOURS))]
    rows = fetch_rows(COUNT, [webhook.pk, begins[0], begins[0], MOST_COUNTED])
    found = {row[0]: Hour(*row) for row in rows}
    return [found.get(hour, Hour(hour)) for hour in begins], found[None]


def show_deliveries(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Show the deliveries of a webhook, the last planned first."""
    actor = get_actor(request)
    webhook = model_admin.get_object(request, object_id)
    state, name = request.GET.get("state", ""), request.GET.get("type", "")
    found = list_deliveries(actor, object_id, state=state, name=name, before=request.GET.get("before"))
    context = {
        "title": f"Deliveries of {webhook.name}",
        "webhook": webhook,
        "states": [(value, label, value == state) for value, label in STATES.items()],
        "state": state,
        "types": [*get_event_types().names, BATCH_TYPE, PING],
        "type": name,
        "deliveries": found[:SHOWN],
        "next_before": found[SHOWN - 1].pk if len(found) > SHOWN else None,
    }
    return model_admin.render(request, "desk/webhooks/deliveries.html", context)


def list_deliveries(actor: Actor, webhook_id: str, *, state: str, name: str, before: str | None) -> list[Delivery]:
    """Return the next deliveries, one more than a page shows. Raises `Http404` if there is none to go on with."""
    after = None
    if before is not None:
        last = find_delivery(actor, webhook_id, before)
        after = Position(last.pk, last.created_at.isoformat())
    rows = selectors.select_deliveries(actor, webhook_id, state=state or None, after=after).queryset()
    if name:
        rows = rows.filter(type=name, pk__in=rows.values("pk")[:MOST_SEARCHED])
    return list(rows[: SHOWN + 1])


def find_delivery(actor: Actor, webhook_id: str, delivery_id: str) -> Delivery:
    """Return a delivery of a webhook. Raises `Http404`."""
    return get_object_or_404(selectors.select_delivery_by_id(actor, delivery_id, webhook_id=webhook_id).queryset())


def show_delivery(request: HttpRequest, model_admin: PolicyAdmin, object_id: str, delivery_id: str) -> HttpResponse:
    """Show what is sent, and the response to each attempt."""
    actor = get_actor(request)
    webhook = model_admin.get_object(request, object_id)
    delivery = find_delivery(actor, object_id, delivery_id)
    context = {
        "title": f"{delivery.type} to {webhook.name}",
        "webhook": webhook,
        "delivery": delivery,
        "body": read_body(webhook, delivery),
        "attempts": delivery.log.order_by("-number"),
    }
    return model_admin.render(request, "desk/webhooks/delivery.html", context)


def read_body(webhook: Webhook, delivery: Delivery) -> str:
    """Return the JSON that an attempt would send now, with a line for each member."""
    actor = find_actor(webhook)
    try:
        body = read_bodies(webhook, actor, [delivery]).get(delivery.pk) if actor else None
    except (ApiError, SelectedFieldError, DatabaseError):  # attempts say why
        body = None
    if body is None:
        return "The event is not kept any more, or the webhook may not see it now, or what it selects cannot be read."
    return json.dumps(json.loads(body), indent=2, ensure_ascii=False)


@require_POST
def redeliver(request: HttpRequest, model_admin: PolicyAdmin, object_id: str, delivery_id: str) -> HttpResponse:
    """Send a delivery again, and show it."""
    actor = get_actor(request)
    webhook = model_admin.get_object(request, object_id)
    find_delivery(actor, object_id, delivery_id)
    resending.redeliver(actor=actor, delivery_id=delivery_id, webhook_id=object_id)
    model_admin.log_change(request, webhook, f"Sent delivery {delivery_id} again.")
    model_admin.message_user(request, "It is sent again. Reload this page to see the response.", messages.SUCCESS)
    return HttpResponseRedirect(reverse("admin:events_webhook_delivery", args=[object_id, delivery_id]))
