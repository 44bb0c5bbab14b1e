"""The checks run in threads: a check that hangs delays nothing for long, and requests share results."""

import logging
from collections.abc import Iterator
from threading import Event, Thread

import pytest
from pytest_django import Settings

from contentapi.conf import timeouts
from contentapi.conf.timeouts import READINESS_LIMIT, REPLICA_CHECK_LIMIT, WATCH_INTERVAL
from contentapi.health import readiness
from contentapi.health.readiness import BackgroundCheck, Readiness
from contentapi.health.results import OK, CheckResult, Results, failed
from tests.environment import set_environment


class ControlledCheck(BackgroundCheck):
    """Counts its runs, and runs until `released`."""

    def __init__(self, name: str = "part") -> None:
        super().__init__((name,), self.execute_check, max_age=10**6)
        self.count = 0
        self.released = Event()
        self.result: CheckResult = OK

    def execute_check(self) -> Results:
        self.count += 1
        self.released.wait(60)
        return {self.names[0]: self.result}


@pytest.fixture
def check() -> Iterator[ControlledCheck]:
    check = ControlledCheck()
    yield check
    check.released.set()


def test_concurrent_requests_share_one_run_and_its_result(check: ControlledCheck) -> None:
    parts, results = Readiness([check]), list[Results]()
    threads = [Thread(target=lambda: results.append(parts.read())) for _ in range(20)]
    for thread in threads:
        thread.start()
    check.released.set()
    for thread in threads:
        thread.join()

    assert results == [{"part": OK}] * 20
    assert check.count == 1
    parts.read()
    assert check.count == 1


def test_result_is_read_again_after_the_cache_time(check: ControlledCheck) -> None:
    check.released.set()
    parts = Readiness([check])
    parts.read()
    check.max_age = 0
    check.result = failed("It broke.")

    assert parts.read() == {"part": failed("It broke.")}


def test_replica_that_does_not_come_into_use_is_known_before_the_check_is_late() -> None:
    assert REPLICA_CHECK_LIMIT + WATCH_INTERVAL < READINESS_LIMIT


def test_check_that_hangs_delays_the_first_request_only_and_is_not_started_twice(
    check: ControlledCheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = Readiness([check, (quick := ControlledCheck("quick"))])
    quick.released.set()
    Readiness([quick]).read()
    monkeypatch.setattr(timeouts, "READINESS_LIMIT", 0.2)

    first = parts.read()
    monkeypatch.setattr(timeouts, "READINESS_LIMIT", 0)
    second = parts.read()

    assert first == second == {"part": failed("The check has not ended in time."), "quick": OK}
    assert check.count == 1
    check.released.set()
    assert check.results is not None
    assert check.results.result(60)
    assert parts.read()["part"] == OK


def test_unexpected_error_is_a_failure_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> Results:
        raise ValueError("postgresql://app:hunter2@db/app")

    results = Readiness([BackgroundCheck(("part",), fail)]).read()

    assert results["part"][:2] == ("failed", "The check itself failed. See the log.")
    assert "Traceback" in caplog.text


def test_each_change_is_logged_once(check: ControlledCheck, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "contentapi.health")
    check.released.set()
    parts = Readiness([check])
    for result in (OK, failed("It broke."), failed("It broke."), OK, OK):
        check.result = result
        check.max_age = 0
        parts.read()

    assert [record.getMessage() for record in caplog.records] == [
        "Not ready: part. It broke.",
        "Ready again: part.",
    ]


def test_checks_are_those_of_what_is_configured(settings: Settings) -> None:
    def list_names() -> list[str]:
        readiness.get_readiness.cache_clear()
        try:
            return [name for check in readiness.get_readiness().checks for name in check.names]
        finally:
            readiness.get_readiness.cache_clear()

    assert list_names() == ["database", "migrations", "worker", "keys", "media"]
    set_environment(settings, REDIS_URL="redis://127.0.0.1:1/0")
    assert list_names() == ["database", "migrations", "worker", "keys", "redis", "media"]
