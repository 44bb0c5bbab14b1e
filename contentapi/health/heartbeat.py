"""The heartbeat of the jobs of the worker: it writes to the database that they are alive, and when they last succeeded.

A thread with a connection of its own writes every `HEARTBEAT_INTERVAL` seconds, so long work does not look like a dead
worker. A job that hangs would still beat. So its row also has the time of the last progress: each statement and each
round that ends. After an error there is no progress until a whole round succeeds: a job that fails in each round makes
none.

The times are those of the database, and ages are computed there. The times of the hosts may differ.
"""

import logging
from collections.abc import Callable, Iterable
from threading import Event, Thread
from time import monotonic
from typing import Any

from contentapi.conf import timeouts
from contentapi.db.watch.link import DeadlineConnection, QueryFailed
from contentapi.health.results import OK, CheckResult, failed

LOG = logging.getLogger("contentapi.worker")

# INSERT … VALUES ('imports', clock_timestamp(), clock_timestamp() - make_interval(secs => 0.125)), ('search', …
BEAT = """
    INSERT INTO contentapi_jobheartbeat (job, beat_at, worked_at) VALUES {rows}
    ON CONFLICT (job) DO UPDATE SET beat_at = excluded.beat_at,
      worked_at = least(greatest(contentapi_jobheartbeat.worked_at, excluded.worked_at), excluded.beat_at)
    RETURNING pg_backend_pid()
"""
ROW = "('{job}', clock_timestamp(), clock_timestamp() - make_interval(secs => {idle:.3f}))"
READ_AGES = """
    SELECT job, extract(epoch FROM clock_timestamp() - beat_at)::bigint,
      extract(epoch FROM clock_timestamp() - worked_at)::bigint
    FROM contentapi_jobheartbeat ORDER BY job
"""
POOLED = (
    "The worker uses the database through a connection pooler, and its locks and settings would affect other clients. "
    "Set its DATABASE_URL to the address of PostgreSQL."
)
START = "Start one worker: python manage.py worker"
REPAIR = (
    f"{START} (restart it if it hangs; its log says why). "
    "If this deployment needs none any more: python manage.py worker --retire"
)
NO_WORKER = CheckResult("skipped", "No worker has run on this database.", START)


class Progress:
    """The progress of one job. It is an execute wrapper for the connection of the job."""

    def __init__(self) -> None:
        self.is_waiting = True  # for the next round
        self.has_failed = False
        self.progress_at = self.active_at = monotonic()

    def begin_round(self) -> None:
        self.note_activity()
        self.is_waiting = False

    def end_round(self, *, has_failed: bool) -> None:
        self.has_failed = has_failed
        self.note_activity()
        self.is_waiting = True

    def note_activity(self) -> None:
        """Note that the job does not hang. This is progress, unless its last round has failed."""
        self.active_at = monotonic()
        if not self.has_failed:
            self.progress_at = self.active_at

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:  # noqa: FBT001
        """Execute a statement for Django, and note the activity."""
        result = execute(sql, params, many, context)
        self.note_activity()
        return result

    @property
    def idle(self) -> float:
        """The seconds without progress. A job that waits for its next round needs none."""
        return 0.0 if self.is_waiting and not self.has_failed else monotonic() - self.progress_at

    @property
    def is_hanging(self) -> bool:
        return not self.is_waiting and monotonic() - self.active_at > timeouts.JOB_PROGRESS_LIMIT


class Heartbeat:
    """The heartbeat of the jobs of one worker. `report_alive` is called before each beat, unless a job hangs."""

    def __init__(self, jobs: Iterable[str], report_alive: Callable[[], object] = lambda: None) -> None:
        self.jobs = {job: Progress() for job in sorted(jobs)}  # all workers lock the rows in the same order
        self.report_alive = report_alive
        self.is_warned = False
        self.stopped = Event()
        self.thread = Thread(target=self.beat_until_stopped, name="heartbeat", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self.stopped.set()
        self.thread.join(timeouts.HEARTBEAT_TIME_LIMIT + 1)

    def beat_until_stopped(self) -> None:
        connection = DeadlineConnection()
        try:
            while not self.stopped.is_set():
                if not any(progress.is_hanging for progress in self.jobs.values()):
                    self.report_alive()
                is_written = self.beat(connection)
                self.stopped.wait(timeouts.HEARTBEAT_INTERVAL if is_written else timeouts.HEARTBEAT_RETRY_INTERVAL)
        finally:
            connection.close()

    def beat(self, connection: DeadlineConnection) -> bool:
        """Write one beat. Return whether it succeeded. The worker itself logs an outage of the database."""
        rows = ", ".join(ROW.format(job=job, idle=progress.idle) for job, progress in self.jobs.items())
        try:
            ((pid, *_), *_) = connection.query(BEAT.format(rows=rows), monotonic() + timeouts.HEARTBEAT_TIME_LIMIT)
            if connection.is_pooled(pid) and not self.is_warned:
                self.is_warned = True
                LOG.warning(POOLED)
        except QueryFailed:
            for progress in self.jobs.values():  # without a database or its table, the jobs need not make progress
                progress.progress_at = progress.active_at = monotonic()
            return False
        except Exception:
            LOG.exception("The heartbeat of the worker failed, and continues.")
            return False
        return True


def check_worker(connection: DeadlineConnection, deadline: float) -> CheckResult:
    """Check the ages of the heartbeats. A database on which no worker has run has none, and needs none.

    Of jobs with several workers, one that makes progress is enough. A job that no worker has any more is ignored.
    """
    ages = connection.query(READ_AGES, deadline)
    if not ages:
        return NO_WORKER
    silence = min(silent for _, silent, _ in ages)
    if silence > timeouts.HEARTBEAT_LIMIT:
        return failed(f"No worker process has been alive for {silence} seconds.", REPAIR)
    running = [(job, idle) for job, silent, idle in ages if silent <= timeouts.HEARTBEAT_LIMIT]
    stuck = [f"{job} for {idle} seconds" for job, idle in running if idle > timeouts.JOB_PROGRESS_LIMIT]
    if stuck:
        jobs = ", ".join(stuck)
        return failed(f"The worker process is alive, but jobs have made no progress: {jobs}.", REPAIR)
    return OK
