"""Which sender sends what: it owns a webhook by a lease, and takes deliveries of the webhooks that it owns.

One sender owns a webhook at a time, so that at most eight deliveries are sent to it at once, those of a subject one
after the other. A sender that is killed owns its webhooks until the lease ends; then another one sends what was not
recorded, with the same ids.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection, transaction

from contentapi.conf.timeouts import WEBHOOK_LEASE
from contentapi.core.identity import Actor
from contentapi.events.feed import LogState, read_log
from contentapi.events.webhooks.bodies import read_actors
from contentapi.events.webhooks.disabling import disable, forget_bodies
from contentapi.events.webhooks.models import DisabledReason, Webhook
from contentapi.events.webhooks.planning import plan
from contentapi.worker.items import try_item

PLANNING_LIMIT = 1.0  # seconds, for all webhooks of a claim
LEASE = f"interval '{WEBHOOK_LEASE.total_seconds()} seconds'"
FREE = "(lease IS NULL OR lease = %(lease)s OR leased_until < clock_timestamp())"
# The webhooks that may have something to send: there are new events, a delivery is due, or a sender has vanished.
FIND = f"""
    SELECT id FROM events_webhook, (SELECT epoch AS present, position AS last FROM events_log) AS log
    WHERE disabled_at IS NULL AND {FREE} AND id <> ALL (%(others)s) AND (
        (position < last OR epoch <> present)
            AND (coalesce = 0 OR planned_at IS NULL
                 OR planned_at <= clock_timestamp() - coalesce * interval '1 second')
        OR due_at <= clock_timestamp()
        OR lease <> %(lease)s
    )
    ORDER BY random() LIMIT %(most)s
"""  # noqa: S608 - a constant
LOCK_WEBHOOKS = f"""
    SELECT id FROM events_webhook WHERE id = ANY (%(ids)s) AND disabled_at IS NULL AND {FREE}
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
"""  # noqa: S608
OWN = f"""
    UPDATE events_webhook SET lease = %(lease)s, leased_until = clock_timestamp() + {LEASE}
    WHERE id = ANY (%(ids)s)
"""  # noqa: S608
# The deliveries that are due, of each webhook as many as wanted. With LATERAL, PostgreSQL uses the index of each
# partition, whatever it knows of the table. It would estimate a constant array for each of them, which takes long.
TAKE = """
    SELECT delivery.id, delivery.day, wanted.id, message_id, type, subject_id, position, (batch->>'first')::bigint,
        tries, created_at, body
    FROM unnest(%(ids)s::bigint[], %(sizes)s::int[]) AS wanted (id, size), LATERAL (
        SELECT * FROM events_delivery
        WHERE webhook_id = wanted.id AND state = 'waiting' AND due_at <= clock_timestamp()
            AND events_delivery.id <> ALL ((SELECT %(others)s::bigint[])::bigint[])
        ORDER BY due_at, events_delivery.id LIMIT wanted.size
    ) AS delivery
"""
# When somebody must look at a webhook again: at the first of its deliveries that is not being sent.
SCHEDULE = """
    UPDATE events_webhook SET due_at = (
        SELECT due_at FROM events_delivery
        WHERE webhook_id = events_webhook.id AND state = 'waiting' AND due_at IS NOT NULL
            AND events_delivery.id <> ALL ((SELECT %(others)s::bigint[])::bigint[])
        ORDER BY due_at LIMIT 1
    ) WHERE id = ANY (%(ids)s)
"""
STORE = """
    UPDATE events_delivery AS delivery SET body = given.body
    FROM unnest(%s::bigint[], %s::date[], %s::bytea[]) AS given (id, day, body)
    WHERE delivery.id = given.id AND delivery.day = given.day AND delivery.id = ANY (%s) AND delivery.day = ANY (%s)
"""
# Nobody waits for the row of a webhook that a service has locked.
MINE = "lease = %(lease)s AND id = ANY (%(ids)s)"
UNLOCKED = f"id IN (SELECT id FROM events_webhook WHERE {MINE} ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)"  # noqa: S608
RENEW = f"""
    UPDATE events_webhook SET leased_until = clock_timestamp() + {LEASE}
    WHERE {UNLOCKED} AND disabled_at IS NULL RETURNING id
"""  # noqa: S608
LIST_MINE = f"SELECT id FROM events_webhook WHERE {MINE} AND disabled_at IS NULL"  # noqa: S608
RELEASE = f"""
    UPDATE events_webhook SET lease = NULL, leased_until = NULL, due_at = least(due_at, (
        SELECT due_at FROM events_delivery
        WHERE webhook_id = events_webhook.id AND state = 'waiting' AND due_at IS NOT NULL ORDER BY due_at LIMIT 1
    )) WHERE {UNLOCKED}
"""  # noqa: S608


class Claimed(NamedTuple):
    """A delivery that this sender has taken. `first` is the position of the first of several events."""

    id: int
    day: Any
    webhook_id: int
    message_id: str
    type: str
    subject_id: int | None
    position: int | None
    first: int | None
    tries: int
    created_at: datetime
    body: bytes | None  # of a sender that has recorded nothing, after the digest of its rights


class Claim(NamedTuple):
    """What a sender may do now: the webhooks that it owns, the rights of each, and the deliveries that it has taken."""

    webhooks: Mapping[int, Webhook]
    actors: Mapping[int, Actor]
    deliveries: Sequence[Claimed]
    broken: Collection[int] = ()  # webhooks whose events could not be planned


def find_webhooks(lease: UUID, others: Collection[int], most: int) -> list[int]:
    """Return the ids of webhooks for which there may be something to do, in any order, without `others`."""
    with connection.cursor() as cursor:
        cursor.execute(FIND, {"lease": lease, "others": list(others), "most": most})
        return [pk for (pk,) in cursor.fetchall()]


@transaction.atomic
def claim(lease: UUID, sizes: Mapping[int, int], sending: Collection[int]) -> Claim:
    """Own webhooks that no other sender owns, plan what is new, and take deliveries that are due.

    `sizes` has the number of deliveries that are wanted of each webhook, `sending` those that the sender has taken
    before. A webhook that somebody else has locked is left out. One whose maker is deleted or locked is disabled.
    """
    with connection.cursor() as cursor:
        values: dict[str, Any] = {"lease": lease, "ids": sorted(sizes)}
        cursor.execute(LOCK_WEBHOOKS, values)
        locked = [pk for (pk,) in cursor.fetchall()]
        if not locked:
            return Claim({}, {}, [])
        log = read_log()  # after the lock: another sender may have planned events until then
        found = Webhook.objects.filter(pk__in=locked)  # with the last leases
        webhooks = {webhook.pk: webhook for webhook in found}
        cursor.execute(OWN, {**values, "ids": locked})
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
        forget_old_bodies(webhooks.values(), now)
        actors = read_actors(webhooks.values())
        for pk in webhooks.keys() - actors.keys():
            disable(webhooks.pop(pk), DisabledReason.MAKER)
        broken = plan_all(webhooks, actors, log, now)
        ids = [pk for pk in webhooks if pk not in broken]
        values = {"ids": ids, "sizes": [sizes[pk] for pk in ids], "others": list(sending)}
        cursor.execute(TAKE, values)
        deliveries = [Claimed(*row) for row in cursor.fetchall()]
        values["others"] += [delivery.id for delivery in deliveries]
        cursor.execute(SCHEDULE, values)
    return Claim({pk: webhooks[pk] for pk in ids}, actors, deliveries, broken)


def forget_old_bodies(webhooks: Iterable[Webhook], now: datetime) -> None:
    """Keep no text for longer than two leases: forget the bodies of a sender that was killed long ago."""
    for webhook in webhooks:
        if webhook.leased_until is not None and webhook.leased_until < now - WEBHOOK_LEASE:
            forget_bodies(webhook)


def is_new(webhook: Webhook, log: LogState, now: datetime) -> bool:
    """Return whether there are events to plan: for a webhook that collects them, when its time has come."""
    pause = timedelta(seconds=webhook.coalesce)
    is_early = webhook.coalesce and webhook.planned_at is not None and webhook.planned_at > now - pause
    return not is_early and (webhook.position < log.position or webhook.epoch != log.epoch)


def plan_all(webhooks: Mapping[int, Webhook], actors: Mapping[int, Actor], log: LogState, now: datetime) -> set[int]:
    """Plan what is new, for a second at most: the rest follows in the next rounds.

    Return the ids of the webhooks whose plan failed: they harm no others.
    """
    broken = set()
    end = monotonic() + PLANNING_LIMIT
    for pk, webhook in webhooks.items():
        if monotonic() < end and is_new(webhook, log, now):
            planned = try_item("webhooks", f"the plan of webhook {pk}", plan_in_savepoint, webhook, actors[pk], log)
            if planned is None:
                broken.add(pk)
    return broken


@transaction.atomic
def plan_in_savepoint(webhook: Webhook, actor: Actor, log: LogState) -> int:
    return plan(webhook, actor, log)


def store_bodies(bodies: Sequence[tuple[Claimed, bytes | None]]) -> None:
    """Store what is about to be sent, or forget what is not."""
    if bodies:
        ids, days = [each.id for each, _ in bodies], [each.day for each, _ in bodies]
        with connection.cursor() as cursor:
            cursor.execute(STORE, [ids, days, [body for _, body in bodies], ids, days])


def renew_lease(lease: UUID, ids: Collection[int]) -> tuple[set[int], set[int]]:
    """Own webhooks for the whole time of a lease from now on.

    Return their ids, and those of all that the sender still owns: some are locked, and have their lease as before.
    """
    values: dict[str, Any] = {"lease": lease, "ids": list(ids)}
    with connection.cursor() as cursor:
        cursor.execute(RENEW, values)
        renewed = {pk for (pk,) in cursor.fetchall()}
        cursor.execute(LIST_MINE, values)
        return renewed, {pk for (pk,) in cursor.fetchall()}


def release(lease: UUID, ids: Collection[int]) -> None:
    """Let other senders own these webhooks, as soon as a delivery is due that was not sent."""
    if ids:
        with connection.cursor() as cursor:
            cursor.execute(RELEASE, {"lease": lease, "ids": list(ids)})
