"""The bodies of deliveries: what `GET /events` shows of an event, read with the rights of the receiver.

`data` is read shortly before it is sent, on the primary, with one statement for the deliveries that were claimed
together. It is at least as new as the event. An event that the receiver may not see any more has no body.

Nothing of it is stored: the next attempt, also after a sender was killed, reads the object again.
"""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec
from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.db.models import F, QuerySet

from contentapi.conf import conf
from contentapi.conf.timeouts import WEBHOOK_BODY_TIMEOUT
from contentapi.core.errors import ApiError, Invalid
from contentapi.core.identity import Actor, Role
from contentapi.core.replicas import use_primary
from contentapi.db.arrays import IsInArray
from contentapi.events.declarations import get_event_types
from contentapi.events.models import Event
from contentapi.events.webhooks.models import PING, Delivery, Webhook
from contentapi.events.webhooks.planning import read_batch
from contentapi.events.webhooks.selections import Selection, get_selection
from contentapi.projection import parametrised
from contentapi.projection.selections import SelectedFieldError

LOG = logging.getLogger("contentapi.worker")
BODY_LIMIT = f"SET LOCAL statement_timeout = '{WEBHOOK_BODY_TIMEOUT}s'"  # meanwhile, nothing else is claimed


def find_actor(webhook: Webhook) -> Actor | None:
    """Return the maker with their present role and the scopes of the webhook; None if they are deleted or locked."""
    users = get_user_model().objects.filter(pk=webhook.maker_id, is_active=True)
    role = users.values_list("role", flat=True).first()
    if role is None:
        return None
    name = f"webhook:{webhook.pk}"
    return Actor(webhook.maker_id, Role(role), webhook.granted, credential="webhook", credential_id=name)


def read_bodies(webhook: Webhook, actor: Actor, deliveries: Sequence[Delivery]) -> dict[int, bytes]:
    """Return the body of each delivery by its id, without those that the webhook may not see any more.

    In a transaction: a statement that fails ends nothing else. Raises what the selection raises.
    """
    bodies = {each.pk: build_ping(webhook.pk, each.created_at) for each in deliveries if each.type == PING}
    positions = {each.position: each.pk for each in deliveries if each.first is None and each.position is not None}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(BODY_LIMIT)
        for each in deliveries:
            if each.first is not None and each.position is not None:
                body = read_batch(webhook, actor, each.first, each.position, each.created_at)
                bodies |= {} if body is None else {each.pk: body}
        found = read_events(actor, get_selection(webhook.selection), positions)
    return bodies | {positions[position]: body for position, body in found.items()}


@parametrised(Event)
def select_delivered_events(actor: Actor, *, first: int, last: int, positions: Any) -> QuerySet[Event]:
    """Return the events at some positions. The bounds let PostgreSQL use the index, whatever it knows of the table."""
    within = Event.objects.filter(get_event_types().visible(actor), position__gte=first, position__lte=last)
    return within.filter(IsInArray(F("position"), positions)).order_by("position")


def read_events(actor: Actor, selection: Selection, positions: Iterable[int]) -> dict[int, bytes]:
    """Return the JSON of each event at these positions that the actor may see. Raises what the selection raises."""
    positions = sorted(positions)
    if not positions:
        return {}
    use_primary()
    rows = select_delivered_events(actor, first=positions[0], last=positions[-1], positions=positions)
    room = conf.environment.contentapi_max_response
    found = get_event_types().read(rows, actor, room=room, text=selection.text, selections=selection.fields)
    return {position: event for event, position in found}


def describe_failure(error: Exception) -> str:
    """Return the reason for the maker of a webhook. The texts of PostgreSQL are for the log only."""
    if isinstance(error, SelectedFieldError):
        error = error.cause
    if isinstance(error, ApiError):
        return f"The event could not be read: {error.message}"
    LOG.warning("An event for a webhook could not be read: %s: %s", type(error).__name__, error)
    return "The event could not be read: the log of the server says why."


def build_ping(webhook_id: int, now: datetime) -> bytes:
    return msgspec.json.encode({"type": PING, "timestamp": now, "data": {"webhook": str(webhook_id)}})


def require_readable_selection(webhook: Webhook) -> None:
    """Raise `Invalid` if what a webhook selects cannot be read, because an argument is wrong."""
    actor = find_actor(webhook)
    if actor is None:
        raise Invalid({"maker": ["There is no such user, or the account is locked."]})
    try:
        read_events(actor, get_selection(webhook.selection), [0])
    except (SelectedFieldError, ApiError) as error:
        cause = error.cause if isinstance(error, SelectedFieldError) else error
        raise Invalid({"selection": [str(cause)]}) from None
