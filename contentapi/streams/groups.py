"""Groups of streams with equal plans. A group reads what is new once, for all of its streams.

All of it runs in the event loop, except what `Readers.run` calls.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from hashlib import blake2b
from time import monotonic
from typing import Any, TypeVar

from django.db import Error as DatabaseError
from django.db import OperationalError
from psycopg.errors import QueryCanceled

from contentapi.conf.timeouts import STREAM_PACE, STREAM_QUICK_READ, STREAM_RETRY_INTERVAL
from contentapi.core.errors import Unavailable, to_api_error
from contentapi.db.engine.thread_connections import close_unusable_connection
from contentapi.db.outages import is_outage
from contentapi.events.feed import LogState
from contentapi.monitoring.figures import FIGURES
from contentapi.streams.plans import FIRST_ROWS, MOST_ROWS, Batch, Excerpt, LogPlan, ObjectPlan, Plan
from contentapi.streams.stream import Stream

OUTAGES = (DatabaseError, Unavailable)
T = TypeVar("T")


class Abandoned(Exception):
    """The streams of a group have left while it waited for its turn to read."""


class Readers(ThreadPoolExecutor):
    """Threads that use the database, each with a connection of its own."""

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function in one of the threads."""
        return await asyncio.get_running_loop().run_in_executor(self, call_with_connection, function, *arguments)


class GroupReaders(Readers):
    """Three threads. First reads use one of them, and reads after a long one another: others wait for neither.

    Unless several groups become slow at once: the first long read of each is beside the others.
    """

    def __init__(self) -> None:
        super().__init__(3, "streams")
        self.first, self.slow = asyncio.Semaphore(1), asyncio.Semaphore(1)


def call_with_connection(function: Callable[..., T], *arguments: Any) -> T:
    close_unusable_connection()
    return function(*arguments)


def measure_time(function: Callable[..., T], *arguments: Any) -> tuple[T, float]:
    """Return the result of a function, and the seconds that it took."""
    began = monotonic()
    return function(*arguments), monotonic() - began


class Group(ABC):
    """The streams with one plan. `position` is how far it has read, and `target` how far it has to."""

    plan: Plan

    def __init__(self, readers: GroupReaders, position: int, is_checked: asyncio.Event) -> None:
        self.readers = readers
        self.is_checked = is_checked  # whether the credentials of all streams were checked since the last outage
        self.position = self.target = self.seen = position
        self.is_quick: bool | None = None  # whether its last read was; None before the first one
        self.members: set[Stream] = set()
        self.reading: asyncio.Task[None] | None = None

    def advance(self, batch: Batch) -> None:
        """Take note of what has happened, and read it if it may concern this plan."""
        self.seen = max(self.seen, batch.end)
        if self.plan.may_concern(batch):
            self.target = self.seen
            self.begin_to_read()
        elif self.reading is None:
            self.position = self.target = self.seen

    def begin_to_read(self) -> None:
        if self.reading is None:
            self.reading = asyncio.get_running_loop().create_task(self.read_on())

    async def read_on(self) -> None:
        """Read until the target is reached, and send what was read."""
        try:
            while self.members and self.has_more:
                try:
                    await self.read_next()
                except OUTAGES as error:
                    if not may_end(error):
                        raise
                    self.is_checked.clear()
                    await asyncio.sleep(STREAM_RETRY_INTERVAL)
        except Abandoned:
            pass
        except Exception as error:  # noqa: BLE001 - it concerns the streams of this group alone
            for stream in [*self.members]:
                stream.fail(error)
            self.position = self.target  # one that joins before they have gone reads for itself up to here
        finally:
            self.reading = None
        if self.position >= self.target:  # no batch since has concerned this plan
            self.position = self.target = self.seen

    async def read(self, read: Callable[..., T], *arguments: Any) -> T:
        """Call a function of the plan in a thread, beside other groups if it is quick. Raises `Abandoned`."""
        lanes: dict[bool | None, AbstractAsyncContextManager[None]]
        lanes = {True: nullcontext(), None: self.readers.first, False: self.readers.slow}
        async with lanes[self.is_quick]:
            await self.is_checked.wait()  # after all other waiting
            if not self.members:
                raise Abandoned
            self.is_quick = False  # if it fails
            measured: tuple[T, float] = await self.readers.run(measure_time, read, *arguments)
        result, seconds = measured
        self.is_quick = seconds < STREAM_QUICK_READ
        return result

    @property
    def has_more(self) -> bool:
        return self.position < self.target

    @abstractmethod
    async def read_next(self) -> None:
        """Read something that is new, and send it."""

    def add(self, stream: Stream) -> None:
        self.members.add(stream)

    def remove(self, stream: Stream) -> None:
        self.members.discard(stream)


class LogGroup(Group):
    """Streams of events."""

    def __init__(
        self,
        plan: LogPlan,
        readers: GroupReaders,
        position: int,
        is_checked: asyncio.Event,
        log: Callable[[], LogState],
    ) -> None:
        super().__init__(readers, position, is_checked)
        self.plan: LogPlan = plan
        self.get_log = log
        self.rows = FIRST_ROWS
        self.most_rows = MOST_ROWS

    async def read_next(self) -> None:
        log, after, target = self.get_log(), self.position, self.target
        try:
            excerpt = await self.read(self.plan.read, log, after, target, self.rows)
        except DatabaseError as error:
            if self.rows == 1 or not isinstance(error.__cause__, QueryCanceled):
                raise
            self.most_rows = self.rows = max(1, self.rows // 8)  # so many at once take longer than a statement may
            return
        if log.epoch != self.get_log().epoch:
            return
        self.rows, self.position = min(excerpt.rows, self.most_rows), excerpt.end
        self.send(excerpt, after)
        if self.has_more:
            await self.wait_for_writers()

    def send(self, excerpt: Excerpt, after: int) -> None:
        everything = b"".join(chunk.content for chunk in excerpt.chunks)
        sent = 0
        for stream in [*self.members]:
            content, events = everything, len(excerpt.chunks)
            if stream.position > after:  # it has read beyond its group
                rest = [chunk.content for chunk in excerpt.chunks if chunk.position > stream.position]
                content, events = b"".join(rest), len(rest)
            if events:
                stream.add(content, events)
            stream.position = max(stream.position, excerpt.end)
            sent += events
        FIGURES.count("contentapi_stream_events_total", amount=sent)

    async def wait_for_writers(self) -> None:
        """Let the streams write before more is read. One whose client does not read is not waited for long."""
        await asyncio.sleep(0)
        if any(stream.waiting for stream in self.members):
            await asyncio.sleep(STREAM_PACE)


class ObjectGroup(Group):
    """Streams of an object. They get its value when they join, and each value that differs from the last one.

    So nobody learns of a change that they cannot see.
    """

    def __init__(self, plan: ObjectPlan, readers: GroupReaders, position: int, is_checked: asyncio.Event) -> None:
        super().__init__(readers, position, is_checked)
        self.plan: ObjectPlan = plan
        self.new_members: set[Stream] = set()
        self.digest = b""  # of the last value

    @property
    def has_more(self) -> bool:
        return super().has_more or bool(self.new_members)

    async def read_next(self) -> None:
        target, waiting = self.target, [*self.new_members]
        content = await self.read(self.plan.read)
        self.position = target
        digest = blake2b(content).digest()
        is_equal, self.digest = digest == self.digest, digest
        for stream in [*self.members]:
            is_new = stream in self.new_members
            if is_new != (stream in waiting):  # it has joined meanwhile: it gets a later value
                continue
            if is_new or not is_equal:
                stream.add(content, 1)
        self.new_members.difference_update(waiting)

    def add(self, stream: Stream) -> None:
        super().add(stream)
        self.new_members.add(stream)
        self.begin_to_read()

    def remove(self, stream: Stream) -> None:
        super().remove(stream)
        self.new_members.discard(stream)


def may_end(error: Exception) -> bool:
    """Return whether streams wait for the end of an error: the database is away, or a migration has still to run."""
    is_of_statement = isinstance(error, OperationalError) and not is_outage(error)  # such as one that takes too long
    return isinstance(to_api_error(error), Unavailable) and not is_of_statement
