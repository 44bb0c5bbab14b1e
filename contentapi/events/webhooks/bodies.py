"""The bodies of deliveries: what `GET /events` shows of an event, read with the rights of the receiver.

`data` is read shortly before it is sent, on the primary, with one statement for the deliveries that were claimed
together. It is at least as new as the event. An event that the receiver may not see any more has no body.

The body is stored while a sender has the delivery. If the sender is killed, the next one sends it byte for byte,
because the receiver may have it already. After a failure that is recorded, it is read again.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any

import msgspec
from django.contrib.auth import get_user_model
from django.db.models import F, QuerySet
from graphql import VariableValues

from contentapi.conf import conf
from contentapi.core.errors import ApiError, Invalid
from contentapi.core.identity import Actor, Role
from contentapi.core.replicas import use_primary
from contentapi.db.arrays import IsInArray
from contentapi.events.feed import WINDOW
from contentapi.events.models import Event
from contentapi.events.sources import MEMBERS
from contentapi.events.webhooks.catalogue import CATALOGUE
from contentapi.events.webhooks.models import PING, Webhook
from contentapi.events.webhooks.selections import Selection, get_selection
from contentapi.projection import parametrised
from contentapi.projection.selections import SelectedFieldError
from contentapi.projection.statements import SelectionRequest, read_json_and_column

NO_VARIABLES = VariableValues({}, {})
RIGHTS = 16  # bytes of the digest before a stored body
LARGEST_BATCH = 64  # events that are read at once


def read_actors(webhooks: Iterable[Webhook]) -> dict[int, Actor]:
    """Return the actor of each webhook: the maker with their present role, and the scopes of the webhook.

    A webhook whose maker is deleted or locked has none.
    """
    webhooks = list(webhooks)
    users = get_user_model().objects.filter(pk__in={webhook.maker_id for webhook in webhooks}, is_active=True)
    roles = dict(users.values_list("pk", "role"))
    return {
        webhook.pk: Actor(
            webhook.maker_id,
            Role(roles[webhook.maker_id]),
            webhook.granted,
            credential="webhook",
            credential_id=f"webhook:{webhook.pk}",
        )
        for webhook in webhooks
        if webhook.maker_id in roles
    }


@parametrised(Event)
def select_delivered_events(actor: Actor, *, first: int, last: int, positions: Any) -> QuerySet[Event]:
    """Return the events at some positions. The bounds let PostgreSQL use the index, whatever it knows of the table."""
    within = Event.objects.filter(CATALOGUE.types.visible(actor), position__gte=first, position__lte=last)
    return within.filter(IsInArray(F("position"), positions)).order_by("position")


def read_bodies(actor: Actor, selection: Selection, positions: Iterable[int]) -> dict[int, bytes]:
    """Return the JSON of each event at these positions that the actor may see. Raises what the selection raises."""
    use_primary()
    request = SelectionRequest(
        CATALOGUE.types.interface,
        key=("webhook", selection.text),
        size=4096 + len(selection.text),
        select=selection.select,
        actor=actor,
        variables=NO_VARIABLES,
        room=conf.environment.contentapi_max_response,
        column="position",
    )
    bodies: dict[int, bytes] = {}
    for batch in split_positions(positions, max(1, conf.environment.contentapi_max_cost // selection.cost)):
        rows = select_delivered_events(actor, first=batch[0], last=batch[-1], positions=list(batch))
        found = read_json_and_column(rows, request)
        bodies |= {int(position): selection.represent(event) for event, position in found}
    return bodies


def split_positions(positions: Iterable[int], most: int) -> Iterator[Sequence[int]]:
    """Yield batches of positions: each has `most` at most, in a window of the log that is read by the index."""
    batch: list[int] = []
    for position in sorted(positions):
        if batch and (len(batch) == min(most, LARGEST_BATCH) or position - batch[0] >= WINDOW):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


def compute_rights(webhook: Webhook, actor: Actor) -> bytes:
    """Return a digest of all that decides what a webhook may see and selects."""
    rights = [actor.user_id, str(actor.role), sorted(actor.scopes), webhook.selection]
    return blake2b(msgspec.json.encode(rights), digest_size=RIGHTS).digest()


def choose_body(stored: bytes | None, present: bytes, rights: bytes) -> bytes:
    """Return the body to send: what another sender may have sent already, or else what was read at present.

    That is so only with equal rights, and while the webhook may see the object: nothing that is hidden now is sent.
    """
    if stored is None or bytes(stored[:RIGHTS]) != rights or is_hidden(present):
        return present
    return bytes(stored[RIGHTS:])


def is_hidden(body: bytes) -> bool:
    """Return whether the object of an event is hidden. A body of several events, or of a ping, hides nothing."""
    data = MEMBERS.decode(body).get("data")
    return data is not None and bytes(data) == b"null"


def build_ping(webhook_id: int, now: datetime) -> bytes:
    return msgspec.json.encode({"type": PING, "timestamp": now, "data": {"webhook": str(webhook_id)}})


def require_readable_selection(webhook: Webhook) -> None:
    """Raise `Invalid` if what a webhook selects cannot be read, because an argument is wrong."""
    actor = read_actors([webhook]).get(webhook.pk)
    if actor is None:
        raise Invalid({"maker": ["There is no such user, or the account is locked."]})
    try:
        read_bodies(actor, get_selection(webhook.selection), [0])
    except SelectedFieldError as error:
        raise Invalid({"selection": [str(error.cause)]}) from None
    except ApiError as error:
        raise Invalid({"selection": [error.message]}) from None
