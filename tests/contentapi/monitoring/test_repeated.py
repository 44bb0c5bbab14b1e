"""One line in an interval, for one process and for those that it forks."""

import logging
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from types import SimpleNamespace
from typing import IO

import pytest

from contentapi.conf.timeouts import OUTAGE_INTERVAL
from contentapi.monitoring import repeated
from contentapi.monitoring.repeated import RepeatedLine, write_outage


@pytest.fixture(params=["shared", "own"])
def file(request: pytest.FixtureRequest) -> Iterator[IO[bytes] | None]:
    with TemporaryFile(buffering=0) as shared:
        yield shared if request.param == "shared" else None


def make_line(file: IO[bytes] | None = None, interval: float = OUTAGE_INTERVAL) -> RepeatedLine:
    line = RepeatedLine(interval, write_outage)
    line.file = file
    return line


def count_requests(lines: list[str]) -> int:
    return sum(int(found[1]) for line in lines if (found := re.search(r": (\d+) requests? got 503", line)))


def test_first_request_has_a_line_and_the_next_share_one(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, file: IO[bytes] | None
) -> None:
    now = 100.0
    monkeypatch.setattr(repeated, "time", SimpleNamespace(monotonic=lambda: now))
    log = make_line(file)

    for _ in range(10):
        log.add("connection refused")
    assert log.timer is not None
    log.timer.cancel()
    assert log.timer.interval == OUTAGE_INTERVAL
    now += OUTAGE_INTERVAL
    log.write_remainder("connection refused")  # as the timer does

    assert caplog.messages == [
        "The database is unavailable: 1 request got 503. connection refused",
        "The database is unavailable: 9 requests got 503. connection refused",
    ]


@pytest.mark.servers
def test_forked_processes_share_one_line_a_second(tmp_path: Path) -> None:
    began = time.monotonic()
    with TemporaryFile(buffering=0) as shared:
        children = [fork(shared, tmp_path / str(number)) for number in range(3)]
        assert {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children} == {0}
    lines = [line for file in tmp_path.iterdir() for line in file.read_text().splitlines()]

    assert count_requests(lines) == 300
    assert len(lines) <= (time.monotonic() - began) / OUTAGE_INTERVAL + 1


def fork(shared: IO[bytes], written: Path) -> int:
    """Add 100 events in a child. It ends when a line has counted them; its lines are in a file."""
    if child := os.fork():
        return child
    try:
        logging.getLogger("contentapi.outages").addHandler(logging.FileHandler(written))
        log = make_line(shared)
        for _ in range(100):
            log.add("connection refused")
        while log.timer is not None:
            time.sleep(0.01)
        with log.lock:
            os._exit(0)
    finally:
        os._exit(1)


def test_full_file_system_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    with Path("/dev/full").open("r+b", buffering=0) as full:
        log = make_line(full)
        log.add("connection refused")
        log.add("connection refused")

    assert count_requests(caplog.messages) == 2
