"""The bodies of deliveries: what `GET /events` shows of an event, read with the rights of the receiver.

`data` is read before each attempt, on the primary, with one statement for the deliveries that were claimed together. So
it is at least as new as the event. An event that the receiver may not see any more has no body.

By default, `data` has the fields that REST shows. A webhook may select others by GraphQL fragments, of which the first
one on the type of an object is the selection. They are compiled as a part of a subscription, with the limits and the
cost of every operation:

    subscription { events { ... on PostEvent { post { ...Data } } } } fragment Data on Post { title author { name } }
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

import msgspec
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import F, QuerySet
from graphql import FragmentDefinitionNode, GraphQLError

from contentapi.conf import conf
from contentapi.conf.timeouts import WEBHOOK_BODY_TIMEOUT
from contentapi.core.errors import ApiError, Invalid, LimitExceeded
from contentapi.core.identity import ANONYMOUS, Actor, Role
from contentapi.core.replicas import set_route
from contentapi.db.expressions import IsInArray
from contentapi.db.statements import execute
from contentapi.events.models import Event
from contentapi.events.sources import get_event_types
from contentapi.events.webhooks.models import MAX_SELECTION, PING, Delivery, Webhook
from contentapi.events.webhooks.planning import read_batch
from contentapi.graphql.costs import require_cost_within_limit
from contentapi.graphql.documents import DocumentRejected, parse_within_limits
from contentapi.graphql.subscriptions import Subscription, get_subscription
from contentapi.projection import parametrised
from contentapi.projection.selections import SelectedField, SelectedFieldError

LOG = logging.getLogger("contentapi.worker")
BODY_LIMIT = f"SET LOCAL statement_timeout = '{WEBHOOK_BODY_TIMEOUT}s'"  # meanwhile, nothing else is claimed


class Selection(NamedTuple):
    """The selected fields of each kind of objects, and the cost of one event. Without text, those of REST."""

    text: str = ""
    fields: Mapping[str, tuple[SelectedField, ...]] = {}
    cost: int = 1


@lru_cache(maxsize=128)
def get_selection(text: str) -> Selection:
    """Return the compiled selection. Raises `Invalid` if it does not match the present schema and its limits."""
    schema = import_module(settings.ROOT_URLCONF).SCHEMA  # with it, a worker binds the fields of all types
    if not text:
        return Selection()
    try:
        operation = get_subscription(schema, build_document(text), None)
        cost = operation.cost.evaluate(None)
        require_cost_within_limit(cost)
        return Selection(text, read_fields(Subscription(operation, {}, ANONYMOUS)), cost)
    except DocumentRejected as rejected:
        raise build_error(rejected.errors[0].message) from None
    except (GraphQLError, LimitExceeded) as error:
        raise build_error(error.message) from None


def build_document(text: str) -> str:
    """Return the operation that spreads the first fragment on the type of each kind of objects."""
    if len(text) > MAX_SELECTION:
        raise build_error(f"At most {MAX_SELECTION} characters are allowed (got {len(text)}).")
    first: dict[str, str] = {}
    for node in parse_within_limits(text).definitions:
        if not isinstance(node, FragmentDefinitionNode):
            raise build_error("Only fragments are allowed, such as: fragment Data on Post { title }")
        first.setdefault(node.type_condition.name.value, node.name.value)
    spreads = [
        f"... on {name} {{ {kind} {{ ...{first[shown]} }} }}"
        for name, kind in get_event_types().kinds.items()
        if (shown := name.removesuffix("Event")) in first
    ]
    if not spreads:
        raise build_error("There must be a fragment on the type of an object, such as: fragment Data on Post { title }")
    return f"subscription {{ events {{ {' '.join(spreads)} }} }}\n{text}"


def build_error(message: str) -> Invalid:
    return Invalid({"selection": [message]})


def read_fields(subscription: Subscription) -> dict[str, tuple[SelectedField, ...]]:
    """Return the selected fields of each kind, with fragments merged."""
    root, executor = subscription.root, subscription.build_executor()
    events = executor.select_fields_of_types(root.returned.named, root.details, root.path, is_list=False)
    kinds = get_event_types().kinds
    return {kinds[event.name]: selected.selection for event in events for selected in event.selection}


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
    with transaction.atomic():
        execute(BODY_LIMIT)
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
    set_route(None)
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
