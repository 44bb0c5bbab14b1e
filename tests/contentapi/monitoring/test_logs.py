"""The formats of log lines."""

import json
import logging
import sys
from typing import Any

from contentapi.monitoring.logs import JsonFormatter, LineFormatter


def make_record(message: str, *, fields: dict[str, Any] | None = None, exc_info: Any = None) -> logging.LogRecord:
    record = logging.LogRecord("contentapi.requests", logging.INFO, "", 0, message, (), exc_info)
    record.created, record.msecs = 1795406706.25, 250
    record.request_id = "0af7"
    if fields is not None:
        record.fields = fields
    return record


def test_json_line_has_time_id_message_and_fields() -> None:
    record = make_record("GET /posts 200", fields={"status": 200, "ms": 1.5})

    assert json.loads(JsonFormatter().format(record)) == {
        "time": "2026-11-23T04:05:06.250000Z",
        "level": "INFO",
        "logger": "contentapi.requests",
        "message": "GET /posts 200",
        "request_id": "0af7",
        "status": 200,
        "ms": 1.5,
    }


def test_message_cannot_forge_a_line() -> None:
    for message in ("a\nb", "a\r\nb", "\u2028", "\ud800", '"', "\x00"):
        record = make_record(message, fields={"operation_name": message})
        lines = LineFormatter().format(record).split("\n")

        assert [line for line in lines[1:] if not line.startswith("    ")] == []
        assert JsonFormatter().format(record).count("\n") == 0


def test_traceback_is_a_member_of_a_json_line() -> None:
    try:
        int("broken")
    except ValueError:
        record = make_record("x", exc_info=sys.exc_info())

    assert "ValueError: invalid literal" in json.loads(JsonFormatter().format(record))["traceback"]


def test_text_line_appends_the_fields_that_the_message_lacks() -> None:
    record = make_record("GET /posts 200", fields={"method": "GET", "status": 200, "ms": 1.5, "cost": 3})

    assert LineFormatter().format(record).endswith("INFO contentapi.requests [0af7] GET /posts 200 ms=1.5 cost=3")
