"""Send again: a ping, one delivery, or events of the log. The functions lock the webhook, as those of `services` do."""

from collections.abc import Collection
from typing import NamedTuple

from django.db import transaction
from django.db.models.functions import Now

from contentapi.core.errors import Conflict, Invalid, require_found
from contentapi.core.identity import Actor
from contentapi.db.ids import take_id
from contentapi.db.statements import fetch_column
from contentapi.events.feed import read_log
from contentapi.events.partitions import list_partitions, prepare_partitions, read_today
from contentapi.events.sources import get_event_types
from contentapi.events.webhooks import selectors
from contentapi.events.webhooks.bodies import find_actor
from contentapi.events.webhooks.models import PING, Delivery, Webhook
from contentapi.events.webhooks.planning import advance_subjects, plan_events, select_wanted
from contentapi.events.webhooks.services import get_webhook_for_update, require_scopes
from contentapi.monitoring.audit import Audit

MAX_REPLAYED = 10_000
MAX_READ = 500_000  # positions of the log
# One that is the next of its object, or has no object, is due at once.
REOPEN = """
    UPDATE events_delivery SET state = 'waiting', tries = 0, finished_at = NULL,
        due_at = CASE WHEN subject_id IS NULL OR due_at IS NOT NULL THEN clock_timestamp() END
    WHERE webhook_id = %s AND id = ANY (%s) RETURNING subject_id
"""


class Replay(NamedTuple):
    """A webhook, and the number of deliveries that were planned."""

    webhook: Webhook
    delivery_count: int


@transaction.atomic
def ping_webhook(*, actor: Actor, webhook_id: str) -> Delivery:
    """Send `webhook.ping` soon, in one attempt. Raises `NotFound`, and `Conflict` if the webhook is disabled."""
    webhook = get_enabled_webhook(actor, webhook_id, "ping webhooks")
    pk = take_id()
    ping = Delivery(pk=pk, day=read_today(), webhook=webhook, message_id=f"ping_{pk}", type=PING, due_at=Now())
    ping.save(force_insert=True)
    wake(webhook)
    return ping


@transaction.atomic
def redeliver(*, actor: Actor, delivery_id: str, webhook_id: str | None = None) -> Delivery:
    """Send a delivery once more, with the same id, and with all attempts of the schedule.

    One that waits for its next attempt is sent at once. Others of its object that wait come first. Raises `NotFound`,
    and `Conflict` if the webhook is disabled.
    """
    found = selectors.select_delivery_by_id(actor, delivery_id, webhook_id=webhook_id).queryset()
    delivery = require_found(found.first(), "delivery")
    webhook = get_enabled_webhook(actor, str(delivery.webhook_id), "send deliveries again")
    reopen(webhook, [delivery.pk])
    wake(webhook)
    return delivery


@transaction.atomic
def replay_webhook(
    *,
    actor: Actor,
    webhook_id: str,
    after: str | None = None,
    to: str | None = None,
    types: Collection[str] | None = None,
    only_failed: bool = False,
) -> Replay:
    """Send events of the log once more, of some types if any are named, from one cursor to another.

    With `only_failed`, only the deliveries that have failed. Raises `NotFound`, `Malformed`, `EventsExpired`, `Invalid`
    for more than 10,000 events, and `Conflict` if the webhook is disabled.
    """
    webhook = get_enabled_webhook(actor, webhook_id, "replay events")
    require_scopes(actor, webhook.scopes)
    log = read_log()
    begin, end = log.parse_cursor(after), log.position if to is None else log.parse_cursor(to)
    end = min(end, webhook.position)  # the events after it will be sent anyway
    wanted = None if types is None else get_event_types().parse(types)
    count = reopen_failed(webhook, begin, end, wanted) if only_failed else replay_events(webhook, begin, end, wanted)
    wake(webhook)
    Audit.WEBHOOK_REPLAYED.record(actor, "webhook", webhook.pk, deliveries=count)
    return Replay(webhook, count)


def replay_events(webhook: Webhook, begin: int, end: int, types: Collection[str] | None) -> int:
    if end - begin > MAX_READ:
        raise Invalid({"after": [f"At most {MAX_READ:,} positions of the log are read at once. Name a shorter part."]})
    owner = find_actor(webhook)
    if owner is None:
        raise Conflict("The user who created the webhook is deleted or locked.")
    events = select_wanted(webhook, owner, begin, end, types)
    require_few(events[: MAX_REPLAYED + 1].count())
    return plan_events(webhook, events)


def reopen_failed(webhook: Webhook, begin: int, end: int, types: Collection[str] | None) -> int:
    """Let the deliveries wait that have failed: those of one object one after the other."""
    failed = webhook.deliveries.filter(state="failed", position__gt=begin, position__lte=end)
    if types is not None:
        failed = failed.filter(type__in=types)
    ids = list(failed.values_list("pk", flat=True)[: MAX_REPLAYED + 1])
    require_few(len(ids))
    reopen(webhook, ids)
    return len(ids)


def reopen(webhook: Webhook, ids: list[int]) -> None:
    """Let deliveries wait. The first one of each subject is due unless another one is: they are sent one by one."""
    subjects = set(fetch_column(REOPEN, [webhook.pk, ids])) - {None}
    due = webhook.deliveries.filter(state="waiting", subject_id__in=subjects, due_at__isnull=False)
    busy = set(due.values_list("subject_id", flat=True))
    advance_subjects(webhook, subjects - busy)


def require_few(count: int) -> None:
    if count > MAX_REPLAYED:
        raise Invalid({"after": [f"At most {MAX_REPLAYED:,} events are sent again at once. Name a shorter part."]})


def get_enabled_webhook(actor: Actor, webhook_id: str, action: str) -> Webhook:
    """Return a webhook, locked. Raises `NotFound`, and `Conflict` if it is disabled."""
    webhook = get_webhook_for_update(actor, webhook_id, action)
    if not webhook.is_enabled:
        raise Conflict("The webhook is disabled. Enable it first.")
    if read_today() not in list_partitions(
        "events_delivery"
    ):  # no worker has run for a week. Otherwise nothing waits for its lock until the end
        prepare_partitions()
    return webhook


def wake(webhook: Webhook) -> None:
    """Let a sender look at a webhook now: by the clock of the database, as senders do."""
    Webhook.objects.filter(pk=webhook.pk).update(due_at=Now())
