"""Threads that use the database, and what one of them does: follow the log.

It hears of a batch by the notification of the relay, and looks each second in any case: behind a pooler there are no
notifications.
"""

import asyncio
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import Error as DatabaseError
from django.db import close_old_connections, connection

from contentapi.conf.timeouts import STREAM_FOLLOW_INTERVAL
from contentapi.core.errors import Unavailable
from contentapi.events.feed import LogState, read_log
from contentapi.events.models import Event
from contentapi.events.relay import CHANNEL

OUTAGES = (DatabaseError, Unavailable)
COLUMNS = ("position", "type", "subject_id", "parent_id", "is_public")
EVENTS_PER_BATCH = 1000
T = TypeVar("T")


class Readers(ThreadPoolExecutor):
    """Threads that use the database, each with a connection of its own."""

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function in one of the threads. One that is cancelled while it waits for a thread is not called."""

        def call() -> T:
            close_old_connections()
            return function(*arguments)

        return await asyncio.get_running_loop().run_in_executor(self, call)


class Batch:
    """What has happened up to the position `end`: enough to tell which plans may have to read."""

    def __init__(self, rows: Collection[tuple[int, str, int, int | None, bool]], end: int) -> None:
        """Each row has the `COLUMNS` of an event."""
        self.end = end
        self.types = {name for _, name, _, _, _ in rows}
        self.public_types = {name for _, name, _, _, is_public in rows if is_public}
        self.subjects = {subject for _, _, subject, _, _ in rows}
        self.objects = self.subjects.union(parent for _, _, _, parent, _ in rows if parent is not None)


class Follower(Readers):
    """One thread, whose connection listens."""

    def __init__(self) -> None:
        super().__init__(1, "follower")
        self.listening: Any = None  # the connection of psycopg
        self.is_pooled = False  # a session behind a pooler hears nothing

    def read_next(self, known: LogState) -> tuple[LogState, Batch]:
        """Return the next batch after a state of the log. It is empty after a while without events.

        Raises errors of the database. The next call has a new connection then.
        """
        try:
            self.listen()
            log = read_log()
            if (log.epoch, log.position) == (known.epoch, known.position):
                self.wait_for_notification()
                log = read_log()
            return self.read_batch(known, log)
        except Exception:
            connection.close()
            raise

    def read_batch(self, known: LogState, log: LogState) -> tuple[LogState, Batch]:
        if log.epoch != known.epoch:
            return log, Batch([], log.position)
        events = Event.objects.filter(position__gt=known.position, position__lte=log.position)
        rows = [*events.order_by("position").values_list(*COLUMNS)[:EVENTS_PER_BATCH]]
        if len(rows) == EVENTS_PER_BATCH:
            log.position = rows[-1][0]
        return log, Batch(rows, log.position)

    def listen(self) -> None:
        connection.ensure_connection()
        if connection.connection is not self.listening:
            self.listening = connection.connection
            (pid,) = self.listening.execute("SELECT pg_backend_pid()").fetchone()
            self.is_pooled = pid != self.listening.info.backend_pid  # a pooler has reported its own process id
            if not self.is_pooled:
                self.listening.execute(f"LISTEN {CHANNEL}")

    def wait_for_notification(self) -> None:
        """Wait for a moment, or until the relay has moved events."""
        if self.is_pooled:
            time.sleep(STREAM_FOLLOW_INTERVAL)
        # Statements take notifications from the socket, on which the generator would then wait for more.
        elif self.listening.pgconn.notifies() is None:
            list(self.listening.notifies(timeout=STREAM_FOLLOW_INTERVAL, stop_after=1))
