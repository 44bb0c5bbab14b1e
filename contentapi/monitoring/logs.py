"""The formats of log lines: JSON in production, readable lines in a terminal.

A record may have `fields`, a dictionary of values that both formats write. Lines hold no line end, so that a request
cannot forge a line of its own: JSON escapes them, and the readable format indents what follows.

The line of a request that succeeded does not go through Python's logging, which would take twice as long, unless a
handler or a filter has been added to that of the settings.
"""

import json
import logging
from datetime import UTC, datetime
from functools import lru_cache
from time import localtime, strftime, time
from typing import Any

import msgspec

ENCODER = msgspec.json.Encoder()
# No format shows these. Python's documentation names the switches; a record takes half the time without them.
logging.logThreads = logging.logMultiprocessing = False
ROOT = logging.getLogger()


class RequestLine(msgspec.Struct, omit_defaults=True):
    """The members of the line of a request. They hold no secret, query string, header, variable or body."""

    time: str  # empty until the line is formatted
    level: str
    logger: str
    message: str
    request_id: str
    method: str
    path: str
    status: int
    operation: str
    ms: float
    bytes: int
    statements: int
    operation_name: str = ""
    credential: str = ""
    cost: int = 0
    code: str = ""
    trace_id: str = ""

    def collect_fields(self) -> dict[str, Any]:
        """Return the members that a record of Python's logging does not have itself."""
        members: dict[str, Any] = msgspec.to_builtins(self)
        return {name: value for name, value in members.items() if name not in OWN_MEMBERS}


OWN_MEMBERS = frozenset({"time", "level", "logger", "message", "request_id", "trace_id"})


class LineHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to standard error, which flushes each line itself."""

    def flush(self) -> None:
        """Do nothing."""

    def write_request(self, line: RequestLine) -> None:
        """Write the line of a request now. A stream that refuses it, such as a full disk, fails no request."""
        try:
            text = f"{self.formatter.format_request(line, time())}\n"  # type: ignore[union-attr]
            with self.lock:  # type: ignore[union-attr]
                self.stream.write(text)
        except (OSError, ValueError):
            pass


def find_line_handler(logger: logging.Logger) -> LineHandler | None:
    """Return the handler of the settings, or None if others see or change the records of this logger too."""
    handlers = ROOT.handlers
    is_alone = len(handlers) == 1 and logger.parent is ROOT and not (logger.handlers or logger.filters)
    return handlers[0] if is_alone and type(handlers[0]) is LineHandler else None


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

    def format_request(self, line: RequestLine, created: float) -> str:
        """Return the line of a request, written at `created`, in seconds since 1970."""
        second = int(created)
        line.time = "%s.%03dZ" % (format_second(second), (created - second) * 1000)  # noqa: UP031 - twice as fast
        return ENCODER.encode(line).decode()


class LineFormatter(logging.Formatter):
    """A line for people: time, level, logger, request id, message, and the fields that the message does not show."""

    shown = frozenset({"method", "path", "status", "code", "event"})  # in the message

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802 - Python's
        return format_local_time(record.created)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name in Python's library
        text = super().formatMessage(record).replace("\n", "\n    ")
        return text + self.format_fields(getattr(record, "fields", {}), getattr(record, "trace_id", ""))

    def format_request(self, line: RequestLine, created: float) -> str:
        """Return the line of a request, written at `created`, in seconds since 1970."""
        text = f"{format_local_time(created)} {line.level} {line.logger} [{line.request_id}] {line.message}"
        return text + self.format_fields(line.collect_fields(), line.trace_id)

    def format_fields(self, fields: dict[str, Any], trace_id: str) -> str:
        pairs = "".join(f" {name}={value}" for name, value in fields.items() if name not in self.shown)
        if trace_id:
            pairs += f" trace_id={trace_id}"
        return pairs.replace("\n", "\\n")


def format_local_time(created: float) -> str:
    second = int(created)
    return "%s,%03d" % (format_local_second(second), (created - second) * 1000)  # noqa: UP031 - twice as fast


@lru_cache(4)
def format_second(second: int) -> str:
    """Return a second since 1970 as in `2026-11-23T04:05:06`, in UTC."""
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@lru_cache(4)
def format_local_second(second: int) -> str:
    """Return a second since 1970 as in `2026-11-23 04:05:06`, in the time zone of this machine."""
    return strftime("%Y-%m-%d %H:%M:%S", localtime(second))
