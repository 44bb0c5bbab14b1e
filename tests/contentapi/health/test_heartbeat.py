"""The heartbeat of the worker: dead workers, jobs that hang or fail, long work, and hosts with other times."""

import re
from threading import Event
from time import monotonic, sleep

import pytest
from django.core.management import call_command
from django.db import connection as django_connection

from contentapi.conf.timeouts import HEARTBEAT_LIMIT, JOB_PROGRESS_LIMIT
from contentapi.db.watch.link import DeadlineConnection, QueryFailed
from contentapi.health.heartbeat import Heartbeat, Progress, check_worker
from contentapi.health.results import OK, CheckResult
from contentapi.models import JobHeartbeat
from contentapi.worker.jobs import Job
from contentapi.worker.runner import Worker
from tests.contentapi.health.commits import commit

pytestmark = pytest.mark.usefixtures("no_heartbeat")


def check(connection: DeadlineConnection) -> CheckResult:
    return check_worker(connection, monotonic() + 10)


def make_heartbeat(*jobs: str) -> Heartbeat:
    """Return the heartbeat of a worker whose jobs are in a round."""
    heartbeat = Heartbeat(jobs or ["imports"])
    for progress in heartbeat.jobs.values():
        progress.begin_round()
    return heartbeat


def age(seconds: int, column: str) -> None:
    """Make the last beat or the last progress older."""
    commit(f"UPDATE contentapi_jobheartbeat SET {column} = {column} - interval '{seconds} seconds'")  # noqa: S608


def test_database_on_which_no_worker_ran_needs_none(connection: DeadlineConnection) -> None:
    assert check(connection).status == "skipped"


def test_worker_that_beats_is_alive_and_one_that_stopped_is_not(connection: DeadlineConnection) -> None:
    assert make_heartbeat().beat(connection)
    assert check(connection) == OK

    age(HEARTBEAT_LIMIT + 5, "beat_at")

    result = check(connection)
    assert result.status == "failed"
    seconds = re.fullmatch(r"No worker process has been alive for (\d+) seconds\.", result.reason)
    assert seconds is not None
    assert HEARTBEAT_LIMIT + 5 <= int(seconds[1]) < HEARTBEAT_LIMIT + 100


def test_job_that_hangs_beats_but_is_a_failure_with_its_name(connection: DeadlineConnection) -> None:
    heartbeat = make_heartbeat("imports", "search")
    heartbeat.jobs["imports"].progress_at -= JOB_PROGRESS_LIMIT + 5
    heartbeat.beat(connection)

    result = check(connection)

    assert result.status == "failed"
    assert re.search(r"is alive, but jobs have made no progress: imports for 1[2-9]. seconds\.$", result.reason)


def test_progress_of_one_worker_is_not_undone_by_another_that_hangs(connection: DeadlineConnection) -> None:
    hanging = make_heartbeat()
    hanging.jobs["imports"].progress_at -= 1000
    make_heartbeat().beat(connection)
    hanging.beat(connection)

    assert check(connection) == OK


def test_job_that_no_worker_has_any_more_is_no_failure(connection: DeadlineConnection) -> None:
    make_heartbeat("removed").beat(connection)
    age(JOB_PROGRESS_LIMIT + 5, "beat_at")
    age(JOB_PROGRESS_LIMIT + 5, "worked_at")
    make_heartbeat().beat(connection)

    assert check(connection) == OK


def test_job_that_waits_after_a_success_is_not_idle_and_one_that_failed_is() -> None:
    progress = Progress()
    progress.begin_round()
    progress.end_round(has_failed=False)
    progress.progress_at -= 1000
    assert progress.idle == 0

    progress.begin_round()
    progress.end_round(has_failed=True)
    progress.progress_at -= 1000
    assert progress.idle >= 1000
    assert not progress.is_hanging


def test_each_statement_is_progress_until_an_error_and_again_after_a_round() -> None:
    progress = Progress()
    progress.begin_round()

    def execute_one_statement() -> bool:
        progress.progress_at = 0.0
        with django_connection.execute_wrapper(progress), django_connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return progress.progress_at > 0

    assert execute_one_statement()
    progress.end_round(has_failed=True)
    assert not execute_one_statement()
    progress.end_round(has_failed=False)
    assert execute_one_statement()


def test_time_of_a_future_beat_is_no_failure(connection: DeadlineConnection) -> None:
    """After a failover the new primary may be behind."""
    make_heartbeat().beat(connection)
    age(-300, "beat_at")
    age(-300, "worked_at")

    assert check(connection) == OK
    assert make_heartbeat().beat(connection)
    assert abs((JobHeartbeat.objects.get().beat_at - JobHeartbeat.objects.get().worked_at).total_seconds()) < 100


def test_outage_of_the_database_is_not_missing_progress() -> None:
    class Unavailable(DeadlineConnection):
        def query(self, *_: object) -> list[tuple[str | None, ...]]:
            raise QueryFailed

    heartbeat, began = make_heartbeat(), monotonic()
    heartbeat.jobs["imports"].progress_at = 0.0

    assert not heartbeat.beat(Unavailable())
    assert heartbeat.jobs["imports"].progress_at >= began


@pytest.mark.django_db(transaction=True)
def test_running_worker_beats_at_once_and_stops(connection: DeadlineConnection) -> None:
    with Worker([Job("imports", Event.is_set, interval=600)]):
        deadline = monotonic() + 60
        while not JobHeartbeat.objects.exists() and monotonic() < deadline:
            sleep(0.05)
        assert check(connection) == OK
    age(HEARTBEAT_LIMIT + 1, "beat_at")
    assert check(connection).status == "failed"


@pytest.mark.django_db(transaction=True)
def test_retired_worker_is_not_expected(connection: DeadlineConnection, capsys: pytest.CaptureFixture[str]) -> None:
    make_heartbeat().beat(connection)
    age(HEARTBEAT_LIMIT + 1, "beat_at")

    call_command("worker", "--retire")

    assert check(connection).status == "skipped"
    assert capsys.readouterr().err == "No worker is expected until one runs again.\n"
