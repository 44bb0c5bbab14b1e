"""Threads that use the database, and how a plan is read in them, from a position on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import Error as DatabaseError
from django.db import OperationalError
from psycopg.errors import QueryCanceled

from contentapi.conf.timeouts import STREAM_RETRY_INTERVAL
from contentapi.core.errors import EventsExpired, Unavailable, to_api_error
from contentapi.db.engine.thread_connections import close_unusable_connection
from contentapi.db.outages import is_outage
from contentapi.events.feed import EXPIRED, read_log
from contentapi.streams.plans import FIRST_ROWS, Excerpt, Plan

if TYPE_CHECKING:
    from contentapi.streams.hub import Hub
    from contentapi.streams.stream import Stream

OUTAGES = (DatabaseError, Unavailable)
T = TypeVar("T")


class Readers(ThreadPoolExecutor):
    """Threads that use the database, each with a connection of its own."""

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function in one of the threads."""
        return await asyncio.get_running_loop().run_in_executor(self, call_with_connection, function, *arguments)


def call_with_connection(function: Callable[..., T], *arguments: Any) -> T:
    close_unusable_connection()
    return function(*arguments)


class Reading:
    """How far a plan was read."""

    def __init__(self, hub: Hub, plan: Plan, position: int) -> None:
        self.hub = hub
        self.plan = plan
        self.position = position
        self.most_rows = plan.most_rows
        self.rows = min(FIRST_ROWS, self.most_rows)

    async def read_next(self, end: int) -> Excerpt | None:
        """Read what is next, up to a position. Return None if the caller has to try again.

        That is after an outage, whose end this waits for, or if a statement took too long for so many rows.
        """
        await self.hub.is_checked.wait()
        try:
            excerpt = await self.hub.readers.run(self.read, end)
        except OUTAGES as error:
            if self.rows > 1 and isinstance(error.__cause__, QueryCanceled):
                self.rows = self.most_rows = max(1, self.rows // 8)
                return None
            if not may_end(error):
                raise
            self.hub.is_checked.clear()
            await asyncio.sleep(STREAM_RETRY_INTERVAL)
            return None
        if excerpt is not None:
            self.rows, self.position = min(excerpt.rows, self.most_rows), excerpt.end
        return excerpt

    def read(self, end: int) -> Excerpt | None:
        """Read in a thread. While this waited for one, its streams may have left, or the database may have failed."""
        if not self.hub.is_checked.is_set() or not self.is_needed():
            return None
        return self.plan.read(self.hub.log, self.position, end, self.rows)

    def is_needed(self) -> bool:
        """Return whether anybody waits for what is read."""
        raise NotImplementedError


class Resumption(Reading):
    """What a stream at an old cursor reads for itself."""

    def __init__(self, hub: Hub, stream: Stream) -> None:
        super().__init__(hub, stream.opening.plan, stream.position)
        self.stream = stream

    def is_needed(self) -> bool:
        return not self.stream.has_ended()

    def read(self, end: int) -> Excerpt | None:
        """Raises `EventsExpired` if events have been dropped before they were read."""
        excerpt = super().read(end)
        log = read_log()
        if log.epoch != self.hub.log.epoch or self.position < log.expired:
            raise EventsExpired(EXPIRED)
        return excerpt


def may_end(error: Exception) -> bool:
    """Return whether streams wait for the end of an error: the database is away, or a migration has still to run."""
    is_of_statement = isinstance(error, OperationalError) and not is_outage(error)  # such as one that takes too long
    return isinstance(to_api_error(error), Unavailable) and not is_of_statement
