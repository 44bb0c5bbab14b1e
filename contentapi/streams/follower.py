"""Follow the log: a thread that passes each batch of events to the hub.

It hears of a batch by the notification of the relay, and looks each second in any case: behind a pooler there are no
notifications. When the database was gone, or users have changed, the credentials of all streams are checked before
anything is sent again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event as StopEvent
from threading import Thread
from time import monotonic

import psycopg
from django.db import Error as DatabaseError
from django.db import InterfaceError, connection

from contentapi.conf.timeouts import STREAM_FOLLOW_INTERVAL, STREAM_RETRY_INTERVAL
from contentapi.core.errors import Unavailable
from contentapi.db.engine.pooling import is_pooled
from contentapi.events.feed import LogState, read_log
from contentapi.events.relay import CHANNEL
from contentapi.streams.plans import Batch, build_batch, select_batch

LOG = logging.getLogger("contentapi.streams")
EVENTS_PER_ROUND = 1000
USERS = "user."  # types of events
FAILURES = (DatabaseError, InterfaceError, Unavailable, psycopg.Error)


class Follower:
    """The thread. `announce` gets each batch. `prepare` is called before the first one after an outage
    and before one with changes of users.

    `seen_at` is the time of the last look at the log, by the monotonic clock.
    """

    def __init__(self, announce: Callable[[LogState, Batch], None], prepare: Callable[[], bool]) -> None:
        self.pass_on = announce
        self.prepare = prepare
        self.stop = StopEvent()
        self.seen_at = float("-inf")
        self.log: LogState | None = None
        self.thread = Thread(target=self.run, name="follower", daemon=True)

    def run(self) -> None:
        """Follow the log until the end, through all outages of the database. Log each outage once."""
        has_failed = False
        while not self.stop.is_set():
            try:
                connection.close()
                self.follow(was_away=has_failed)
            except FAILURES as error:
                if not has_failed:
                    LOG.warning("The log of events cannot be read, and streams wait: %s", str(error).strip())
                has_failed = True
                self.stop.wait(STREAM_RETRY_INTERVAL)
            except Exception:
                LOG.exception("The follower of the log failed, and begins again.")
                self.stop.wait(STREAM_RETRY_INTERVAL)
        connection.close()

    def follow(self, *, was_away: bool) -> None:
        """Follow the log on a new connection. Raises `FAILURES`."""
        connection.ensure_connection()
        may_listen = not is_pooled(connection)
        raw = connection.connection
        if may_listen:
            raw.execute(f"LISTEN {CHANNEL}")
        if was_away:
            self.check_credentials()
            LOG.info("The log of events can be read again.")
        while not self.stop.is_set():
            self.read_on()
            if not may_listen:
                self.stop.wait(STREAM_FOLLOW_INTERVAL)
                continue
            # Statements take notifications from the socket, on which the generator would then wait for more.
            if raw.pgconn.notifies() is None:
                list(raw.notifies(timeout=STREAM_FOLLOW_INTERVAL, stop_after=1))

    def read_on(self) -> None:
        """Pass on all batches since the last round, or the first state of the log."""
        log = read_log()
        known = self.log
        if known is None or known.epoch != log.epoch:
            self.announce(log, build_batch([], log.position))
        else:
            position = known.position
            while position < log.position:
                rows = [*select_batch(position).filter(position__lte=log.position)[:EVENTS_PER_ROUND]]
                end = rows[-1][0] if len(rows) == EVENTS_PER_ROUND else log.position
                position = end
                self.announce(LogState(log.epoch, end, log.expired), build_batch(rows, end))
        self.log = log
        self.seen_at = monotonic()

    def check_credentials(self) -> None:
        """Wait until the credentials of all streams have been checked."""
        while not self.stop.is_set() and not self.prepare():
            self.stop.wait(STREAM_RETRY_INTERVAL)

    def announce(self, log: LogState, batch: Batch) -> None:
        if any(name.startswith(USERS) for name in batch.types):  # the stream of a locked user gets no later event
            self.check_credentials()
        self.pass_on(log, batch)
        self.log = log
