"""Claim the deliveries that are due, and record the results of their attempts.

A sender claims a webhook with a lease, and takes some of its deliveries: eight at a time are sent, those of a subject
one after the other. Recording the results ends the lease. A sender that is killed has its webhooks until their leases
end; then another one sends what was not recorded, with the same ids.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from contentapi.conf.timeouts import WEBHOOK_LEASE
from contentapi.core.identity import Actor
from contentapi.events.feed import LogState, read_log
from contentapi.events.webhooks.bodies import read_actors
from contentapi.events.webhooks.disabling import disable
from contentapi.events.webhooks.models import PING, Delivery, DeliveryState, DisabledReason, Webhook
from contentapi.events.webhooks.planning import advance_subjects, plan
from contentapi.events.webhooks.retries import GONE, Outcome, decide, has_failed_for_long
from contentapi.events.webhooks.sending import ReceivedResponse
from contentapi.monitoring.figures import FIGURES
from contentapi.worker.items import try_item

MOST_TAKEN = 64  # deliveries of a webhook; of one that fails, one
MAX_ERROR = 500  # characters
PLANNING_LIMIT = 1.0  # seconds, for all webhooks of a claim
FREE = "disabled_at IS NULL AND (lease IS NULL OR leased_until < clock_timestamp())"
# The webhooks that may have something to send: there are new events, a delivery is due, or a sender has vanished.
FIND = f"""
    SELECT id FROM events_webhook, (SELECT epoch AS present, position AS last FROM events_log) AS log
    WHERE {FREE} AND id <> ALL (%(others)s) AND (
        (position < last OR epoch <> present)
            AND (coalesce = 0 OR planned_at IS NULL
                 OR planned_at <= clock_timestamp() - coalesce * interval '1 second')
        OR due_at <= clock_timestamp()
        OR lease IS NOT NULL
    )
    ORDER BY random() LIMIT %(most)s
"""  # noqa: S608 - a constant
# Nobody waits for the row of a webhook that a service has locked.
CLAIM = f"""
    WITH free AS MATERIALIZED (
        SELECT id FROM events_webhook WHERE id = ANY (%(ids)s) AND {FREE} ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE events_webhook SET lease = %(lease)s,
        leased_until = clock_timestamp() + interval '{WEBHOOK_LEASE.total_seconds()} seconds'
    WHERE id IN (SELECT id FROM free) RETURNING id, clock_timestamp()
"""  # noqa: S608
# The deliveries that are due, of each webhook as many as wanted. With LATERAL, PostgreSQL uses the index of each
# partition, whatever it knows of the table.
TAKE = """
    SELECT delivery.* FROM unnest(%s::bigint[], %s::int[]) AS wanted (id, size), LATERAL (
        SELECT * FROM events_delivery
        WHERE webhook_id = wanted.id AND state = 'waiting' AND due_at <= clock_timestamp()
        ORDER BY due_at, events_delivery.id LIMIT wanted.size
    ) AS delivery
"""
LOCK_OWNED = """
    SELECT id FROM events_webhook WHERE id = ANY (%s) AND lease = %s ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
"""
# One statement for all results. The ids are there twice, so that PostgreSQL uses the index, whatever it knows of the
# table. What was not attempted, because the webhook may not see it any more, has no time.
RECORD = """
    WITH result (id, day, state, delay, status, error, started_at, seconds, response) AS (
        SELECT * FROM unnest(%s::bigint[], %s::date[], %s::text[], %s::float8[], %s::smallint[], %s::text[],
            %s::timestamptz[], %s::float8[], %s::text[])
    ), updated AS (
        UPDATE events_delivery AS delivery SET state = result.state,
            due_at = clock_timestamp() + delay * interval '1 second', status = result.status,
            error = result.error, attempts = attempts + (started_at IS NOT NULL)::int,
            tries = tries + (started_at IS NOT NULL)::int,
            finished_at = CASE WHEN result.state <> 'waiting' THEN clock_timestamp() END
        FROM result WHERE delivery.id = result.id AND delivery.day = result.day
            AND delivery.id = ANY (%s) AND delivery.day = ANY (%s)
            AND delivery.state = 'waiting'
        RETURNING delivery.id, delivery.attempts
    )
    INSERT INTO events_attempt (day, delivery_id, number, started_at, seconds, status, error, response)
    SELECT (now() AT TIME ZONE 'UTC')::date, id, attempts, started_at, seconds, status, error, response
    FROM updated JOIN result USING (id) WHERE started_at IS NOT NULL
"""
RELEASE = """
    UPDATE events_webhook SET lease = NULL, leased_until = NULL, due_at = (
        SELECT due_at FROM events_delivery
        WHERE webhook_id = events_webhook.id AND state = 'waiting' AND due_at IS NOT NULL ORDER BY due_at LIMIT 1
    ) WHERE id = ANY (%s) AND lease = %s
"""


class Claim(NamedTuple):
    """A webhook that a sender has claimed, with its rights, and the deliveries that it sends now."""

    webhook: Webhook
    actor: Actor
    deliveries: list[Delivery]


class Result(NamedTuple):
    """An attempt, and what follows from it. `started_at` is None if there was none."""

    delivery: Delivery
    outcome: Outcome
    reply: ReceivedResponse
    started_at: datetime | None
    seconds: float


def find_webhooks(others: Collection[int] = (), most: int = MOST_TAKEN) -> list[int]:
    """Return the ids of webhooks for which there may be something to do, in any order, without `others`."""
    with connection.cursor() as cursor:
        cursor.execute(FIND, {"others": list(others), "most": most})
        return [pk for (pk,) in cursor.fetchall()]


@transaction.atomic
def claim(lease: UUID, ids: Collection[int]) -> tuple[list[Claim], list[int]]:
    """Claim webhooks that no sender has, plan what is new, and take deliveries that are due.

    A webhook that somebody else has locked is left out. One whose maker is deleted or locked is disabled. The second
    result has the ids of those of which the events could not be planned.
    """
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"lease": lease, "ids": list(ids)})
        locked = dict(cursor.fetchall())
        if not locked:
            return [], []
        log = read_log()  # after the lock: another sender may have planned events until then
        webhooks = Webhook.objects.in_bulk(list(locked))
        actors = read_actors(webhooks.values())
        for pk in webhooks.keys() - actors.keys():
            disable(webhooks.pop(pk), DisabledReason.MAKER)
        broken = list(plan_all(webhooks, actors, log, max(locked.values())))
        cursor.execute(RELEASE, [broken, lease])
    claims = {pk: Claim(webhook, actors[pk], []) for pk, webhook in webhooks.items() if pk not in broken}
    sizes = [1 if webhooks[pk].failing_since else MOST_TAKEN for pk in claims]
    for delivery in Delivery.objects.raw(TAKE, [list(claims), sizes]):
        claims[delivery.webhook_id].deliveries.append(delivery)
    return list(claims.values()), broken


def plan_all(
    webhooks: Mapping[int, Webhook], actors: Mapping[int, Actor], log: LogState, now: datetime
) -> Iterator[int]:
    """Plan what is new, for a second at most: the rest follows in the next rounds.

    Yield the ids of the webhooks whose plan failed: they harm no others.
    """
    end = monotonic() + PLANNING_LIMIT
    for pk, webhook in webhooks.items():
        if monotonic() < end and is_new(webhook, log, now):
            name, plan_alone = f"the plan of webhook {pk}", transaction.atomic(plan)
            if try_item("webhooks", name, plan_alone, webhook, actors[pk], log) is None:
                yield pk


def is_new(webhook: Webhook, log: LogState, now: datetime) -> bool:
    """Return whether there are events to plan: for a webhook that collects them, when its time has come."""
    pause = timedelta(seconds=webhook.coalesce)
    is_early = webhook.coalesce and webhook.planned_at is not None and webhook.planned_at > now - pause
    return not is_early and (webhook.position < log.position or webhook.epoch != log.epoch)


def judge(delivery: Delivery, reply: ReceivedResponse, started_at: datetime, seconds: float) -> Result:
    outcome = decide(reply, delivery.tries + 1, delivery.type, timezone.now())
    return Result(delivery, outcome, reply, started_at, seconds)


def cancel(delivery: Delivery) -> Result:
    """Return the result for an event that the webhook may not see any more, or that is not kept."""
    error = "The webhook may not see the event any more, or it is not kept any more."
    return Result(delivery, Outcome(DeliveryState.CANCELLED, error=error), ReceivedResponse(), None, 0.0)


@transaction.atomic
def record(lease: UUID, results: Mapping[int, Sequence[Result]]) -> set[int]:
    """Record the results of webhooks, and end their leases. Return the ids of those that a service has locked.

    Nothing is recorded of a webhook whose lease has ended: another sender sends those deliveries again.
    """
    with connection.cursor() as cursor:
        cursor.execute(LOCK_OWNED, [list(results), lease])
        owned = Webhook.objects.in_bulk([pk for (pk,) in cursor.fetchall()])
        kept = [result for pk in owned for result in results[pk]]
        write_results(kept)
        cursor.execute(RELEASE, [list(owned), lease])
    for pk, webhook in owned.items():
        note_health(webhook, results[pk])
    count_results(kept)
    missing = results.keys() - owned.keys()
    return set(Webhook.objects.filter(pk__in=missing, lease=lease).values_list("pk", flat=True)) if missing else set()


def build_row(result: Result) -> tuple[Any, ...]:
    delivery, outcome, reply, started_at, seconds = result
    body = reply.body.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    row = (delivery.pk, delivery.day, str(outcome.state), outcome.delay, reply.status)
    return (*row, outcome.error[:MAX_ERROR], started_at, seconds, body)


def write_results(results: Sequence[Result]) -> None:
    """Write the states and the attempts of deliveries, and let the next one of each subject be due."""
    if results:
        columns = [list(column) for column in zip(*map(build_row, results), strict=True)]
        with connection.cursor() as cursor:
            cursor.execute(RECORD, [*columns, *columns[:2]])
    advance_subjects(
        {
            (result.delivery.webhook_id, result.delivery.subject_id)
            for result in results
            if result.outcome.state != DeliveryState.WAITING and result.delivery.subject_id is not None
        }
    )


def note_health(webhook: Webhook, results: Sequence[Result]) -> None:
    """Note since when a webhook has failed, from its attempts in their order. Disable it after 410 and after five days.

    Pings say nothing about events.
    """
    before = failing_since = webhook.failing_since
    for result in sorted(results, key=lambda result: result.started_at or timezone.now()):
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
