"""Send prepared deliveries in threads, and share the places of a sender fairly.

A `Line` is a webhook of this sender. It begins with one place. A receiver that answers within a second gets more, up to
eight; a slow one loses them. Slow receivers have at most half of all places together, so have those that are not known
yet, and both together three quarters. A receiver to which this sender has sent nothing is slow if it failed the last
time. The more places a line has, the more others must be free for its next one. So receivers that time out hold up
nobody else.
"""

import logging
from collections import deque
from collections.abc import Sequence
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic, time

from django.utils import timezone

from contentapi.conf.timeouts import WEBHOOK_SEND_MARGIN, WEBHOOK_SLOW
from contentapi.events.webhooks.addresses import Target
from contentapi.events.webhooks.claims import Claimed
from contentapi.events.webhooks.recording import Result, judge
from contentapi.events.webhooks.signing import sign
from contentapi.events.webhooks.transport import ReceivedResponse, Receiver

LOG = logging.getLogger("contentapi.worker")
PLACES = 64  # attempts at a time of a sender
MOST_OF_LINE = 8  # of a webhook
SHARE = 4  # places that must be free for each one that a line has
MOST_REMEMBERED = 10_000  # webhooks without a line, of which a sender knows how fast they were
LARGEST_SUPPLY = 64  # deliveries that wait here for a receiver that is fast


class Line:
    """A webhook that a sender owns: its deliveries, the places that it has, and its free connections.

    `taken` has the ids of all deliveries that are not recorded yet, `ready` those that no thread has begun to send.
    `leased_until` is a time of `monotonic`.
    """

    target: Target
    keys: Sequence[str] = ()

    def __init__(self, webhook_id: int, *, is_slow: bool | None = None) -> None:
        self.webhook_id = webhook_id
        self.leased_until = 0.0
        self.ready: deque[tuple[Claimed, bytes]] = deque()
        self.taken: set[int] = set()
        self.places = 0
        self.window = 1
        self.is_slow = is_slow  # None: not known
        self.is_dropped = False
        self.receivers: list[Receiver] = []

    @property
    def supply(self) -> int:
        """The number of deliveries that may be taken: many only for a receiver that gets them soon."""
        return LARGEST_SUPPLY if self.window == MOST_OF_LINE else self.window

    @property
    def wanted(self) -> int:
        return max(0, self.supply - len(self.taken))

    @property
    def needs_supply(self) -> bool:
        """Whether to take more: many are taken at once, when half of them are sent."""
        return len(self.taken) <= self.supply // 2

    def adapt(self, seconds: float) -> None:
        if seconds < WEBHOOK_SLOW:
            self.window, self.is_slow = min(MOST_OF_LINE, 2 * self.window), False
        else:
            self.window = 1 if seconds > 2 * WEBHOOK_SLOW else max(1, self.window // 2)
            self.is_slow = self.window == 1


class Lanes:
    """The lines of a sender, and the threads that send. `results` has what they have done."""

    def __init__(self, places: int = PLACES) -> None:
        self.most = self.free = places
        self.lock = Lock()
        self.lines: dict[int, Line] = {}
        self.size = 0  # bytes of bodies that are ready
        # Whether the receiver of a webhook was slow the last time, also without a line. The latest one is at the end
        self.slow: dict[int, bool] = {}
        self.dropped: list[Line] = []  # that may still have places
        self.results: SimpleQueue[Result] = SimpleQueue()

    def add(self, line: Line, delivery: Claimed, body: bytes) -> None:
        with self.lock:
            line.ready.append((delivery, body))
            self.size += len(body)

    def drop(self, line: Line) -> list[tuple[Claimed, bytes]]:
        """Send nothing more to a webhook, and return what was not sent. Attempts that have begun go on."""
        with self.lock:
            line.is_dropped = True
            self.dropped.append(line)
            unsent = list(line.ready)
            self.size -= sum(len(body) for _, body in unsent)
            line.ready.clear()
            self.lines.pop(line.webhook_id, None)
            for receiver in line.receivers:
                receiver.close()
        return unsent

    def list_ending(self) -> set[int]:
        """Return the ids of webhooks to which attempts are being made that began before they were dropped."""
        with self.lock:
            self.dropped = [line for line in self.dropped if line.places]
            return {line.webhook_id for line in self.dropped}

    def start(self) -> None:
        """Give places to the lines that have deliveries, one to each in turn."""
        waiting = deque(self.lines.values())
        while waiting:
            line = waiting.popleft()
            if self.take_place(line):
                Thread(target=self.run, args=[line], name=f"webhook {line.webhook_id}", daemon=True).start()
                waiting.append(line)
        if len(self.lines) > 1:  # another line is the first one the next time
            first = next(iter(self.lines))
            self.lines[first] = self.lines.pop(first)

    def take_place(self, line: Line) -> bool:
        with self.lock:
            if len(line.ready) <= line.places or line.places >= line.window or self.free <= SHARE * line.places:
                return False
            if line.is_slow is not False and not self.has_room_for_slow(line):
                return False
            line.places += 1
            self.free -= 1
            return True

    def has_room_for_slow(self, line: Line) -> bool:
        """Return whether a line that is slow, or not known, gets a place: each kind has a half, both three quarters."""
        slow, unknown = self.count_places(True), self.count_places(None)  # noqa: FBT003 - None: not known
        mine = slow if line.is_slow else unknown
        return mine < self.most // 2 and slow + unknown < self.most * 3 // 4

    def count_places(self, is_slow: bool | None) -> int:  # noqa: FBT001 - None: not known
        return sum(line.places for line in self.lines.values() if line.is_slow is is_slow)

    def run(self, line: Line) -> None:
        """Send deliveries of a line with one connection, until there are none or others need the place."""
        receiver: Receiver | None = None
        while (ready := self.get_next(line, receiver)) is not None:
            if receiver is None or receiver.target != line.target:
                receiver = self.get_receiver(line)
            result = attempt(line, receiver, *ready)
            with self.lock:
                line.adapt(result.seconds)
                self.remember(line)
            self.results.put(result)

    def remember(self, line: Line) -> None:
        """Keep whether a line is slow. Of many webhooks, it forgets the first: that one may be deleted."""
        self.slow.pop(line.webhook_id, None)
        self.slow[line.webhook_id] = line.is_slow is True
        if len(self.slow) > MOST_REMEMBERED:
            del self.slow[next(iter(self.slow))]

    def get_receiver(self, line: Line) -> Receiver:
        with self.lock:
            line.receivers = [receiver for receiver in line.receivers if receiver.target == line.target]
            return line.receivers.pop() if line.receivers else Receiver(line.target)

    def get_next(self, line: Line, receiver: Receiver | None) -> tuple[Claimed, bytes] | None:
        """Return the next delivery of a line. Without one, its place is free again, and the connection is kept."""
        with self.lock:
            is_late = monotonic() > line.leased_until - WEBHOOK_SEND_MARGIN
            is_crowded = line.places > line.window or (self.free == 0 and line.places > 1)
            if line.ready and not is_late and not is_crowded:
                delivery, body = line.ready.popleft()
                self.size -= len(body)
                return delivery, body
            line.places -= 1
            self.free += 1
            if receiver is not None and line.is_dropped:
                receiver.close()
            elif receiver is not None:
                line.receivers.append(receiver)
            return None


def attempt(line: Line, receiver: Receiver, delivery: Claimed, body: bytes) -> Result:
    """Send a delivery once. The signature has the time of this attempt."""
    started_at, begin = timezone.now(), monotonic()
    try:
        reply = receiver.send(body, sign(line.keys, delivery.message_id, int(time()), body))
    except Exception:
        LOG.exception("An attempt to send to the webhook %s failed.", line.webhook_id)
        reply = ReceivedResponse(error="The attempt failed. The log of the server says why.")
    try:
        return judge(delivery, reply, started_at, monotonic() - begin)
    except Exception:
        LOG.exception("The reply of the webhook %s could not be judged.", line.webhook_id)
        return judge(delivery, ReceivedResponse(error="The reply could not be read."), started_at, monotonic() - begin)
