"""One line in an interval, for one process and for several."""

import logging
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from contentapi.conf.timeouts import OUTAGE_INTERVAL
from contentapi.monitoring import repeated
from contentapi.monitoring.repeated import RepeatedLine, write_outage

CHILD = """
import logging, sys, time
logging.basicConfig(format="%(message)s", stream=sys.stdout)
from contentapi.conf.timeouts import OUTAGE_INTERVAL
from contentapi.monitoring.repeated import RepeatedLine, write_outage
log = RepeatedLine(OUTAGE_INTERVAL, write_outage, sys.argv[1])
for _ in range(100):
    log.add("connection refused")
    time.sleep(0.001)
is_waiting = True
while is_waiting:  # a later line counts the last requests
    time.sleep(0.01)
    with log.lock:
        is_waiting = log.timer is not None
"""


def make_line(path: str = "", interval: float = OUTAGE_INTERVAL) -> RepeatedLine:
    return RepeatedLine(interval, write_outage, path)


def count_requests(lines: list[str]) -> int:
    return sum(int(found[1]) for line in lines if (found := re.search(r": (\d+) requests? got 503", line)))


@pytest.mark.parametrize("name", ["state", ""], ids=["shared", "own"])
def test_first_request_has_a_line_and_the_next_share_one(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    caplog.set_level(logging.ERROR, "contentapi.outages")
    now = 100.0
    monkeypatch.setattr(repeated, "time", SimpleNamespace(monotonic=lambda: now))
    (tmp_path / "state").touch()
    log = make_line(name and str(tmp_path / name))

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


def test_timer_counts_the_last_requests(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "contentapi.outages")
    log = make_line(interval=0.05)

    log.add("connection refused")
    log.add("connection refused")
    with log.lock:  # the timer may be writing its line
        timer = log.timer
    if timer is not None:  # else the second request was late, and had a line of its own
        timer.join()

    assert count_requests(caplog.messages) == 2


@pytest.mark.servers
def test_processes_share_one_line_a_second(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.touch()
    began = time.monotonic()
    command = [sys.executable, "-c", CHILD, str(path)]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    lines = [line for child in children for line in child.communicate()[0].splitlines() if "503" in line]

    assert count_requests(lines) == 300
    assert len(lines) <= (time.monotonic() - began) / OUTAGE_INTERVAL + 1


def test_missing_file_is_no_failure(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    make_line(str(tmp_path / "gone")).add("connection refused")

    assert len(caplog.records) == 1


def test_full_file_system_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    log = make_line("/dev/full")

    log.add("connection refused")
    log.add("connection refused")

    assert len(caplog.records) == 2  # each is counted at once, because no state can be kept
