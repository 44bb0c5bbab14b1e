"""One log line in an interval about an event that repeats, with the number of events that it counts.

While the database is unavailable every request fails, and a line for each would hide everything else. The processes of
a server then share a file with the number of requests that no line has counted, and the time of the last line. The
clock is the system's monotonic one, which is the same for all processes.
"""

import fcntl
import logging
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile
from threading import Lock, Timer
from typing import IO

from contentapi.conf.timeouts import OUTAGE_INTERVAL

OUTAGE_LOG = logging.getLogger("contentapi.outages")
STATE = struct.Struct("qd")  # the events that no line has counted, and the time of the last line
NOTHING = 0, float("-inf")


class RepeatedLine:
    """A line that `write` logs at most once in an interval, in seconds. Thread-safe.

    `write` gets the number of events since the last line, and the text of the last event. With a shared file, the
    processes that inherit it count together.
    """

    def __init__(self, interval: float, write: Callable[[int, str], None]) -> None:
        self.interval = interval
        self.write = write
        self.file: IO[bytes] | None = None
        self.state = NOTHING
        self.lock = Lock()
        self.timer: Timer | None = None

    def add(self, detail: str, *, events: int = 1) -> None:
        """Count an event. Write a line if the last one is old enough; otherwise a later line counts it."""
        with self.lock, self.share_state():
            uncounted, last_line = self.state
            uncounted += events
            now = time.monotonic()
            is_due = uncounted > 0 and not last_line <= now < last_line + self.interval
            self.state = (0, now) if is_due else (uncounted, last_line)
            if is_due:
                self.write(uncounted, detail)
            elif uncounted and self.timer is None:  # so that the last events are counted too
                self.timer = Timer(self.interval, self.write_remainder, [detail])
                self.timer.daemon = True
                self.timer.start()

    def write_remainder(self, detail: str) -> None:
        self.timer = None
        self.add(detail, events=0)

    @contextmanager
    def share_state(self) -> Iterator[None]:
        """Read the state from the shared file, if there is one, and write it after the block."""
        if self.file is None:
            yield
            return
        fcntl.lockf(self.file, fcntl.LOCK_EX)
        try:
            written = os.pread(self.file.fileno(), STATE.size, 0)
            self.state = STATE.unpack(written) if len(written) == STATE.size else NOTHING
            yield
            with suppress(OSError):  # no room: the next event begins a new count
                os.pwrite(self.file.fileno(), STATE.pack(*self.state), 0)
        finally:
            fcntl.lockf(self.file, fcntl.LOCK_UN)


def write_outage(failed: int, reason: str) -> None:
    requests = "1 request" if failed == 1 else f"{failed} requests"
    OUTAGE_LOG.error("The database is unavailable: %s got 503. %s", requests, reason)


OUTAGES = RepeatedLine(OUTAGE_INTERVAL, write_outage)  # `add` gets no value of a row


def share_outage_log() -> None:
    """Let the processes that this one will fork count together."""
    OUTAGES.file = TemporaryFile(buffering=0)  # noqa: SIM115 - for as long as these processes live
