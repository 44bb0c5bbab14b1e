"""Two webhooks, to which the workers of both hosts send each new post, and what came of them.

The receiver runs in this process, at an address of the network of the clients, which is never cut off.
"""

import re
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from tests.receiver_behaviours import accept
from tests.webhook_receivers import Exchange, Receiver

WEBHOOKS = ("one", "two")
TYPES = ["post.created"]
METRICS_PORT = 9100
RELAYED = re.compile(r"^contentapi_events_total (\d+)", re.MULTILINE)


class Delivery(NamedTuple):
    """A request of a webhook. `sender` is the address of the worker's host, `time` is of `time.monotonic`."""

    webhook: str
    id: str
    post: str
    time: float
    sender: str


@dataclass(frozen=True, slots=True)
class Announcements:
    """What came of the new posts of one fault.

    Delays are in seconds from the response to a write to its first delivery.
    """

    posts: int
    unlogged: int  # posts without an event
    logged_twice: int
    lost: int  # deliveries
    repeated: int  # deliveries that came again, as they were
    changed: int  # deliveries that came again with another id
    sent: tuple[int, ...]  # deliveries by the worker of each host
    delay: float  # median
    longest_delay: float

    def list_broken_promises(self) -> list[str]:
        counts = {
            "posts without an event": self.unlogged,
            "posts with two events": self.logged_twice,
            "deliveries lost": self.lost,
            "deliveries repeated with another id": self.changed,
        }
        return [f"{count} {what}" for what, count in counts.items() if count]


class Inbox:
    """The receiver. `deliveries` has all that it got, in the order of their arrival."""

    def __init__(self, address: str) -> None:
        self.deliveries: list[Delivery] = []
        self.receiver = Receiver(self.receive, host=address)

    @property
    def urls(self) -> list[str]:
        return [f"{self.receiver.url}/{name}" for name in WEBHOOKS]

    def receive(self, exchange: Exchange) -> bool:
        request = exchange.request
        webhook = request.line.split()[1].rpartition("/")[2]
        sender = exchange.socket.getpeername()[0]
        post = str(request.event["subject"])
        self.deliveries.append(Delivery(webhook, request.id, post, request.time, sender))
        return accept(exchange)

    def find_last_sender(self) -> str | None:
        """Return the address of the host whose worker has sent the last delivery."""
        return self.deliveries[-1].sender if self.deliveries else None


def judge(
    events: Mapping[str, Collection[int]],
    deliveries: Iterable[Delivery],
    acknowledged: Mapping[str, float],
    hosts: Iterable[str],
) -> Announcements:
    """Compare posts with their events and deliveries.

    `events` has the positions of the events of each post, `acknowledged` the time of the response to its write, and
    `hosts` are the addresses of the workers. Other posts are left out.
    """
    arrived: dict[tuple[str, str], list[Delivery]] = defaultdict(list)
    for delivery in deliveries:
        if delivery.post in events:
            arrived[delivery.webhook, delivery.post].append(delivery)
    different = [len({each.id for each in same}) - 1 for same in arrived.values()]
    delays = [
        max(0.0, same[0].time - acknowledged[post]) for (_, post), same in arrived.items() if post in acknowledged
    ]
    senders = Counter(each.sender for same in arrived.values() for each in same)
    return Announcements(
        posts=len(events),
        unlogged=sum(len(positions) == 0 for positions in events.values()),
        logged_twice=sum(len(positions) > 1 for positions in events.values()),
        lost=sum((webhook, post) not in arrived for webhook in WEBHOOKS for post in events),
        repeated=sum(len(same) - 1 for same in arrived.values()) - sum(different),
        changed=sum(different),
        sent=tuple(senders[host] for host in hosts),
        delay=median(delays) if delays else 0.0,
        longest_delay=max(delays, default=0.0),
    )


def count_relayed(address: str) -> int:
    """Return how many events the worker of a host has moved to the log since its start. Without a worker, it is 0."""
    try:
        with urllib.request.urlopen(f"http://{address}:{METRICS_PORT}/metrics", timeout=1) as response:
            found = RELAYED.search(response.read().decode())
    except OSError:
        return 0
    return int(found[1]) if found else 0


def subtract(after: Sequence[int], before: Sequence[int]) -> tuple[int, ...]:
    """Return how many events each worker has moved in between. A worker that was killed counts from its new start."""
    return tuple(last - first if last >= first else last for last, first in zip(after, before, strict=True))
