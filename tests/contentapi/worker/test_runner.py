"""The worker: each job has a thread, survives errors and an outage of the database, and stops on request."""

from collections.abc import Callable
from threading import Event
from time import monotonic, sleep

import pytest
from django.db import OperationalError, ProgrammingError, connection
from psycopg import errors

from contentapi.conf import timeouts
from contentapi.conf.timeouts import JOB_PROGRESS_LIMIT
from contentapi.monitoring.figures import FIGURES
from contentapi.worker import runner
from contentapi.worker.jobs import Job
from contentapi.worker.runner import Worker

pytestmark = pytest.mark.django_db(transaction=True)
LOST = OperationalError("the connection is lost")


@pytest.fixture(autouse=True)
def retry_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeouts, "JOB_RETRY_INTERVAL", 0.01)


def wait_until(condition: Callable[[], object]) -> None:
    deadline = monotonic() + 60
    while not condition():
        assert monotonic() < deadline
        sleep(0.01)


class Rounds:
    """The rounds of a job. Those for which there is an error raise it."""

    def __init__(self, *problems: Exception) -> None:
        self.problems = list(problems)
        self.number = 0

    def __call__(self, _: Event) -> None:
        self.number += 1
        if self.problems:
            raise self.problems.pop(0)


def list_messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "contentapi.worker"]


def test_job_continues_after_an_outage_and_logs_it_once(caplog: pytest.LogCaptureFixture) -> None:
    rounds = Rounds(LOST, LOST)
    with Worker([Job("a", rounds, interval=600)]):
        wait_until(lambda: rounds.number == 3)

    assert list_messages(caplog) == ["The job a cannot use the database, and continues to try: the connection is lost"]


def test_outage_is_logged_once_for_all_jobs_and_a_wrong_statement_for_its_job(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wrong = ProgrammingError("there is no such table")
    wrong.__cause__ = errors.UndefinedTable()
    first, second, third = Rounds(*[LOST] * 5), Rounds(*[LOST] * 5), Rounds(*[wrong] * 5)
    worker = Worker(Job(name, run, interval=600) for name, run in {"a": first, "b": second, "c": third}.items())
    worker.problems["earlier"] = runner.OUTAGE  # another job has logged it
    with worker:
        wait_until(lambda: (first.number, second.number, third.number) == (6, 6, 6))

    assert list_messages(caplog) == ["The job c cannot use the database, and continues to try: there is no such table"]


def test_job_that_fails_in_each_round_delays_no_other(caplog: pytest.LogCaptureFixture) -> None:
    failing, working = Rounds(*[RuntimeError("unexpected")] * 1000), Rounds()
    with Worker([Job("failing", failing, interval=0.01), Job("working", working, interval=0.01)]) as worker:
        wait_until(lambda: failing.number > 3 and working.number > 3)
        assert worker.heartbeat.jobs["failing"].has_failed
        assert not worker.heartbeat.jobs["working"].has_failed

    assert set(list_messages(caplog)) == {"The job failing failed, and continues."}


def test_job_that_hangs_delays_no_other_and_is_reported() -> None:
    end, working, alive = Event(), Rounds(), []
    jobs = [Job("hanging", lambda _: end.wait(60), interval=1), Job("working", working, interval=0.01)]
    worker = Worker(jobs, lambda: alive.append(1))
    hanging = worker.heartbeat.jobs["hanging"]
    with worker:
        wait_until(lambda: working.number > 3 and alive and not hanging.is_waiting)
        hanging.active_at -= JOB_PROGRESS_LIMIT + 1
        assert hanging.is_hanging
        assert not worker.heartbeat.jobs["working"].is_hanging
        end.set()


def test_stop_is_not_delayed_by_the_interval_and_ends_a_long_round() -> None:
    rounds = Rounds()
    began = Event()

    def work(stop: Event) -> None:
        began.set()
        stop.wait(60)

    worker = Worker([Job("waiting", rounds, interval=600), Job("long", work, interval=600)])
    with worker:
        wait_until(lambda: rounds.number == 1 and began.is_set())

    assert not any(thread.is_alive() for thread in worker.threads)


def test_statements_of_a_job_have_time_limits() -> None:
    limits = []

    def work(_: Event) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('statement_timeout'), current_setting('lock_timeout')")
            limits.append(cursor.fetchone())

    with Worker([Job("a", work, interval=600)]):
        wait_until(lambda: limits)

    assert limits == [("1min", "2s")]


def test_metrics_count_the_failures_and_the_time_of_each_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FIGURES, "is_enabled", True)
    FIGURES.reset()
    rounds = Rounds(RuntimeError())
    with Worker([Job("a", rounds, interval=600)]):
        wait_until(lambda: rounds.number == 2)
        snapshot = FIGURES.take_snapshot()
    FIGURES.reset()

    counters = {(name, labels): value for name, labels, value in snapshot.counters}
    assert counters["contentapi_job_failures_total", ("a",)] == 1
    assert counters["contentapi_job_seconds_total", ("a",)] > 0
    assert ("contentapi_job_last_success_timestamp_seconds", ("a",)) in {sample[:2] for sample in snapshot.gauges}
