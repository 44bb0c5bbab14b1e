"""Those who follow the events of the drill: streams, a reader of the feed, and the receivers of two webhooks."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from threading import Event, Thread
from typing import Self

from benchmarks.drill.images import send
from benchmarks.drill.ledger import Begin
from benchmarks.drill.load import Client
from benchmarks.drill.received import (
    compare_positions,
    compare_stream,
    compare_webhook,
    count_repetitions,
    get_position,
    read_feed_page,
)
from benchmarks.drill.stack import Stack
from benchmarks.followers import Follower
from tests.receiver_behaviours import accept, fail_one_in
from tests.webhook_receivers import Receiver

START_LIMIT = 90.0  # seconds for the begin of a stream
CATCH_UP_LIMIT = 300.0  # seconds
FEED_PAUSE = 0.3  # seconds
FAILING = 5  # one request in so many fails, at the webhook of the admin
TYPES = ["post.*", "comment.*", "author.*"]
ALL, PUBLIC = "true", "is_public"  # which events somebody may see
LOG = "SELECT coalesce(array_agg(position ORDER BY position), '{{}}') FROM events_event WHERE position > {} AND {}"
TITLES = """
    SELECT title, max(version) FROM (
        SELECT title, version FROM blog_post UNION ALL SELECT title, version FROM blog_postversion
    ) AS version GROUP BY 1
"""


class FeedReader(Thread):
    """Reads the feed page by page. `positions` has those of all events."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(daemon=True)
        self.client = Client(stack.port, stack.key)
        self.positions: list[int] = []
        self.stopping = Event()
        self.cursor = read_feed_page(self.client.send("GET", "/events?after=now").body)[1]

    def run(self) -> None:
        while not self.stopping.is_set():
            reply = self.client.send("GET", f"/events?after={self.cursor}&limit=100")
            if reply.status == 200:
                found, self.cursor = read_feed_page(reply.body)
                self.positions += found
            self.stopping.wait(FEED_PAUSE)

    def stop(self, last: int) -> None:
        """Stop after a position."""
        deadline = time.monotonic() + CATCH_UP_LIMIT
        while (not self.positions or self.positions[-1] < last) and time.monotonic() < deadline:
            time.sleep(FEED_PAUSE)
        self.stopping.set()
        self.join()


class Audience:
    """All of them, in the block of a `with` statement."""

    def __init__(self, stack: Stack) -> None:
        self.stack, self.cleanup = stack, ExitStack()
        self.streams = [
            (condition, Follower(stack.stream_port, headers=headers))
            for headers, condition in 2 * [({}, PUBLIC), ({"X-API-Key": stack.key}, ALL)]
        ]
        self.feed = FeedReader(stack)
        self.receivers = {ALL: Receiver(fail_one_in(FAILING)), PUBLIC: Receiver(accept)}

    def __enter__(self) -> Self:
        """Follow the events. Raises `RuntimeError`."""
        for receiver in self.receivers.values():
            self.cleanup.enter_context(receiver)
        self.create_webhook(self.receivers[ALL])
        self.create_webhook(self.receivers[PUBLIC], scopes=[])
        for _, stream in self.streams:
            stream.start()
            self.cleanup.callback(stream.stop)
            if not stream.wait_for(lambda it: it.begin, START_LIMIT):
                raise RuntimeError(f"no stream: {stream.refusals}")
        self.feed.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.cleanup.close()

    def create_webhook(self, receiver: Receiver, **content: list[str]) -> None:
        body = {"url": receiver.url, "types": TYPES, "name": "Drill", **content}
        status, created = send(self.stack, "POST", "/webhooks", json.dumps(body).encode())
        if status != 201:
            raise RuntimeError(f"POST /webhooks: status {status} {created}")
        self.cleanup.callback(send, self.stack, "DELETE", f"/webhooks/{created['id']}")

    def compare(self, begin: Begin) -> Iterator[str]:
        """Yield how what was received differs from the log, which gets no more events."""
        database = self.stack.database
        log = {condition: database.query(LOG.format(begin.position, condition)) for condition in (ALL, PUBLIC)}
        titles = dict(database.read(TITLES))
        for condition, stream in self.streams:
            last = log[condition][-1]
            stream.wait_for(lambda it: it.events and get_position(it.events[-1]) >= last, CATCH_UP_LIMIT)  # noqa: B023
            events = [event for event in stream.events if get_position(event) > begin.position]
            found = compare_stream(events, log[condition], titles)
            yield from (f"stream ({condition}): {problem}" for problem in found)
        self.feed.stop(log[ALL][-1])
        positions = [position for position in self.feed.positions if position > begin.position]
        yield from (f"feed: {problem}" for problem in compare_positions(positions, log[ALL]))
        if positions != sorted(set(positions)):
            yield "feed: the positions do not rise"
        for condition, receiver in self.receivers.items():
            found = compare_webhook(list(receiver.received), log[condition], titles)
            yield from (f"webhook ({condition}): {problem}" for problem in found)

    def describe(self) -> str:
        events = sum(len(stream.events) for _, stream in self.streams)
        begins = sum(len(stream.ends) for _, stream in self.streams)
        requests = sum(len(receiver.received) for receiver in self.receivers.values())
        again = sum(count_repetitions(receiver.received) for receiver in self.receivers.values())
        return (
            f"{events} events received by {len(self.streams)} streams, which began {begins} times again, and "
            f"{len(self.feed.positions)} by the feed; {requests} requests to webhooks, {again} of them again"
        )
