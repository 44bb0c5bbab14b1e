"""Record the results of attempts: many with one statement, under the locks of their webhooks.

A sender that has lost a webhook records nothing for it: another one sends those deliveries again.
"""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from contentapi.events.webhooks.claims import Claimed
from contentapi.events.webhooks.disabling import disable
from contentapi.events.webhooks.models import PING, DeliveryState, DisabledReason, Webhook
from contentapi.events.webhooks.planning import advance_subjects
from contentapi.events.webhooks.retries import GONE, Outcome, decide, has_failed_for_long
from contentapi.events.webhooks.transport import ReceivedResponse
from contentapi.monitoring.figures import FIGURES

EARLIEST = datetime.min.replace(tzinfo=UTC)
MAX_ERROR = 500  # characters
RESULT = """result (id, day, state, delay, status, error, started_at, seconds, response) AS (
        SELECT * FROM unnest(%s::bigint[], %s::date[], %s::text[], %s::float8[], %s::smallint[], %s::text[],
            %s::timestamptz[], %s::float8[], %s::text[])
    )"""
# One statement for all. The ids are there twice, so that PostgreSQL uses the index, whatever it knows of the table.
# What was not attempted, because the webhook may not see it any more, has no time.
RECORD = f"""
    WITH {RESULT}, updated AS (
        UPDATE events_delivery AS delivery SET state = result.state,
            due_at = clock_timestamp() + delay * interval '1 second', status = result.status,
            error = result.error, attempts = attempts + (started_at IS NOT NULL)::int,
            tries = tries + (started_at IS NOT NULL)::int, body = NULL,
            finished_at = CASE WHEN result.state <> 'waiting' THEN clock_timestamp() END
        FROM result WHERE delivery.id = result.id AND delivery.day = result.day
            AND delivery.id = ANY (%s) AND delivery.day = ANY (%s)
            AND delivery.state = 'waiting'
        RETURNING delivery.id, delivery.attempts
    )
    INSERT INTO events_attempt (day, delivery_id, number, started_at, seconds, status, error, response)
    SELECT (now() AT TIME ZONE 'UTC')::date, id, attempts, started_at, seconds, status, error, response
    FROM updated JOIN result USING (id) WHERE started_at IS NOT NULL
"""  # noqa: S608 - a constant


class Result(NamedTuple):
    """An attempt, and what follows from it. `started_at` is None if there was none."""

    delivery: Claimed
    outcome: Outcome
    reply: ReceivedResponse
    started_at: datetime | None
    seconds: float


def judge(delivery: Claimed, reply: ReceivedResponse, started_at: datetime, seconds: float) -> Result:
    outcome = decide(reply, delivery.tries + 1, delivery.type, timezone.now())
    return Result(delivery, outcome, reply, started_at, seconds)


def cancel(delivery: Claimed) -> Result:
    """Return the result for an event that the webhook may not see any more, or that is not kept."""
    error = "The webhook may not see the event any more, or it is not kept any more."
    return Result(delivery, Outcome(DeliveryState.CANCELLED, error=error), ReceivedResponse(), None, 0.0)


@transaction.atomic
def record_results(lease: UUID, results: Sequence[Result]) -> tuple[set[int], set[int]]:
    """Record results. Return the ids of the webhooks that this sender does not own any more, and of those to try again.

    A service has locked the latter: nobody waits for it.
    """
    ids = {result.delivery.webhook_id for result in results}
    owned = Webhook.objects.filter(pk__in=ids, lease=lease).order_by("pk")
    webhooks = {webhook.pk: webhook for webhook in owned.select_for_update(no_key=True, skip_locked=True)}
    missing = ids - webhooks.keys()
    locked = set(owned.filter(pk__in=missing).values_list("pk", flat=True)) if missing else set()
    kept = [result for result in results if result.delivery.webhook_id in webhooks]
    if kept:
        write_results(kept)
        advance_subjects(
            {
                (result.delivery.webhook_id, result.delivery.subject_id)
                for result in kept
                if result.outcome.state != DeliveryState.WAITING and result.delivery.subject_id is not None
            }
        )
        kept.sort(key=lambda result: (result.delivery.webhook_id, result.started_at or EARLIEST))
        for pk, group in groupby(kept, key=attrgetter("delivery.webhook_id")):
            note_health(webhooks[pk], list(group))
        count_results(kept)
    return missing - locked, locked


def write_results(results: Sequence[Result]) -> None:
    rows = [
        (
            result.delivery.id,
            result.delivery.day,
            str(result.outcome.state),
            result.outcome.delay,
            result.reply.status,
            result.outcome.error[:MAX_ERROR],
            result.started_at,
            result.seconds,
            result.reply.body.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}"),
        )
        for result in results
    ]
    columns = [list(column) for column in zip(*rows, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(RECORD, [*columns, *columns[:2]])


def note_health(webhook: Webhook, results: Sequence[Result]) -> None:
    """Note since when a webhook has failed, from its attempts in their order. Disable it after 410 and after five days.

    Pings say nothing about events.
    """
    before = failing_since = webhook.failing_since
    for result in results:
        if result.started_at is None or result.delivery.type == PING:
            continue
        is_failure = result.outcome.state != DeliveryState.DELIVERED
        failing_since = (failing_since or result.started_at) if is_failure else None
    if failing_since != before:
        webhook.failing_since = failing_since
        webhook.save(update_fields=["failing_since"])
    if any(result.reply.status == GONE for result in results):
        disable(webhook, DisabledReason.GONE)
    elif has_failed_for_long(failing_since, timezone.now()):
        disable(webhook, DisabledReason.FAILURES)


def count_results(results: Collection[Result]) -> None:
    for result in results:
        if result.started_at is not None:
            kind = "delivered" if result.outcome.state == DeliveryState.DELIVERED else "failed"
            FIGURES.count("contentapi_webhook_attempts_total", kind)
            FIGURES.count("contentapi_webhook_seconds_total", kind, amount=result.seconds)
