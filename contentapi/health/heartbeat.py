"""The heartbeat of the clock: the clock writes to the database that it is alive, and when it last made progress.

A thread with a connection of its own writes every `BEAT_INTERVAL` seconds, so long work does not look like a dead
clock. A clock that hangs would still beat. So the row also has the time of the last progress: the clock notes each
statement that ends. After an error it notes nothing until a whole round succeeds: a clock that fails in each round
makes no progress.

The times are those of the database, and ages are computed there. The hosts' clocks may differ.
"""

import logging
from collections.abc import Callable
from threading import Event, Thread
from time import monotonic
from typing import Any, Self

from contentapi.db.watch.link import DatabaseUnavailable, DeadlineConnection, QueryFailed
from contentapi.health.results import OK, CheckResult, failed

LOG = logging.getLogger("contentapi.clock")
BEAT_INTERVAL = 5.0  # seconds
RETRY_INTERVAL = 1.0  # seconds after a beat that failed
TIME_LIMIT = 3.0  # seconds for one beat
BEAT_LIMIT = 60  # seconds without a beat: more than the restart of a clock takes
PROGRESS_LIMIT = 120  # seconds without progress: twice the time limit of a statement of the clock

BEAT = """
    INSERT INTO contentapi_clockheartbeat (id, beat_at, worked_at)
    VALUES (1, clock_timestamp(), clock_timestamp() - make_interval(secs => {idle:.3f}))
    ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at,
      worked_at = least(greatest(contentapi_clockheartbeat.worked_at, excluded.worked_at), excluded.beat_at)
"""
READ_AGES = """
    SELECT extract(epoch FROM clock_timestamp() - beat_at)::bigint,
      extract(epoch FROM clock_timestamp() - worked_at)::bigint
    FROM contentapi_clockheartbeat
"""
NO_CLOCK = CheckResult("skipped", "No clock has run on this database.")


class Heartbeat:
    """The heartbeat of one clock. Use it as a context manager around the clock's work, and as an execute wrapper."""

    def __init__(self) -> None:
        self.progress_at = monotonic()
        self.has_failed = False
        self.stopped = Event()
        self.thread = Thread(target=self.beat_until_stopped, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.thread.join(TIME_LIMIT + 1)

    def note_round(self) -> None:
        """Note that a round ended without an error."""
        self.has_failed = False
        self.progress_at = monotonic()

    def note_failure(self) -> None:
        self.has_failed = True

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:  # noqa: FBT001
        """Execute a statement for Django, and note the progress."""
        result = execute(sql, params, many, context)
        if not self.has_failed:
            self.progress_at = monotonic()
        return result

    def beat_until_stopped(self) -> None:
        connection = DeadlineConnection()
        try:
            while not self.stopped.wait(BEAT_INTERVAL if self.beat(connection) else RETRY_INTERVAL):
                pass
        finally:
            connection.close()

    def beat(self, connection: DeadlineConnection) -> bool:
        """Write one beat. Return whether it succeeded. The clock itself logs an outage of the database."""
        try:
            connection.query(BEAT.format(idle=monotonic() - self.progress_at), monotonic() + TIME_LIMIT)
        except DatabaseUnavailable:
            self.progress_at = monotonic()  # without a database, the clock need not make progress
            return False
        except QueryFailed:  # the table does not exist yet
            return False
        except Exception:
            LOG.exception("The heartbeat of the clock failed, and continues.")
            return False
        return True


def check_clock(connection: DeadlineConnection, deadline: float) -> CheckResult:
    """Check the age of the heartbeat. A database on which no clock has run has none, and needs none."""
    ages = connection.query(READ_AGES, deadline)
    if not ages:
        return NO_CLOCK
    silent, idle = (int(age or 0) for age in ages[0])
    if silent > BEAT_LIMIT:
        return failed(f"No clock process has been alive for {silent} seconds.")
    if idle > PROGRESS_LIMIT:
        return failed(f"The clock process is alive, but has made no progress for {idle} seconds.")
    return OK
