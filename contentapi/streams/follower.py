"""Follow the log, in a thread of its own.

It hears of a batch by the notification of the relay, and looks each second in any case: behind a pooler there are no
notifications.
"""

from __future__ import annotations

import time
from typing import Any

from django.db import connection

from contentapi.conf.timeouts import STREAM_FOLLOW_INTERVAL
from contentapi.db.engine.pooling import is_pooled
from contentapi.events.feed import LogState, read_log
from contentapi.events.relay import CHANNEL
from contentapi.streams.plans import Batch, build_batch, select_batch
from contentapi.streams.readers import Readers

EVENTS_PER_BATCH = 1000


class Follower(Readers):
    """The thread, whose connection listens."""

    def __init__(self) -> None:
        super().__init__(1, "follower")
        self.listening: Any = None  # the connection of psycopg

    async def wait(self, known: LogState) -> tuple[LogState, Batch]:
        """Return the next batch after a state of the log. It is empty after a while without events.

        Raises errors of the database. The next call has a new connection then.
        """
        return await self.run(self.read_next, known)

    def read_next(self, known: LogState) -> tuple[LogState, Batch]:
        try:
            return self.read(known)
        except Exception:
            connection.close()
            raise

    def read(self, known: LogState) -> tuple[LogState, Batch]:
        self.listen()
        log = read_log()
        if (log.epoch, log.position) == (known.epoch, known.position):
            self.wait_for_notification()
            log = read_log()
        if log.epoch != known.epoch:
            return log, build_batch([], log.position)
        rows = [*select_batch(known.position).filter(position__lte=log.position)[:EVENTS_PER_BATCH]]
        if len(rows) == EVENTS_PER_BATCH:
            log.position = rows[-1][0]
        return log, build_batch(rows, log.position)

    def listen(self) -> None:
        connection.ensure_connection()
        if connection.connection is not self.listening:
            if not is_pooled(connection):
                connection.connection.execute(f"LISTEN {CHANNEL}")
            self.listening = connection.connection

    def wait_for_notification(self) -> None:
        """Wait for a moment, or until the relay has moved events."""
        if is_pooled(connection):
            time.sleep(STREAM_FOLLOW_INTERVAL)
        # Statements take notifications from the socket, on which the generator would then wait for more.
        elif self.listening.pgconn.notifies() is None:
            list(self.listening.notifies(timeout=STREAM_FOLLOW_INTERVAL, stop_after=1))
