"""The job that sends webhooks. Its thread uses the database; other threads send.

A round records what was sent, claims what is due, and reads the bodies. A place is a thread that sends deliveries of a
webhook one after the other: few deliveries need one, many get eight. After a failure, nothing more of them is sent, and
the webhook has one place until it succeeds. So a receiver that hangs holds up nobody else.
"""

import logging
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from math import ceil
from queue import Empty, SimpleQueue
from threading import Event as StopEvent
from threading import Thread
from time import monotonic, time
from uuid import uuid4

from django.utils import timezone

from contentapi.conf import conf, timeouts
from contentapi.core.errors import Invalid
from contentapi.db.statements import execute
from contentapi.events.webhooks.addresses import AddressRefused, Target, parse_url
from contentapi.events.webhooks.bodies import describe_failure, get_selection, read_bodies
from contentapi.events.webhooks.deliveries import MOST_TAKEN, Claim, claim, find_webhooks, record
from contentapi.events.webhooks.models import Delivery, DeliveryState
from contentapi.events.webhooks.retries import Result, judge
from contentapi.events.webhooks.sending import ReceivedResponse, send
from contentapi.events.webhooks.signing import UnreadableSecret, list_keys, sign
from contentapi.worker.items import raise_outage, try_item

LOG = logging.getLogger("contentapi.worker")
PLACES = 64  # attempts at a time of a sender
MOST_PLACES = 8  # of a webhook
MOST_HELD = 64 * 1024 * 1024  # bytes of bodies with which nothing more is claimed
LIMITS = f"SET statement_timeout = '{timeouts.WEBHOOK_STATEMENT_TIMEOUT}s'"
HIDDEN = "The webhook may not see the event any more, or it is not kept any more."
TAKE_LIMIT = 1.0  # seconds, after which results are recorded
UNRECORDED = "The result of the attempt could not be recorded. The log of the worker says why."


class Batch:
    """Deliveries of a webhook that are sent together: until there is no more, one has failed, or its time is over."""

    def __init__(self, webhook_id: int) -> None:
        self.webhook_id = webhook_id
        self.ready: deque[tuple[Delivery, bytes]] = deque()
        self.results: list[Result] = []
        self.places = 0  # without any, it has ended; the thread of the database counts them
        self.end = monotonic() + timeouts.WEBHOOK_BATCH_LIMIT

    def start(self, target: Target, keys: Sequence[str], most: int, done: "SimpleQueue[Batch]") -> None:
        for _ in range(min(most, ceil(len(self.ready) * MOST_PLACES / MOST_TAKEN))):
            Thread(target=self.run, args=[target, keys, done], daemon=True).start()
            self.places += 1  # a thread that cannot begin, because the system has no more, takes none

    def run(self, target: Target, keys: Sequence[str], done: "SimpleQueue[Batch]") -> None:
        with suppress(IndexError):
            while monotonic() < self.end:
                result = attempt(target, keys, *self.ready.popleft())
                self.results.append(result)
                if result.state != DeliveryState.DELIVERED:
                    self.ready.clear()
        done.put(self)


def attempt(target: Target, keys: Sequence[str], delivery: Delivery, body: bytes) -> Result:
    """Send a delivery once. The signature has the time of this attempt."""
    started_at, begin = timezone.now(), monotonic()
    try:
        reply = send(target, body, sign(keys, delivery.message_id, int(time()), body))
    except Exception:
        LOG.exception("An attempt to send to the webhook %s failed.", delivery.webhook_id)
        reply = ReceivedResponse(error="The attempt failed. The log of the server says why.")
    return judge(delivery, reply, started_at, monotonic() - begin)


def fail(deliveries: Sequence[Delivery], error: str) -> list[Result]:
    return [judge(delivery, ReceivedResponse(error=error), timezone.now(), 0.0) for delivery in deliveries]


class Sender:
    """The job of the worker. Between rounds, the threads go on."""

    def __init__(self) -> None:
        self.lease = uuid4()
        self.batches: dict[int, Batch] = {}  # those that are not recorded, by webhook
        self.done: SimpleQueue[Batch] = SimpleQueue()  # gets a batch each time one of its places is free
        self.rests: dict[int, float] = {}  # until when a webhook is left alone because a statement for it failed
        self.pause: float = timeouts.WEBHOOK_IDLE_INTERVAL

    def run(self, stop: StopEvent) -> None:
        """Record what was sent, and send what is due. While something is being sent, the next round follows at once."""
        self.pause = timeouts.WEBHOOK_IDLE_INTERVAL  # after an error too
        execute(LIMITS)
        if self.batches:
            self.collect(timeouts.WEBHOOK_BUSY_INTERVAL)
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
        end = monotonic() + timeouts.WEBHOOK_STOP_LIMIT
        while self.count_places() and monotonic() < end:
            self.collect(timeouts.WEBHOOK_BUSY_INTERVAL)
        self.record()

    def count_places(self) -> int:
        return sum(batch.places for batch in self.batches.values())

    def collect(self, seconds: float) -> None:
        """Wait for the first place that is free, and take those that are free with it."""
        with suppress(Empty):
            batch = self.done.get(timeout=seconds)
            while True:
                batch.places -= 1
                batch = self.done.get_nowait()

    def record(self) -> None:
        """Record results. After an outage of the database, and of webhooks that are locked, in the next round.

        Those that twice cannot be recorded are failed attempts. If that cannot be recorded either, they are sent again,
        when the lease has ended at the latest.
        """
        for pk in [pk for pk, batch in self.batches.items() if not batch.places]:
            results = self.batches[pk].results
            unrecorded = fail([result.delivery for result in results], UNRECORDED)
            for each in (results, results, unrecorded, []):
                is_recorded = try_item("webhooks", f"the results of webhook {pk}", record, self.lease, pk, each)
                if is_recorded is not None:
                    break
                self.rest(pk)
            if is_recorded is not False:
                del self.batches[pk]

    def take(self) -> None:
        """Claim webhooks and their deliveries. A webhook for which this fails rests."""
        now = monotonic()
        self.rests = {pk: end for pk, end in self.rests.items() if end > now}
        for pk in find_webhooks({*self.rests, *self.batches}) if self.has_room() else ():
            if not self.has_room() or monotonic() > now + TAKE_LIMIT:
                break
            if not try_item("webhooks", f"webhook {pk}", self.take_from, pk):
                self.rest(pk)

    def has_room(self) -> bool:
        held = [list(batch.ready) for batch in self.batches.values()]
        return self.count_places() < PLACES and sum(len(body) for ready in held for _, body in ready) <= MOST_HELD

    def rest(self, pk: int) -> None:
        self.rests[pk] = monotonic() + timeouts.WEBHOOK_REST

    def take_from(self, pk: int) -> bool:
        """Claim a webhook, and begin to send its deliveries. After an error, the next round ends the claim."""
        claimed = claim(self.lease, pk)
        if claimed is None:
            return True
        webhook, _, deliveries = claimed
        batch = self.batches[pk] = Batch(pk)
        try:
            target, keys = parse_url(webhook.url), list_keys(webhook)
            selection = get_selection(webhook.selection)
        except (AddressRefused, UnreadableSecret, Invalid) as error:
            batch.results = fail(deliveries, str(error))
            return True
        most = max(1, conf.environment.contentapi_max_cost // selection.cost)  # as one statement may read
        self.read(claimed._replace(deliveries=deliveries[:most]), batch)
        batch.start(target, keys, PLACES - self.count_places(), self.done)
        return True

    def read(self, claimed: Claim, batch: Batch) -> None:
        """Read the bodies of deliveries. If they cannot be read, only the first one.

        One that cannot be read is a failed attempt of this webhook, which then rests; others do not notice.
        """
        deliveries = claimed.deliveries
        try:
            bodies = read_bodies(*claimed)
        except Exception as error:  # noqa: BLE001 - a failed attempt, whatever it is
            raise_outage(error)
            if len(deliveries) > 1:
                self.read(claimed._replace(deliveries=deliveries[:1]), batch)
            else:
                self.rest(batch.webhook_id)
                batch.results = fail(deliveries, describe_failure(error))
            return
        hidden = ReceivedResponse(error=HIDDEN)
        for each in deliveries:
            if each.pk in bodies:
                batch.ready.append((each, bodies[each.pk]))
            else:
                batch.results.append(Result(each, hidden, None, 0.0, DeliveryState.CANCELLED, error=HIDDEN))
