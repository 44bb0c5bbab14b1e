"""All streams of the process, in groups. All of it runs in the event loop, except what `Readers.run` calls.

A group has the streams with equal plans, and reads what is new once for all of them. A stream that resumes at an older
cursor first reads for itself, up to where its group is: some events, and more when the client has taken them. Few of
them read at once, so that their number does not hold up the groups.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from hashlib import blake2b
from time import monotonic

from django.db import OperationalError
from psycopg.errors import QueryCanceled

from contentapi.conf.timeouts import STREAM_CHECK_INTERVAL, STREAM_KEEP_ALIVE, STREAM_PACE, STREAM_RETRY_INTERVAL
from contentapi.core.errors import EventsExpired, ResponseTooLarge, Unavailable, to_api_error
from contentapi.db.outages import is_outage
from contentapi.events.feed import EXPIRED, LogState
from contentapi.monitoring.figures import FIGURES, Sample
from contentapi.streams.follower import OUTAGES, Batch, Readers
from contentapi.streams.plans import MOST_BYTES, Excerpt, LogPlan, Plan
from contentapi.streams.stream import Stream

READERS = 4  # threads, and connections
RESUMED_READERS = 2  # of them


def may_end(error: Exception) -> bool:
    """Return whether streams wait for the end of an error: the database is away, or a migration has still to run."""
    is_of_statement = isinstance(error, OperationalError) and not is_outage(error)  # such as one that takes too long
    return isinstance(to_api_error(error), Unavailable) and not is_of_statement


class Group:
    """Streams of events. `position` is how far it has read, and `target` how far it has to."""

    def __init__(self, hub: Hub, plan: Plan, position: int) -> None:
        self.hub = hub
        self.plan = plan
        self.position = self.target = position
        self.streams: set[Stream] = set()
        self.task: asyncio.Task[None] | None = None

    def advance(self, batch: Batch) -> None:
        """Take note of what has happened, and read it if it may concern this plan."""
        if self.plan.may_concern(batch):
            self.begin_to_read(batch.end)
        elif self.task is None:
            self.position = batch.end

    def begin_to_read(self, target: int) -> None:
        self.target = target
        if self.task is None:
            self.task = asyncio.get_running_loop().create_task(self.read_on())

    async def read_on(self) -> None:
        """Read until the target is reached, and send what was read. An error ends the streams of this group alone."""
        try:
            while self.position < self.target:
                excerpt = await self.hub.read_next(self.plan, self.position, self.target)
                if excerpt is not None:
                    self.send(excerpt)
                    self.position = excerpt.end
                    await asyncio.sleep(0)  # let the streams write, and do not wait long for clients that do not read
                    if self.position < self.target and any(stream.waiting for stream in self.streams):
                        await asyncio.sleep(STREAM_PACE)
        except Exception as error:  # noqa: BLE001 - of whatever kind
            if self.hub.groups.get(self.plan.key) is self:
                del self.hub.groups[self.plan.key]
            for stream in [*self.streams]:
                stream.fail(error)
        finally:
            self.task = None

    def send(self, excerpt: Excerpt) -> None:
        everything, sent = excerpt.join_after(self.position), 0
        for stream in [*self.streams]:
            is_ahead = stream.position > self.position  # it has read beyond its group
            content, events = excerpt.join_after(stream.position) if is_ahead else everything
            if events:
                stream.add(content, events)
            stream.position = max(stream.position, excerpt.end)
            sent += events
        FIGURES.count("contentapi_stream_events_total", amount=sent)

    def add(self, stream: Stream) -> None:
        self.streams.add(stream)


class ObjectGroup(Group):
    """Streams of an object. They get its value when they join, and each value that differs from the last one.

    So nobody learns of a change that they cannot see. Positions are the numbers of the reasons to read: a change, or
    a new stream, which waits for a value that is read after it has joined.
    """

    def advance(self, batch: Batch) -> None:
        if self.plan.may_concern(batch):
            self.begin_to_read(self.target + 1)

    def send(self, excerpt: Excerpt) -> None:
        ((content, end),) = excerpt.chunks
        digest = blake2b(content).digest()
        for stream in [*self.streams]:
            if stream.position <= end and stream.digest != digest:
                stream.digest = digest
                stream.add(content, 1)

    def add(self, stream: Stream) -> None:
        super().add(stream)
        stream.position = self.target + 1
        self.begin_to_read(stream.position)


class Hub:
    """The streams, in groups, and how far the log is."""

    def __init__(self) -> None:
        self.log = LogState("", 0, 0)
        self.groups: dict[Hashable, Group] = {}
        self.streams: set[Stream] = set()
        self.readers = Readers(READERS, "streams")
        self.turns = asyncio.Semaphore(RESUMED_READERS)
        self.is_checked = asyncio.Event()  # the credentials of all streams, since the last outage
        self.is_checked.set()

    def advance(self, log: LogState, batch: Batch) -> None:
        """Take note that the log has a batch more. After a new epoch, clients must read everything again.

        Its positions may be lower than those before, and some of its events are not passed on: all streams end.
        """
        if self.log.epoch not in ("", log.epoch):
            for stream in [*self.streams]:
                if isinstance(stream.opening.plan, LogPlan):
                    stream.fail(EventsExpired(EXPIRED))
                else:
                    stream.close("expired")
            self.groups = {}
        self.log = log
        for group in [*self.groups.values()]:
            group.advance(batch)

    async def join(self, stream: Stream) -> None:
        """Add a stream to its group, after it has written what its group has read already."""
        plan = stream.opening.plan
        if isinstance(plan, LogPlan):
            await self.catch_up(stream)
        if stream.reason is None:
            kind = Group if isinstance(plan, LogPlan) else ObjectGroup
            self.groups.setdefault(plan.key, kind(self, plan, stream.position)).add(stream)

    async def catch_up(self, stream: Stream) -> None:
        plan = stream.opening.plan
        while stream.reason is None and stream.position < (end := self.groups.get(plan.key, self.log).position):
            try:
                async with self.turns:
                    excerpt = await self.read_next(plan, stream.position, end)
            except Exception as error:  # noqa: BLE001 - as in `Group.read_on`
                stream.fail(error)
                return
            if stream.position < self.log.expired:  # events are dropped a day later
                stream.fail(EventsExpired(EXPIRED))
            elif excerpt is not None:
                alone = Group(self, plan, stream.position)
                alone.streams = {stream}
                alone.send(excerpt)
                await stream.write_waiting()

    async def read_next(self, plan: Plan, position: int, end: int) -> Excerpt | None:
        """Read what is next for a plan, up to a position. Return None if the caller has to try again.

        That is after an outage, whose end this waits for, or if so many rows are too large or take too long.
        """
        await self.is_checked.wait()
        try:
            excerpt = await self.readers.run(self.read, plan, position, end)
        except (ResponseTooLarge, *OUTAGES) as error:
            is_late = isinstance(error.__cause__, QueryCanceled)
            if plan.rows > 1 and (is_late or isinstance(error, ResponseTooLarge)):
                plan.rows = max(1, plan.rows // 8)
                plan.most_rows = plan.rows if is_late else plan.most_rows
            elif may_end(error):
                self.is_checked.clear()
                await asyncio.sleep(STREAM_RETRY_INTERVAL)
            else:
                raise
            return None
        if excerpt is not None and sum(len(content) for content, _ in excerpt.chunks) <= MOST_BYTES // 2:
            plan.rows = min(2 * plan.rows, plan.most_rows)
        return excerpt

    def read(self, plan: Plan, position: int, end: int) -> Excerpt | None:
        """Read in a thread. While this waited for one, the database may have failed."""
        if not self.is_checked.is_set():
            return None
        if plan.actor.preview is not None:
            plan.actor.preview.forget_texts()  # they may have changed since the last read
        return plan.read(self.log, position, end)

    def remove(self, stream: Stream) -> None:
        self.streams.discard(stream)
        group = self.groups.get(stream.opening.plan.key)
        if group is not None:
            group.streams.discard(stream)
            if not group.streams:
                del self.groups[group.plan.key]
                if group.task is not None:
                    group.task.cancel()

    def get_cursor(self, stream: Stream) -> str:
        """Return the cursor after which a stream can resume, if nothing waits for it. It is empty without a log."""
        plan = stream.opening.plan
        if not isinstance(plan, LogPlan):
            return ""
        group = self.groups.get(plan.key)
        reached = group.position if group is not None and stream in group.streams else 0
        return self.log.format_cursor(max(stream.position, reached))

    async def check(self) -> None:
        """Look at the time limits of all streams. Each that was silent for a while gets a sign of life."""
        now = monotonic()
        last = now - STREAM_KEEP_ALIVE + STREAM_CHECK_INTERVAL
        for stream in [*self.streams]:
            stream.check(now)
            if stream.added_at < last and not stream.waiting:
                stream.add(stream.opening.plan.format.keep_alive(self.get_cursor(stream)), 0)

    def measure(self) -> list[Sample]:
        return [("contentapi_streams", (), len(self.streams)), ("contentapi_stream_groups", (), len(self.groups))]
