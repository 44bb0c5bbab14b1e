"""One log line a second, for all processes of a server, about requests that fail because the database is unavailable.

Every request fails then, and a line for each of them would hide everything else. The processes share a file with the
number of requests that no line has counted, and the time of the last line. The clock is the system's monotonic one,
which is the same for all processes.
"""

import atexit
import fcntl
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, Timer
from typing import BinaryIO

from contentapi.monitoring.owned_folder import OwnedFolder

LOG = logging.getLogger("contentapi.outages")
INTERVAL = 1.0  # seconds between two lines
FILE_VARIABLE = "CONTENTAPI_OUTAGE_FILE"  # the shared file; set by the process that starts the others
PREFIX = "contentapi-outages-"


class OutageLog:
    """The lines about outages. Without a shared file, each process has lines of its own."""

    def __init__(self, path: str = "") -> None:
        self.path = path
        self.lock = Lock()
        self.uncounted = 0  # of this process, without a file
        self.last_line = float("-inf")
        self.timer: Timer | None = None

    def add(self, reason: str) -> None:
        """Count a failed request. Write a line if the last one is a second old; otherwise a later line counts it."""
        with self.lock:
            self.write_line_if_due(reason, failed=1)

    def write_line_if_due(self, reason: str, *, failed: int) -> None:
        with self.share_state() as file:
            uncounted, last_line = read_state(file) if file else (self.uncounted, self.last_line)
            uncounted += failed
            now = time.monotonic()
            is_due = uncounted > 0 and not last_line <= now < last_line + INTERVAL
            state = (0, now) if is_due else (uncounted, last_line)
            if file:
                with suppress(OSError):  # no room: the next request begins a new count
                    write_state(file, *state)
            else:
                self.uncounted, self.last_line = state
        if is_due:
            requests = "1 request" if uncounted == 1 else f"{uncounted} requests"
            LOG.error("The database is unavailable: %s got 503. %s", requests, reason)
        elif uncounted and self.timer is None:  # so that the last requests of an outage are counted too
            self.timer = Timer(INTERVAL, self.write_remainder, [reason])
            self.timer.daemon = True
            self.timer.start()

    def write_remainder(self, reason: str) -> None:
        with self.lock:
            self.timer = None
            self.write_line_if_due(reason, failed=0)

    @contextmanager
    def share_state(self) -> Iterator[BinaryIO | None]:
        """Yield the shared file, locked. Yield None if there is none."""
        if not self.path:
            yield None
            return
        try:
            file = Path(self.path).open("r+b", buffering=0)  # noqa: SIM115 - closed below
        except OSError:
            yield None
            return
        with file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            yield file


def read_state(file: BinaryIO) -> tuple[int, float]:
    try:
        uncounted, last_line = file.read(100).split()
        return int(uncounted), float(last_line)
    except ValueError:
        return 0, float("-inf")


def write_state(file: BinaryIO, uncounted: int, last_line: float) -> None:
    file.seek(0)
    file.truncate()
    file.write(f"{uncounted} {last_line!r}".encode())


FOLDERS: list[OwnedFolder] = []
OUTAGES: dict[str, OutageLog] = {}  # by the path of the shared file


def log_outage(reason: str) -> None:
    """Count a request that failed because the database is unavailable. `reason` has no value of a row."""
    path = os.environ.get(FILE_VARIABLE, "")
    (OUTAGES.get(path) or OUTAGES.setdefault(path, OutageLog(path))).add(reason)


def share_outage_log() -> None:
    """Create the file that the processes of this server share, unless a parent process did. Call this before a fork."""
    if os.environ.get(FILE_VARIABLE):
        return
    folder = OwnedFolder(PREFIX)
    FOLDERS.append(folder)
    atexit.register(folder.remove)
    path = folder.path / "state"
    path.touch(mode=0o600)
    os.environ[FILE_VARIABLE] = str(path)
