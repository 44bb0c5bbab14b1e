"""One log line in an interval about an event that repeats, with the number of events that it counts.

While the database is unavailable every request fails, and a line for each would hide everything else. The processes of
a server then share a file with the number of requests that no line has counted, and the time of the last line. The
clock is the system's monotonic one, which is the same for all processes.
"""

import atexit
import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, Timer
from typing import BinaryIO

from contentapi.conf.timeouts import OUTAGE_INTERVAL
from contentapi.monitoring.owned_folder import OwnedFolder

OUTAGE_LOG = logging.getLogger("contentapi.outages")
FILE_VARIABLE = "CONTENTAPI_OUTAGE_FILE"  # the shared file; set by the process that starts the others
FOLDER_PREFIX = "contentapi-outages-"


class RepeatedLine:
    """A line that `write` logs at most once in an interval, in seconds. Thread-safe.

    `write` gets the number of events since the last line, and the text of the last event. Without a shared file, each
    process has lines of its own.
    """

    def __init__(self, interval: float, write: Callable[[int, str], None], path: str = "") -> None:
        self.interval = interval
        self.write = write
        self.path = path
        self.lock = Lock()
        self.uncounted = 0  # of this process, without a file
        self.last_line = float("-inf")
        self.timer: Timer | None = None

    def add(self, detail: str) -> None:
        """Count an event. Write a line if the last one is old enough; otherwise a later line counts it."""
        with self.lock:
            self.write_line_if_due(detail, events=1)

    def write_line_if_due(self, detail: str, *, events: int) -> None:
        with self.share_state() as file:
            uncounted, last_line = read_state(file) if file else (self.uncounted, self.last_line)
            uncounted += events
            now = time.monotonic()
            is_due = uncounted > 0 and not last_line <= now < last_line + self.interval
            state = (0, now) if is_due else (uncounted, last_line)
            if file:
                with suppress(OSError):  # no room: the next event begins a new count
                    write_state(file, *state)
            else:
                self.uncounted, self.last_line = state
        if is_due:
            self.write(uncounted, detail)
        elif uncounted and self.timer is None:  # so that the last events are counted too
            self.timer = Timer(self.interval, self.write_remainder, [detail])
            self.timer.daemon = True
            self.timer.start()

    def write_remainder(self, detail: str) -> None:
        with self.lock:
            self.timer = None
            self.write_line_if_due(detail, events=0)

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
OUTAGES: dict[str, RepeatedLine] = {}  # by the path of the shared file


def log_outage(reason: str) -> None:
    """Count a request that failed because the database is unavailable. `reason` has no value of a row."""
    path = os.environ.get(FILE_VARIABLE, "")
    line = OUTAGES.get(path) or OUTAGES.setdefault(path, RepeatedLine(OUTAGE_INTERVAL, write_outage, path))
    line.add(reason)


def write_outage(failed: int, reason: str) -> None:
    requests = "1 request" if failed == 1 else f"{failed} requests"
    OUTAGE_LOG.error("The database is unavailable: %s got 503. %s", requests, reason)


def share_outage_log() -> None:
    """Create the file that the processes of this server share, unless a parent process did. Call this before a fork."""
    if os.environ.get(FILE_VARIABLE):
        return
    folder = OwnedFolder(FOLDER_PREFIX)
    FOLDERS.append(folder)
    atexit.register(folder.remove)
    path = folder.path / "state"
    path.touch(mode=0o600)
    os.environ[FILE_VARIABLE] = str(path)
