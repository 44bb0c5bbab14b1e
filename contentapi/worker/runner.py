"""Run jobs, each in a thread with a database connection of its own: a job that hangs or fails delays no other.

`manage.py worker` and `make run` run a worker. Several can run at the same time, also on several hosts.
"""

import logging
from collections.abc import Callable, Iterable
from threading import Event, Lock, Thread
from time import monotonic, time
from typing import Self

from django.db import Error as DatabaseErrors
from django.db import connection

from contentapi.conf import timeouts
from contentapi.db.outages import is_outage
from contentapi.db.statements import execute
from contentapi.health.heartbeat import Heartbeat, Progress
from contentapi.monitoring.figures import FIGURES, Sample
from contentapi.worker.jobs import Job

LOG = logging.getLogger("contentapi.worker")
# A job must be able to stop.
LIMITS = f"SET statement_timeout = '{timeouts.JOB_STATEMENT_TIMEOUT}s'; "
LIMITS += f"SET lock_timeout = '{timeouts.JOB_LOCK_TIMEOUT}s'"
OUTAGE = "the database does not answer"


class Worker:
    """Runs jobs in the block of a `with` statement.

    `report_alive` is called every few seconds, unless a job hangs.
    """

    def __init__(self, jobs: Iterable[Job], report_alive: Callable[[], object] = lambda: None) -> None:
        self.stop = Event()
        self.jobs = {job.name: job for job in jobs}
        self.heartbeat = Heartbeat(self.jobs, report_alive)
        self.threads = [
            Thread(target=self.run_job, args=[job], name=name, daemon=True) for name, job in self.jobs.items()
        ]
        self.lock = Lock()
        self.problems: dict[str, str] = {}  # with the database, by the job

    def __enter__(self) -> Self:
        FIGURES.gauge_sources.append(self.measure)
        self.heartbeat.start()
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        end = monotonic() + timeouts.WORKER_STOP_LIMIT
        for thread in self.threads:
            thread.join(max(0.0, end - monotonic()))
        self.heartbeat.stop()
        FIGURES.gauge_sources.remove(self.measure)

    def run_job(self, job: Job) -> None:
        """Run the rounds of a job until the worker stops."""
        progress = self.heartbeat.jobs[job.name]
        for name in ("contentapi_job_seconds_total", "contentapi_job_failures_total"):
            FIGURES.count(name, job.name, amount=0)  # Prometheus sees the first increase
        try:
            with connection.execute_wrapper(progress):
                while not self.stop.is_set():
                    self.run_round(job, progress)
                    self.stop.wait(min(job.pause, timeouts.JOB_RETRY_INTERVAL) if progress.has_failed else job.pause)
        finally:
            connection.close()

    def run_round(self, job: Job, progress: Progress) -> None:
        """Run one round of a job, and log its error."""
        begin = monotonic()
        progress.begin_round()
        has_failed = True
        try:
            execute(LIMITS)
            job.run(self.stop)
            has_failed = False
            with self.lock:
                self.problems.pop(job.name, None)
        except DatabaseErrors as error:
            self.log_problem(job, error)
        except Exception:
            LOG.exception("The job %s failed, and continues.", job.name)
        if has_failed or job.pause > timeouts.JOB_CONNECTION_INTERVAL:
            connection.close()
        progress.end_round(has_failed=has_failed)
        FIGURES.count("contentapi_job_seconds_total", job.name, amount=monotonic() - begin)
        FIGURES.count("contentapi_job_failures_total", job.name, amount=has_failed)

    def log_problem(self, job: Job, error: DatabaseErrors) -> None:
        """Log a problem with the database, once for all jobs that have it until they have succeeded again."""
        problem = OUTAGE if is_outage(error) else str(error)
        with self.lock:
            is_known = problem in self.problems.values()
            self.problems[job.name] = problem
        if not is_known:
            LOG.warning("The job %s cannot use the database, and continues to try: %s", job.name, str(error).strip())

    def measure(self) -> list[Sample]:
        now = time()
        name = "contentapi_job_last_success_timestamp_seconds"
        return [(name, (job,), now - progress.idle) for job, progress in self.heartbeat.jobs.items()]
