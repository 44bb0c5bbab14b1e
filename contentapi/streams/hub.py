"""All streams of the process. All of it runs in the event loop, except what `Readers.run` calls.

The hub gets each batch of the log from the follower (`contentapi.streams.follower`), and passes it to the groups. A
stream that resumes at an older cursor first reads for itself, up to where its group is: a batch at a time, and the next
one when the client has taken the last. Few of them read at once, so that their number costs neither memory nor the
events of the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from time import monotonic

from psycopg.errors import QueryCanceled

from contentapi.conf.timeouts import STREAM_PACE, STREAM_RETRY_INTERVAL, STREAM_WRITE_LIMIT_AT_WORST
from contentapi.core.errors import EventsExpired
from contentapi.events.feed import EXPIRED, LogState, read_log
from contentapi.monitoring.figures import FIGURES, Sample
from contentapi.streams.groups import OUTAGES, Group, GroupReaders, LogGroup, ObjectGroup, Readers, may_end
from contentapi.streams.limits import PLAN_LIMITS
from contentapi.streams.plans import FIRST_ROWS, MOST_ROWS, Batch, Excerpt, LogPlan, ObjectPlan
from contentapi.streams.stream import Reason, Stream

RESUMED_READERS = 2  # threads, and connections
MOST_RESUMED_BYTES = 32 * 1024 * 1024  # that were read for streams which resume, and are not written yet
ALIGNMENT = 64  # bytes: the last bits of an address are equal
Step = Callable[[], Awaitable[None]]


class Hub:
    """The streams, in groups, and how far the log is."""

    def __init__(self) -> None:
        self.log = LogState("", 0, 0)
        self.groups: dict[Hashable, Group] = {}
        self.streams: set[Stream] = set()
        self.readers = GroupReaders()
        self.resumed_readers = Readers(RESUMED_READERS, "resumed streams")
        self.resumed_bytes = 0
        self.is_checked = asyncio.Event()
        self.is_checked.set()
        self.turns = asyncio.Semaphore(RESUMED_READERS)

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

    async def join(self, stream: Stream, write: Step, charge: Step) -> None:
        """Add a stream to its group, after it has written what its group has read already, and was charged for it."""
        plan = stream.opening.plan
        if isinstance(plan, LogPlan):
            await self.catch_up(stream, plan, write, charge)
        if stream.has_ended():
            return
        group = self.groups.get(plan.key)
        if group is None:
            group = self.groups[plan.key] = self.build_group(stream)
        stream.opening.plan = group.plan  # equal plans are one object
        PLAN_LIMITS.exchange(plan, group.plan)
        group.add(stream)

    def build_group(self, stream: Stream) -> Group:
        plan = stream.opening.plan
        if isinstance(plan, LogPlan):
            return LogGroup(plan, self.readers, stream.position, self.is_checked, lambda: self.log)
        assert isinstance(plan, ObjectPlan)  # noqa: S101 - there are two kinds
        return ObjectGroup(plan, self.readers, self.log.position, self.is_checked)

    async def catch_up(self, stream: Stream, plan: LogPlan, write: Step, charge: Step) -> None:
        rows, most_rows = FIRST_ROWS, MOST_ROWS
        while not stream.has_ended():
            group = self.groups.get(plan.key)
            target = self.log.position if group is None else group.position
            if stream.position >= target:
                return
            try:
                async with self.turns:
                    await self.wait_for_memory()  # with a turn: otherwise all who wait for one would pass together
                    await self.is_checked.wait()
                    if stream.has_ended():  # meanwhile
                        return
                    excerpt = await self.resumed_readers.run(
                        read_resumed, plan, self.log, stream.position, target, rows
                    )
            except Exception as error:  # noqa: BLE001 - as in `Group.read_on`
                if isinstance(error, OUTAGES) and may_end(error):
                    self.is_checked.clear()
                    await asyncio.sleep(STREAM_RETRY_INTERVAL)
                    continue
                if rows > 1 and isinstance(error.__cause__, QueryCanceled):
                    rows = most_rows = max(1, rows // 8)  # so many at once take longer than a statement may
                    continue
                stream.fail(error)
                return
            rows, stream.position = min(excerpt.rows, most_rows), excerpt.end
            content, events = b"".join([chunk.content for chunk in excerpt.chunks]), len(excerpt.chunks)
            del excerpt
            self.resumed_bytes += len(content)
            try:
                if events:
                    stream.add(content, events)
                    FIGURES.count("contentapi_stream_events_total", amount=events)
                if stream.waiting:
                    await write()
            finally:
                self.resumed_bytes -= len(content)
            await charge()

    async def wait_for_memory(self) -> None:
        """Wait while too much was read that clients have not taken. Those that do not read at all are ended then."""
        while self.resumed_bytes > MOST_RESUMED_BYTES:
            begun_before = monotonic() - STREAM_WRITE_LIMIT_AT_WORST
            for stream in [*self.streams]:
                if 0 < stream.write_began < begun_before:
                    stream.close("slow")
            await asyncio.sleep(STREAM_PACE)

    def remove(self, stream: Stream) -> None:
        self.streams.discard(stream)
        key = stream.opening.plan.key
        group = self.groups.get(key)
        if group is not None:
            group.remove(stream)
            if not group.members:
                del self.groups[key]

    def get_cursor(self, stream: Stream) -> str:
        """Return the cursor after which a stream can resume, if nothing waits for it. It is empty without a log."""
        plan = stream.opening.plan
        if not isinstance(plan, LogPlan):
            return ""
        group = self.groups.get(plan.key)
        is_member = group is not None and stream in group.members
        return self.log.format_cursor(max(stream.position, group.position if group and is_member else 0))

    def close_all(self, reason: Reason) -> None:
        for stream in [*self.streams]:
            stream.close(reason)

    def check(self) -> None:
        """Look at the time limits of all streams."""
        now = monotonic()
        for stream in [*self.streams]:
            stream.check(now)

    def keep_alive(self, part: int, parts: int) -> None:
        """Let one of so many parts of the streams write a sign of life, unless they have written since the last one."""
        for stream in [*self.streams]:
            if id(stream) // ALIGNMENT % parts == part:
                if stream.is_idle and not stream.waiting:
                    stream.add(stream.opening.plan.format.keep_alive(self.get_cursor(stream)), 0)
                stream.is_idle = True

    def measure(self) -> list[Sample]:
        return [
            ("contentapi_streams", (), len(self.streams)),
            ("contentapi_stream_groups", (), len(self.groups)),
        ]


def read_resumed(plan: LogPlan, log: LogState, after: int, end: int, rows: int) -> Excerpt:
    """Read for a stream that resumes. Raises `EventsExpired` if events have been dropped before they were read."""
    excerpt = plan.read(log, after, end, rows)
    now = read_log()
    if now.epoch != log.epoch or after < now.expired:
        raise EventsExpired(EXPIRED)
    return excerpt


def count_end(stream: Stream) -> None:
    FIGURES.count("contentapi_streams_closed_total", stream.reason or "client")
