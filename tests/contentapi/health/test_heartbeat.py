"""The heartbeat of the clock: what a dead clock, a clock that hangs, long work and hosts with other times look like."""

import re
from threading import Event, Thread
from time import monotonic, sleep

import pytest
from django.core.management import call_command
from django.db import connection as django_connection

from contentapi import clock
from contentapi.db.watch.link import DatabaseUnavailable, DeadlineConnection
from contentapi.health.heartbeat import BEAT_LIMIT, PROGRESS_LIMIT, Heartbeat, check_clock
from contentapi.health.results import OK, CheckResult
from contentapi.models import ClockHeartbeat
from tests.contentapi.health.commits import commit

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_heartbeat")]


def check(connection: DeadlineConnection) -> CheckResult:
    return check_clock(connection, monotonic() + 10)


def age(seconds: int, column: str) -> None:
    """Make the last beat or the last progress older."""
    commit(f"UPDATE contentapi_clockheartbeat SET {column} = {column} - interval '{seconds} seconds'")  # noqa: S608


def test_database_on_which_no_clock_ran_needs_none(connection: DeadlineConnection) -> None:
    assert check(connection).status == "skipped"


def test_clock_that_beats_is_alive_and_one_that_stopped_is_not(connection: DeadlineConnection) -> None:
    assert Heartbeat().beat(connection)
    assert check(connection) == OK

    age(BEAT_LIMIT + 5, "beat_at")

    result = check(connection)
    assert result.status == "failed"
    seconds = re.fullmatch(r"No clock process has been alive for (\d+) seconds\.", result.reason)
    assert seconds is not None
    assert BEAT_LIMIT + 5 <= int(seconds[1]) < BEAT_LIMIT + 100


def test_clock_that_hangs_beats_but_is_a_failure(connection: DeadlineConnection) -> None:
    heartbeat = Heartbeat()
    heartbeat.progress_at -= PROGRESS_LIMIT + 5
    heartbeat.beat(connection)

    result = check(connection)

    assert result.status == "failed"
    assert re.search("is alive, but has made no progress for 1[2-9]. seconds", result.reason)


def test_progress_of_one_clock_is_not_undone_by_another_that_hangs(connection: DeadlineConnection) -> None:
    hanging = Heartbeat()
    hanging.progress_at -= 1000
    Heartbeat().beat(connection)
    hanging.beat(connection)

    assert check(connection) == OK


def test_each_statement_is_progress_until_an_error_and_again_after_a_round() -> None:
    heartbeat = Heartbeat()

    def execute_one_statement() -> bool:
        heartbeat.progress_at = 0.0
        with django_connection.execute_wrapper(heartbeat), django_connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return heartbeat.progress_at > 0

    assert execute_one_statement()
    heartbeat.note_failure()
    assert not execute_one_statement()
    heartbeat.note_round()
    assert execute_one_statement()


def test_time_of_a_future_beat_is_no_failure(connection: DeadlineConnection) -> None:
    """After a failover the new primary may be behind."""
    Heartbeat().beat(connection)
    age(-300, "beat_at")
    age(-300, "worked_at")

    assert check(connection) == OK
    assert Heartbeat().beat(connection)
    assert abs((ClockHeartbeat.objects.get().beat_at - ClockHeartbeat.objects.get().worked_at).total_seconds()) < 100


def test_outage_of_the_database_is_not_missing_progress() -> None:
    class Unavailable(DeadlineConnection):
        def query(self, *_: object) -> list[tuple[str | None, ...]]:
            raise DatabaseUnavailable

    heartbeat = Heartbeat()
    heartbeat.progress_at, began = 0.0, monotonic()

    assert not heartbeat.beat(Unavailable())
    assert heartbeat.progress_at >= began


@pytest.mark.django_db(transaction=True)
def test_running_clock_beats_at_once_and_stops(connection: DeadlineConnection) -> None:
    stop = Event()
    thread = Thread(target=clock.run_clock, args=[stop])
    thread.start()
    try:
        deadline = monotonic() + 60
        while not ClockHeartbeat.objects.exists() and monotonic() < deadline:
            sleep(0.05)
        assert check(connection) == OK
    finally:
        stop.set()
        thread.join(60)
    assert not thread.is_alive()
    age(BEAT_LIMIT + 1, "beat_at")
    assert check(connection).status == "failed"


@pytest.mark.django_db(transaction=True)
def test_retired_clock_is_not_expected(connection: DeadlineConnection, capsys: pytest.CaptureFixture[str]) -> None:
    Heartbeat().beat(connection)
    age(BEAT_LIMIT + 1, "beat_at")

    call_command("clock", "--retire")

    assert check(connection).status == "skipped"
    assert capsys.readouterr().err == "No clock is expected until one runs again.\n"
