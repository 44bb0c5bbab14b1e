"""The job that sends webhooks. Its thread uses the database; the threads of `lanes` send.

A round records what was sent, claims what is due, reads the bodies, and gives them to the lanes. Each step is done for
many deliveries at once.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty
from threading import Event as StopEvent
from time import monotonic
from typing import NamedTuple
from uuid import uuid4

from django.db import connection
from django.utils import timezone

from contentapi.conf import conf
from contentapi.conf.timeouts import (
    WEBHOOK_BUSY_INTERVAL,
    WEBHOOK_GATHERING,
    WEBHOOK_IDLE_INTERVAL,
    WEBHOOK_LEASE,
    WEBHOOK_LEASE_RENEWAL,
    WEBHOOK_LONGEST_REST,
    WEBHOOK_SHORTEST_REST,
    WEBHOOK_STATEMENT_TIMEOUT,
    WEBHOOK_STOP_LIMIT,
)
from contentapi.core.errors import Invalid
from contentapi.core.identity import Actor
from contentapi.events.webhooks.addresses import AddressRefused, parse_url
from contentapi.events.webhooks.bodies import RIGHTS, choose_body, compute_rights
from contentapi.events.webhooks.claims import Claimed, claim, find_webhooks, release, renew_lease, store_bodies
from contentapi.events.webhooks.lanes import PLACES, Lanes, Line
from contentapi.events.webhooks.models import Webhook
from contentapi.events.webhooks.recording import Result, cancel, judge, record_results
from contentapi.events.webhooks.selections import get_selection
from contentapi.events.webhooks.supplies import UnreadableSecret, describe_failure, list_keys, read_bodies_of
from contentapi.events.webhooks.transport import ReceivedResponse
from contentapi.worker.items import raise_outage, try_each

LOG = logging.getLogger("contentapi.worker")
LIMITS = f"SET statement_timeout = '{WEBHOOK_STATEMENT_TIMEOUT}s'"
MOST_HELD = 64 * 1024 * 1024  # bytes of bodies with which nothing more is claimed
MOST_RECORDED = 256  # results in one transaction
UNRECORDED = "The result of the attempt could not be recorded. The log of the worker says why."


class Sender:
    """The job of the worker. Between rounds, the lanes go on."""

    def __init__(self, places: int = PLACES) -> None:
        self.lease = uuid4()
        self.lanes = Lanes(places)
        self.unrecorded: dict[int, Result] = {}  # by the ids of deliveries
        self.locked: dict[int, Result] = {}  # of webhooks that somebody has locked
        self.finished: set[int] = set()  # webhooks of which deliveries were recorded since the last claim
        self.renewed_at = monotonic()
        self.again: set[int] = set()  # webhooks of which deliveries were claimed that are not prepared
        self.rests: dict[int, Rest] = {}  # of webhooks whose statements fail
        self.pause: float = WEBHOOK_IDLE_INTERVAL

    def get_pause(self) -> float:
        return self.pause

    def run(self, stop: StopEvent) -> None:
        """Send what is due, for a while at most: then the worker notes that the job makes progress."""
        self.pause = WEBHOOK_IDLE_INTERVAL  # after an error too
        with connection.cursor() as cursor:
            cursor.execute(LIMITS)
        end = monotonic() + WEBHOOK_LEASE_RENEWAL
        self.do_round()
        while self.lanes.lines and not stop.is_set() and monotonic() < end:
            self.collect(WEBHOOK_BUSY_INTERVAL)
            self.do_round()
        if stop.is_set():
            self.finish()
        if self.lanes.lines:
            self.pause = 0

    def do_round(self) -> None:
        self.record()
        self.renew()
        self.take()
        self.lanes.start()
        self.release_idle()

    def finish(self) -> None:
        """Begin no attempt any more, wait a while for those that have begun, and let other senders continue."""
        lines = list(self.lanes.lines.values())
        unsent = [delivery for line in lines for delivery, _ in self.lanes.drop(line)]
        end = monotonic() + WEBHOOK_STOP_LIMIT
        while any(line.places for line in lines) and monotonic() < end:
            self.collect(WEBHOOK_BUSY_INTERVAL)
        self.collect(0)
        self.record()
        store_bodies([(delivery, None) for delivery in unsent])
        idle = [line.webhook_id for line in lines if not line.places]
        release(self.lease, idle)

    def collect(self, seconds: float) -> None:
        """Wait for the first result, and for a moment for others: they are recorded together."""
        end = monotonic() + seconds
        with suppress(Empty):
            while len(self.unrecorded) < MOST_RECORDED:
                self.keep(self.lanes.results.get(timeout=max(0.0, end - monotonic())))
                end = min(end, monotonic() + WEBHOOK_GATHERING)

    def keep(self, *results: Result) -> None:
        self.unrecorded.update((result.delivery.id, result) for result in results)

    def record(self) -> None:
        """Record results. After an outage of the database, and of webhooks that are locked, in the next round.

        One that cannot be recorded is a failed attempt. If that cannot be recorded either, the delivery is sent again.
        """
        while self.unrecorded:
            results = list(self.unrecorded.values())[:MOST_RECORDED]
            for failed in try_each("webhooks", results, self.record_some, describe_result):
                if failed.reply.error == UNRECORDED:
                    self.end(failed)
                    self.rest(failed.delivery.webhook_id)
                else:
                    reply = ReceivedResponse(error=UNRECORDED)
                    self.keep(judge(failed.delivery, reply, failed.started_at or timezone.now(), failed.seconds))
        self.unrecorded, self.locked = self.locked, {}

    def record_some(self, results: Sequence[Result]) -> bool:
        lost, locked = record_results(self.lease, results)
        self.forget(lost)
        for result in results:
            if result.delivery.webhook_id in locked:
                self.locked[result.delivery.id] = self.unrecorded.pop(result.delivery.id)
            else:
                self.end(result)
        return True

    def end(self, result: Result) -> None:
        """Let the delivery of a result be claimed again, if it is still waiting."""
        del self.unrecorded[result.delivery.id]
        line = self.lanes.lines.get(result.delivery.webhook_id)
        if line is not None:
            line.taken.discard(result.delivery.id)
            self.finished.add(line.webhook_id)

    def forget(self, ids: Iterable[int]) -> None:
        """Send nothing more to webhooks that this sender does not own any more, or that are disabled."""
        for pk in ids:
            line = self.lanes.lines.get(pk)
            if line is not None:
                self.lanes.drop(line)

    def renew(self) -> None:
        """Own the webhooks for longer. The time is that before the statement: PostgreSQL's lease ends later."""
        now, lines = monotonic(), self.lanes.lines
        if lines and now > self.renewed_at + WEBHOOK_LEASE_RENEWAL:
            renewed, owned = renew_lease(self.lease, list(lines))
            self.renewed_at = now
            self.forget(lines.keys() - owned)
            for pk in renewed & lines.keys():
                lines[pk].leased_until = now + WEBHOOK_LEASE.total_seconds()

    def take(self) -> None:
        """Claim webhooks and deliveries. A webhook for which this fails alone rests."""
        if self.lanes.size > MOST_HELD:
            return
        lines = self.lanes.lines
        supplied = {pk for pk, line in lines.items() if not line.needs_supply} | self.lanes.list_ending()
        supplied |= {pk for pk, rest in self.rests.items() if rest.end > monotonic()}
        found = find_webhooks(self.lease, supplied, most=self.lanes.free) if self.lanes.free else []
        sizes = {pk: lines[pk].wanted if pk in lines else 1 for pk in {*found, *self.finished} - supplied}
        take = partial(self.take_some, sizes)
        for pk in try_each("webhooks", list(sizes), take, "webhook {}".format) if sizes else ():
            self.rest(pk)

    def take_some(self, wanted: Mapping[int, int], ids: Sequence[int]) -> bool:
        """Claim some webhooks and their deliveries, and make them ready."""
        lines, sizes, begin = self.lanes.lines, {pk: wanted[pk] for pk in ids}, monotonic()
        claimed = claim(self.lease, sizes, [number for line in lines.values() for number in line.taken])
        deliveries: dict[int, list[Claimed]] = {pk: [] for pk in claimed.webhooks}
        for delivery in claimed.deliveries:
            deliveries[delivery.webhook_id].append(delivery)
        self.finished = (
            self.finished - sizes.keys()
        ) | claimed.webhooks.keys()  # those are claimed again after an error
        for pk in claimed.broken:
            self.rest(pk)
        self.again.clear()
        prepared: list[tuple[Line, Claimed, bytes]] = []
        for pk, webhook in claimed.webhooks.items():
            is_slow = self.lanes.slow.get(pk, webhook.failing_since is not None)
            line = lines.setdefault(pk, Line(pk, is_slow=is_slow or None))
            line.leased_until = begin + WEBHOOK_LEASE.total_seconds()
            ready = self.prepare(line, webhook, claimed.actors[pk], deliveries[pk])
            prepared += [(line, delivery, body) for delivery, body in ready]
        store_bodies([(delivery, body) for _, delivery, body in prepared])
        for line, delivery, body in prepared:
            line.taken.add(delivery.id)
            self.lanes.add(line, delivery, body[RIGHTS:])
        self.finished -= claimed.webhooks.keys() - self.again
        return True

    def rest(self, pk: int) -> None:
        """Leave a webhook alone for a while, each time for longer, because a statement for it failed."""
        before = self.rests.get(pk, Rest(0.0, WEBHOOK_SHORTEST_REST / 2))
        seconds = min(2 * before.seconds, WEBHOOK_LONGEST_REST)
        self.rests[pk] = Rest(monotonic() + seconds, seconds)
        self.finished.discard(pk)

    def prepare(
        self, line: Line, webhook: Webhook, actor: Actor, deliveries: Sequence[Claimed]
    ) -> list[tuple[Claimed, bytes]]:
        """Return deliveries with their bodies, each after the digest of its rights.

        They are as many as one statement reads. If they cannot be read, they are claimed again one by one. One that
        cannot be read is a failed attempt of this webhook, which then rests; others do not notice.
        """
        try:
            line.target, line.keys = parse_url(webhook.url), list_keys(webhook)
            selection = get_selection(webhook.selection)
        except (AddressRefused, UnreadableSecret, Invalid) as error:
            self.fail(line, deliveries, str(error))
            return []
        most = max(1, conf.environment.contentapi_max_cost // selection.cost)
        read, others = deliveries[:most], deliveries[most:]
        try:
            bodies = read_bodies_of(webhook, actor, selection, read)
        except Exception as error:  # noqa: BLE001 - a failed attempt, whatever it is
            raise_outage(error)
            line.window = 1
            if len(read) > 1:
                self.again.add(webhook.pk)
            else:
                self.rest(webhook.pk)
                self.fail(line, read, describe_failure(error))
            return []
        if others:
            self.again.add(webhook.pk)
        if read:
            self.rests.pop(webhook.pk, None)
        hidden = [delivery for delivery in read if delivery.id not in bodies]
        line.taken.update(delivery.id for delivery in hidden)
        self.keep(*map(cancel, hidden))
        rights = compute_rights(webhook, actor)
        return [
            (delivery, rights + choose_body(delivery.body, bodies[delivery.id], rights))
            for delivery in read
            if delivery.id in bodies
        ]

    def fail(self, line: Line, deliveries: Sequence[Claimed], error: str) -> None:
        line.taken.update(delivery.id for delivery in deliveries)
        reply = ReceivedResponse(error=error)
        self.keep(*(judge(delivery, reply, timezone.now(), 0.0) for delivery in deliveries))

    def release_idle(self) -> None:
        """Let other senders own the webhooks for which there is nothing to do."""
        idle = [line for pk, line in self.lanes.lines.items() if not line.taken and pk not in self.finished]
        for line in idle:
            self.lanes.drop(line)
        release(self.lease, [line.webhook_id for line in idle])


def describe_result(result: Result) -> str:
    return f"the attempt to send {result.delivery.message_id} to webhook {result.delivery.webhook_id}"


class Rest(NamedTuple):
    """Until when a webhook is left alone, as a time of `monotonic`, and for how many seconds that is."""

    end: float
    seconds: float
