"""The job that sends webhooks. Its thread uses the database; other threads send.

A round records what was sent, claims what is due, and reads the bodies. A place is a thread that sends deliveries of a
webhook one after the other: few deliveries need one, many get eight. After a failure, nothing more of them is sent, and
the webhook has one place until it succeeds. So a receiver that hangs holds up nobody else.
"""

import logging
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from math import ceil
from queue import Empty, SimpleQueue
from threading import Event as StopEvent
from threading import Lock, Thread
from time import monotonic, time
from uuid import uuid4

from django.db import connection
from django.utils import timezone

from contentapi.conf import conf
from contentapi.conf.timeouts import (
    WEBHOOK_BATCH_LIMIT,
    WEBHOOK_BUSY_INTERVAL,
    WEBHOOK_IDLE_INTERVAL,
    WEBHOOK_REST,
    WEBHOOK_ROUND,
    WEBHOOK_STATEMENT_TIMEOUT,
    WEBHOOK_STOP_LIMIT,
)
from contentapi.core.errors import Invalid
from contentapi.events.webhooks.addresses import AddressRefused, Target, parse_url
from contentapi.events.webhooks.bodies import describe_failure, read_bodies
from contentapi.events.webhooks.deliveries import (
    MOST_TAKEN,
    Claim,
    Result,
    cancel,
    claim,
    find_webhooks,
    judge,
    record,
)
from contentapi.events.webhooks.models import Delivery, DeliveryState, Webhook
from contentapi.events.webhooks.selections import get_selection
from contentapi.events.webhooks.sending import ReceivedResponse, send
from contentapi.events.webhooks.signing import UnreadableSecret, list_keys, sign
from contentapi.worker.items import raise_outage, try_each

LOG = logging.getLogger("contentapi.worker")
PLACES = 64  # attempts at a time of a sender
MOST_PLACES = 8  # of a webhook
MOST_HELD = 64 * 1024 * 1024  # bytes of bodies with which nothing more is claimed
LIMITS = f"SET statement_timeout = '{WEBHOOK_STATEMENT_TIMEOUT}s'"
UNRECORDED = "The result of the attempt could not be recorded. The log of the worker says why."


class Batch:
    """Deliveries of a webhook that are sent together: until there is no more, one has failed, or its time is over."""

    def __init__(self, webhook_id: int) -> None:
        self.webhook_id = webhook_id
        self.ready: deque[tuple[Delivery, bytes]] = deque()
        self.results: list[Result] = []
        self.places = 0
        self.end = monotonic() + WEBHOOK_BATCH_LIMIT
        self.lock = Lock()

    @property
    def size(self) -> int:
        return sum(len(body) for _, body in list(self.ready))

    def fail(self, deliveries: Iterable[Delivery], error: str) -> None:
        reply = ReceivedResponse(error=error)
        self.results += [judge(delivery, reply, timezone.now(), 0.0) for delivery in deliveries]

    def start(self, webhook: Webhook, places: int, done: "SimpleQueue[Batch]") -> None:
        target, keys = parse_url(webhook.url), list_keys(webhook)
        wanted = min(places, ceil(len(self.ready) * MOST_PLACES / MOST_TAKEN))
        self.places = wanted
        for number in range(wanted):
            thread = Thread(target=self.run, args=[target, keys, done], name=f"webhook {self.webhook_id}", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system has no more threads: the others send, or a later claim
                LOG.warning("Only %d of %d threads for the webhook %s begin.", number, wanted, self.webhook_id)
                self.leave(wanted - number, done)
                return

    def run(self, target: Target, keys: Sequence[str], done: "SimpleQueue[Batch]") -> None:
        with suppress(IndexError):
            while monotonic() < self.end:
                result = attempt(target, keys, *self.ready.popleft())
                self.results.append(result)
                if result.outcome.state != DeliveryState.DELIVERED:
                    self.ready.clear()
        self.leave(1, done)

    def leave(self, places: int, done: "SimpleQueue[Batch]") -> None:
        with self.lock:
            self.places -= places
            is_last = self.places == 0
        if is_last:
            done.put(self)


def attempt(target: Target, keys: Sequence[str], delivery: Delivery, body: bytes) -> Result:
    """Send a delivery once. The signature has the time of this attempt."""
    started_at, begin = timezone.now(), monotonic()
    try:
        reply = send(target, body, sign(keys, delivery.message_id, int(time()), body))
        return judge(delivery, reply, started_at, monotonic() - begin)
    except Exception:
        LOG.exception("An attempt to send to the webhook %s failed.", delivery.webhook_id)
        reply = ReceivedResponse(error="The attempt failed. The log of the server says why.")
        return judge(delivery, reply, started_at, monotonic() - begin)


class Sender:
    """The job of the worker. Between rounds, the threads go on."""

    def __init__(self, places: int = PLACES) -> None:
        self.lease = uuid4()
        self.places = places
        self.batches: dict[int, Batch] = {}  # those that are not recorded, by webhook
        self.done: SimpleQueue[Batch] = SimpleQueue()
        self.unrecorded: dict[int, Sequence[Result]] = {}
        self.rests: dict[int, float] = {}  # until when a webhook is left alone because a statement for it failed
        self.pause: float = WEBHOOK_IDLE_INTERVAL

    def get_pause(self) -> float:
        return self.pause

    def run(self, stop: StopEvent) -> None:
        """Send what is due, for a while at most: then the worker notes that the job makes progress."""
        self.pause = WEBHOOK_IDLE_INTERVAL  # after an error too
        with connection.cursor() as cursor:
            cursor.execute(LIMITS)
        end = monotonic() + WEBHOOK_ROUND
        self.do_round()
        while self.batches and not stop.is_set() and monotonic() < end:
            self.collect(WEBHOOK_BUSY_INTERVAL)
            self.do_round()
        if stop.is_set():
            self.finish()
        if self.batches:
            self.pause = 0

    def do_round(self) -> None:
        self.record()
        self.take()

    def finish(self) -> None:
        """Begin no attempt any more, and wait a while for those that have begun."""
        for batch in self.batches.values():
            batch.ready.clear()
        end = monotonic() + WEBHOOK_STOP_LIMIT
        while len(self.unrecorded) < len(self.batches) and monotonic() < end:
            self.collect(WEBHOOK_BUSY_INTERVAL)
        self.record()

    def collect(self, seconds: float) -> None:
        """Wait for the first batch that ends, and take those that have ended with it."""
        with suppress(Empty):
            self.keep(self.done.get(timeout=seconds))
            while True:
                self.keep(self.done.get_nowait())

    def keep(self, batch: Batch) -> None:
        self.unrecorded[batch.webhook_id] = batch.results

    def record(self) -> None:
        """Record results. After an outage of the database, and of webhooks that are locked, in the next round.

        Those that cannot be recorded are failed attempts. If that cannot be recorded either, they are sent again.
        """
        if not self.unrecorded:
            return
        for pk in try_each("webhooks", list(self.unrecorded), self.record_some, "the results of webhook {}".format):
            self.rests[pk] = monotonic() + WEBHOOK_REST
            failed = Batch(pk)
            failed.fail((result.delivery for result in self.unrecorded[pk]), UNRECORDED)
            self.unrecorded[pk] = failed.results
            if try_each("webhooks", [pk], self.record_some, "the failure of webhook {}".format):
                self.unrecorded[pk] = []
                self.record_some([pk])

    def record_some(self, ids: Sequence[int]) -> bool:
        locked = record(self.lease, {pk: self.unrecorded[pk] for pk in ids})
        for pk in set(ids) - locked:
            del self.unrecorded[pk], self.batches[pk]
        return True

    def take(self) -> None:
        """Claim webhooks and their deliveries. A webhook for which this fails alone rests."""
        free = self.places - sum(batch.places for batch in self.batches.values())
        if free <= 0 or sum(batch.size for batch in self.batches.values()) > MOST_HELD:
            return
        now = monotonic()
        self.rests = {pk: end for pk, end in self.rests.items() if end > now}
        found = find_webhooks({*self.rests, *self.batches}, most=free)
        for pk in try_each("webhooks", found, self.take_some, "webhook {}".format) if found else ():
            self.rests[pk] = monotonic() + WEBHOOK_REST

    def take_some(self, ids: Sequence[int]) -> bool:
        """Claim some webhooks, and begin to send their deliveries."""
        free = self.places - sum(batch.places for batch in self.batches.values())
        claims, broken = claim(self.lease, ids)
        self.rests |= dict.fromkeys(broken, monotonic() + WEBHOOK_REST)
        idle = {claimed.webhook.pk: Batch(claimed.webhook.pk) for claimed in claims}
        self.batches |= idle
        try:
            for claimed in claims:
                batch = idle[claimed.webhook.pk]
                self.prepare(batch, claimed)
                if batch.ready:
                    del idle[batch.webhook_id]
                    batch.start(claimed.webhook, max(1, free // len(claims)), self.done)
        finally:
            for batch in idle.values():
                self.keep(batch)
        return True

    def prepare(self, batch: Batch, claimed: Claim) -> None:
        """Read the bodies of deliveries, as many as one statement reads."""
        webhook, _, deliveries = claimed
        try:
            parse_url(webhook.url)
            list_keys(webhook)
            selection = get_selection(webhook.selection)
        except (AddressRefused, UnreadableSecret, Invalid) as error:
            batch.fail(deliveries, str(error))
            return
        most = max(1, conf.environment.contentapi_max_cost // selection.cost)
        self.read(batch, claimed._replace(deliveries=deliveries[:most]))

    def read(self, batch: Batch, claimed: Claim) -> None:
        """Read the bodies of deliveries. If they cannot be read, only the first one.

        One that cannot be read is a failed attempt of this webhook, which then rests; others do not notice.
        """
        webhook, _, deliveries = claimed
        try:
            bodies = read_bodies(*claimed)
        except Exception as error:  # noqa: BLE001 - a failed attempt, whatever it is
            raise_outage(error)
            if len(deliveries) > 1:
                self.read(batch, claimed._replace(deliveries=deliveries[:1]))
            else:
                self.rests[webhook.pk] = monotonic() + WEBHOOK_REST
                batch.fail(deliveries, describe_failure(error))
            return
        batch.results += [cancel(delivery) for delivery in deliveries if delivery.pk not in bodies]
        batch.ready.extend((delivery, bodies[delivery.pk]) for delivery in deliveries if delivery.pk in bodies)
