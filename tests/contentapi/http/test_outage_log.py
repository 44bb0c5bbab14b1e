"""One line a second for all processes while the database is unavailable."""

import logging
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from contentapi.http.outage_log import OutageLog

CHILD = """
import logging, sys, time
logging.basicConfig(format="%(message)s", stream=sys.stdout)
from contentapi.http.outage_log import OutageLog
log = OutageLog(sys.argv[1])
end = time.monotonic() + 2.5
while time.monotonic() < end:
    log.add("connection refused")
    time.sleep(0.01)
print("added", flush=True)
time.sleep(1.2)
"""


def count_requests(lines: list[str]) -> int:
    return sum(int(found[1]) for line in lines if (found := re.search(r": (\d+) requests? got 503", line)))


@pytest.mark.parametrize("name", ["state", ""], ids=["shared", "own"])
def test_first_request_has_a_line_and_the_next_share_one(
    caplog: pytest.LogCaptureFixture, tmp_path: Path, name: str
) -> None:
    caplog.set_level(logging.ERROR, "contentapi.outages")
    (tmp_path / "state").touch()
    log = OutageLog(name and str(tmp_path / name))

    for _ in range(10):
        log.add("connection refused")
    time.sleep(1.3)

    assert [record.getMessage() for record in caplog.records] == [
        "The database is unavailable: 1 request got 503. connection refused",
        "The database is unavailable: 9 requests got 503. connection refused",
    ]


def test_processes_share_one_line_a_second(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.touch()
    command = [sys.executable, "-c", CHILD, str(path)]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    lines = [line for child in children for line in child.communicate()[0].splitlines() if "503" in line]

    assert 3 <= len(lines) <= 6  # 2.5 seconds and the last ones; processes do not start at the same time
    assert count_requests(lines) > 300


def test_missing_file_is_no_failure(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    OutageLog(str(tmp_path / "gone")).add("connection refused")

    assert len(caplog.records) == 1


def test_full_file_system_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    log = OutageLog("/dev/full")

    log.add("connection refused")
    log.add("connection refused")

    assert len(caplog.records) == 2  # each is counted at once, because no state can be kept
