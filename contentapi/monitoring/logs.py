"""The formats of log lines: JSON in production, readable lines in a terminal.

A record may have `fields`, a dictionary of values that both formats write. Lines hold no line end, so that a request
cannot forge a line of its own: JSON escapes them, and the readable format indents what follows.

The JSON line of a request that succeeded does not go through Python's logging, which would take twice as long, unless
a handler or a filter has been added to that of the settings.
"""

import json
import logging
import os
from datetime import UTC, datetime
from typing import Any

import msgspec

from contentapi.monitoring.records import current_record

ENCODER = msgspec.json.Encoder()
# No format shows these. Python's documentation names the switches; a record takes half the time without them.
logging.logThreads = logging.logMultiprocessing = False
ROOT = logging.getLogger()


class RequestLine(msgspec.Struct, omit_defaults=True):
    """The members of the line of a request. They hold no secret, query string, header, variable or body."""

    time: datetime
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
        """Write the line of a request in one system call, so that no other line comes between its parts.

        A stream that refuses it, such as a full disk, fails no request.
        """
        try:
            os.write(self.stream.fileno(), ENCODER.encode(line) + b"\n")
        except (OSError, ValueError):  # `suppress` takes a tenth of the instructions of a line
            return


def find_line_handler(logger: logging.Logger) -> LineHandler | None:
    """Return the handler of the settings, if it writes JSON and no others see or change the records of this logger."""
    handlers = ROOT.handlers
    is_alone = len(handlers) == 1 and logger.parent is ROOT and not (logger.handlers or logger.filters)
    if is_alone and type(handlers[0]) is LineHandler and type(handlers[0].formatter) is JsonFormatter:
        return handlers[0]
    return None


class RequestIdFilter(logging.Filter):
    """Adds the id of the request to a log record, and the id of its trace where there is one."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = current_record.get()
        record.request_id, record.trace_id = request.id, request.find_trace_id()
        return True


class JsonFormatter(logging.Formatter):
    """One JSON object for each line: time, level, logger, request id, message, fields and traceback."""

    def format(self, record: logging.LogRecord) -> str:
        members: dict[str, Any] = {
            "time": msgspec.to_builtins(datetime.fromtimestamp(record.created, UTC)),
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

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name in Python's library
        text = super().formatMessage(record).replace("\n", "\n    ")
        fields = {name: value for name, value in getattr(record, "fields", {}).items() if name not in self.shown}
        if trace_id := getattr(record, "trace_id", ""):
            fields["trace_id"] = trace_id
        return text + "".join(f" {name}={value}" for name, value in fields.items()).replace("\n", "\\n")
