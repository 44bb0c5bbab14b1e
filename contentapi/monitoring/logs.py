"""The formats of log lines: JSON in production, readable lines in a terminal.

A record may have `fields`, a dictionary of values that both formats write. Lines hold no line end, so that a request
cannot forge a line of its own: JSON escapes them, and the readable format indents what follows.
"""

import json
import logging
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from select import PIPE_BUF
from threading import Thread
from time import localtime, monotonic, sleep, strftime
from typing import Any

import msgspec

from contentapi.conf.timeouts import LINE_INTERVAL, LINE_WAIT

ENCODER = msgspec.json.Encoder()
# No format shows these. Python's documentation names the switches; a record takes half the time without them.
logging.logThreads = logging.logMultiprocessing = False


class LineHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes lines to standard error, which flushes them itself.

    In a worker of a server, the record of a request that comes soon after another one waits for the next: a system call
    for each line costs a fifth of a small request, because another thread takes the interpreter meanwhile. Warnings and
    the lines of other loggers are written at once, after those that wait.
    """

    is_batching = False  # in this process
    batched = "contentapi.requests"

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[logging.LogRecord] = []
        self.written_at = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        self.waiting.append(record)
        is_urgent = record.name != self.batched or record.levelno > logging.INFO or not self.is_batching
        if is_urgent or monotonic() - self.written_at > LINE_INTERVAL:
            self.flush()

    def flush(self) -> None:
        """Write the lines that wait. If that fails, they are lost, and the failure is reported as `logging` does it."""
        self.acquire()
        try:
            records, self.waiting = self.waiting, []
            if records:
                self.written_at = monotonic()
                for part in join_lines(map(self.format_line, records)):
                    self.stream.write(part)
        except Exception:  # noqa: BLE001 - as in `logging.StreamHandler`
            self.handleError(records[-1])
        finally:
            self.release()

    def format_line(self, record: logging.LogRecord) -> str:
        try:
            return self.format(record) + self.terminator
        except Exception:  # noqa: BLE001 - the lines that wait with it are written
            self.handleError(record)
            return ""


def join_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines in parts of at most PIPE_BUF bytes; a longer line is a part of its own.

    Processes share standard error, and a pipe keeps such a part together (POSIX, `write`).
    """
    part, size = "", 0
    for line in lines:
        length = len(line.encode(errors="backslashreplace"))
        if part and size + length > PIPE_BUF:
            yield part
            part, size = "", 0
        part, size = part + line, size + length
    if part:
        yield part


def start_batches() -> None:
    """Let lines of requests wait for each other in this process.

    A thread writes what waits. That of the heartbeat cannot: a full pipe would keep it from its next sign of life.
    """
    LineHandler.is_batching = True
    Thread(target=write_batches, name="log lines", daemon=True).start()


def write_batches() -> None:
    while LineHandler.is_batching:
        sleep(LINE_WAIT)
        flush_lines()


def end_batches(*_: Any) -> None:
    """Write the lines that wait, and each later one at once. Call this at the end of the process."""
    LineHandler.is_batching = False
    flush_lines()


def flush_lines() -> None:
    for handler in logging.getLogger().handlers:
        if isinstance(handler, LineHandler):
            handler.flush()


class JsonFormatter(logging.Formatter):
    """One JSON object for each line: time, level, logger, request id, message, fields and traceback."""

    def format(self, record: logging.LogRecord) -> str:
        members: dict[str, Any] = {
            "time": f"{format_second(int(record.created))}.{int(record.msecs):03}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": getattr(record, "request_id", "-"),
        }
        if trace_id := getattr(record, "trace_id", ""):
            members["trace_id"] = trace_id
        members.update(getattr(record, "fields", {}))
        if record.exc_info:
            members["traceback"] = self.formatException(record.exc_info)
        if record.stack_info:
            members["stack"] = self.formatStack(record.stack_info)
        try:
            return ENCODER.encode(members).decode()
        except (UnicodeEncodeError, TypeError):  # half a character, or a value of another type
            return json.dumps(members, default=str)


class LineFormatter(logging.Formatter):
    """A line for people: time, level, logger, request id, message, and the fields that the message does not show."""

    shown = frozenset({"method", "path", "status", "code", "event"})  # in the message

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802 - Python's
        return f"{format_local_second(int(record.created))},{int(record.msecs):03}"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name in Python's library
        fields = getattr(record, "fields", {})
        pairs = "".join(f" {name}={value}" for name, value in fields.items() if name not in self.shown)
        if trace_id := getattr(record, "trace_id", ""):
            pairs += f" trace_id={trace_id}"
        return super().formatMessage(record).replace("\n", "\n    ") + pairs.replace("\n", "\\n")


@lru_cache(4)
def format_second(second: int) -> str:
    """Return a second since 1970 as in `2026-11-23T04:05:06`, in UTC."""
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@lru_cache(4)
def format_local_second(second: int) -> str:
    """Return a second since 1970 as in `2026-11-23 04:05:06`, in the time zone of this machine."""
    return strftime("%Y-%m-%d %H:%M:%S", localtime(second))
