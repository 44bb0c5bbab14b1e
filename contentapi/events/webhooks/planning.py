"""Plan deliveries: one of each event that a webhook wants and its maker may see, or one of all with `coalesce`.

The webhook is locked meanwhile: so a position is planned once, and ids rise with the positions of a webhook.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from contentapi.core.identity import Actor
from contentapi.db.statements import execute, fetch_column
from contentapi.events.feed import WINDOW, LogState, select_events
from contentapi.events.models import Event
from contentapi.events.sources import get_event_types
from contentapi.events.webhooks.models import BATCH_TYPE, NO_SUBJECT, Webhook

PLAN_WINDOW = WINDOW // 5  # positions that are planned at once
BATCH_WINDOW = 10 * WINDOW  # positions that one delivery of many events covers
MAX_NAMED = 100  # subjects in such a delivery
# The `webhook-id` of an event: with a digest, because a restored database gives positions again.
DIGEST = """substr(md5(concat_ws('/', extract(epoch FROM "timestamp"), type, subject_id)), 1, 8)"""
IS_BATCH_WAITING = (
    "SELECT id FROM events_delivery WHERE webhook_id = %s AND subject_id = 0 AND state = 'waiting' LIMIT 1"
)
# An event is due at once unless another delivery of its subject is waiting. A scalar subquery, because PostgreSQL may
# answer EXISTS by reading the whole table.
PLAN = f"""
    INSERT INTO events_delivery (day, webhook_id, message_id, type, subject_id, position, due_at)
    SELECT (now() AT TIME ZONE 'UTC')::date, %s, 'evt_' || position || '_' || {DIGEST}, type, subject_id, position,
        CASE WHEN row_number() OVER (PARTITION BY subject_id ORDER BY position) = 1 AND (
            SELECT waiting.id FROM events_delivery AS waiting
            WHERE waiting.webhook_id = %s AND waiting.subject_id = event.subject_id AND waiting.state = 'waiting'
            LIMIT 1
        ) IS NULL THEN now() END
    FROM ({{events}}) AS event (position, type, subject_id, "timestamp") ORDER BY position
"""  # noqa: S608 - a constant
# The body of a delivery of many events. Without any, there is no row.
BATCH_BODY = f"""
    WITH event (position, type, subject_id, "timestamp") AS MATERIALIZED ({{events}}), ends AS (
        SELECT count(*) AS size, min(position) AS first, max(position) AS last FROM event
    )
    SELECT jsonb_build_object('type', %s, 'timestamp', %s::timestamptz, 'count', size,
        'first', first::text, 'last', last::text,
        'types', ARRAY(SELECT DISTINCT type FROM event ORDER BY type),
        'subjects', ARRAY(SELECT DISTINCT subject_id::text FROM event ORDER BY 1 LIMIT {MAX_NAMED}))::text
    FROM ends WHERE size > 0
"""  # noqa: S608
PLAN_BATCH = f"""
    INSERT INTO events_delivery (day, webhook_id, message_id, type, subject_id, position, due_at, batch)
    SELECT (now() AT TIME ZONE 'UTC')::date, %s, 'evt_' || first || '_' || position || '_' || {DIGEST}, %s, 0, position,
        CASE WHEN ({IS_BATCH_WAITING}) IS NULL THEN now() END, jsonb_build_object('first', first::text)
    FROM (
        SELECT *, min(position) OVER () AS first
        FROM ({{events}}) AS event (position, type, subject_id, "timestamp") ORDER BY position DESC LIMIT 1
    ) AS batch
"""  # noqa: S608
# The first delivery of each subject is due.
ADVANCE = """
    UPDATE events_delivery AS delivery SET due_at = clock_timestamp()
    FROM unnest(%s::bigint[]) AS wanted (subject_id), LATERAL (
        SELECT id, day, due_at FROM events_delivery AS waiting
        WHERE waiting.webhook_id = %s AND waiting.subject_id = wanted.subject_id AND waiting.state = 'waiting'
        ORDER BY id LIMIT 1
    ) AS next
    WHERE delivery.id = next.id AND delivery.day = next.day AND next.due_at IS NULL
"""
STALLED = """
    SELECT subject_id FROM events_delivery WHERE webhook_id = %s AND state = 'waiting' AND subject_id IS NOT NULL
    GROUP BY subject_id HAVING count(due_at) = 0 LIMIT 10000
"""


def plan(webhook: Webhook, actor: Actor, log: LogState) -> int:
    """Plan the deliveries of the next events of the log, and return their number. The webhook is locked.

    Its position never goes back, except with a new log of a restored database, which has fewer events.
    """
    if webhook.epoch != log.epoch:
        webhook.epoch = log.epoch
        if webhook.position > log.position:
            webhook.position = log.expired
    begin = max(webhook.position, log.expired)
    end = min(begin + (BATCH_WINDOW if webhook.coalesce else PLAN_WINDOW), log.position)
    if webhook.coalesce and webhook.deliveries.filter(subject_id=NO_SUBJECT, state="waiting").exists():
        end = begin  # the next delivery has everything since
    planned = plan_events(webhook, select_wanted(webhook, actor, begin, end)) if end > begin else 0
    webhook.position = max(webhook.position, end)
    webhook.save(update_fields=["epoch", "position"])
    if webhook.coalesce and (planned or end == begin):
        Webhook.objects.filter(pk=webhook.pk).update(planned_at=Now())
    return planned


def select_wanted(
    webhook: Webhook, actor: Actor, begin: int, end: int, types: Collection[str] | None = None
) -> QuerySet[Event]:
    """Return the events after `begin` up to `end` that a webhook wants, of some types if there are any."""
    wanted = get_event_types().parse([name for name in webhook.types if name in get_event_types().meanings])
    if types is not None:
        wanted = sorted(set(wanted) & set(types))
    return select_events(actor, after=begin, end=end, types=wanted, subject=None).queryset()


def plan_events(webhook: Webhook, events: QuerySet[Event]) -> int:
    """Plan the delivery of events, all in one if the webhook collects them. Return the number of deliveries."""
    sql, values = compile_events(events)
    if webhook.coalesce:
        return execute(PLAN_BATCH.format(events=sql), [webhook.pk, BATCH_TYPE, webhook.pk, *values])
    return execute(PLAN.format(events=sql), [webhook.pk, webhook.pk, *values])


def read_batch(webhook: Webhook, actor: Actor, first: int, last: int, created_at: datetime) -> bytes | None:
    """Return the body of a delivery of many events, of those that the webhook may still see; None without any."""
    sql, values = compile_events(select_wanted(webhook, actor, first - 1, last))
    found = fetch_column(BATCH_BODY.format(events=sql), [*values, BATCH_TYPE, created_at])
    return found[0].encode() if found else None


def compile_events(events: QuerySet[Event]) -> tuple[str, Sequence[Any]]:
    query = events.values_list("position", "type", "subject_id", "timestamp").query
    sql, values = query.get_compiler(DEFAULT_DB_ALIAS).as_sql()
    return str(sql), values


def advance_subjects(webhook: Webhook, subjects: Collection[int | None]) -> None:
    """Let the first delivery of each subject be due, if it waits for another one. The webhook is locked."""
    wanted = sorted({subject for subject in subjects if subject is not None})
    if wanted:
        execute(ADVANCE, [wanted, webhook.pk])


def advance_stalled_subjects(webhook: Webhook) -> bool:
    """Let the first delivery be due of at most 10,000 subjects that have none: its partition was dropped."""
    stalled = fetch_column(STALLED, [webhook.pk])
    advance_subjects(webhook, stalled)
    return bool(stalled)


def advance_all_stalled_subjects() -> None:
    """Advance the stalled subjects of all webhooks, each under its lock. One that is locked comes the next time."""
    for pk in Webhook.objects.values_list("pk", flat=True):
        with transaction.atomic():
            for webhook in Webhook.objects.select_for_update(no_key=True, skip_locked=True).filter(pk=pk):
                if advance_stalled_subjects(webhook):
                    Webhook.objects.filter(pk=pk).update(due_at=Now())
