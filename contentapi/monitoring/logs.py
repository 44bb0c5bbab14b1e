"""The formats of log lines: JSON in production, readable lines in a terminal.

A record may have `fields`, a dictionary of values that both formats write. Lines hold no line end, so that a request
cannot forge a line of its own: JSON escapes them, and the readable format indents what follows.
"""

import json
import logging
from datetime import UTC, datetime
from functools import lru_cache
from time import localtime, strftime
from typing import Any

import msgspec

ENCODER = msgspec.json.Encoder()
# No format shows these. Python's documentation names the switches; a record takes half the time without them.
logging.logThreads = logging.logMultiprocessing = False


class LineHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to standard error, which flushes each line itself."""

    def flush(self) -> None:
        """Do nothing."""


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
