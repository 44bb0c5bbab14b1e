"""The formats of log lines."""

import json
import logging
import sys
from collections.abc import Iterator
from select import PIPE_BUF
from typing import Any

import pytest

from contentapi.monitoring.logs import JsonFormatter, LineFormatter, LineHandler, end_batches, flush_lines


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
        "time": "2026-11-23T04:05:06.250Z",
        "level": "INFO",
        "logger": "contentapi.requests",
        "message": "GET /posts 200",
        "request_id": "0af7",
        "status": 200,
        "ms": 1.5,
    }


def test_json_line_has_the_trace_id_where_there_is_one() -> None:
    record = make_record("x")
    record.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"

    assert json.loads(JsonFormatter().format(record))["trace_id"] == "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.mark.parametrize("message", ["a\nb", "a\r\nb", "\u2028", "\ud800", '"', "\x00"], ids=range(6))
@pytest.mark.parametrize("formatter", [JsonFormatter(), LineFormatter()], ids=["json", "text"])
def test_message_cannot_forge_a_line(formatter: logging.Formatter, message: str) -> None:
    text = formatter.format(make_record(message, fields={"operation_name": message}))

    assert [line for line in text.split("\n")[1:] if not line.startswith("    ")] == []
    if isinstance(formatter, JsonFormatter):
        assert text.count("\n") == 0


def test_traceback_is_a_member_of_a_json_line() -> None:
    try:
        int("broken")
    except ValueError:
        record = make_record("x", exc_info=sys.exc_info())

    assert "ValueError: invalid literal" in json.loads(JsonFormatter().format(record))["traceback"]


def test_text_line_appends_the_fields_that_the_message_lacks() -> None:
    record = make_record("GET /posts 200", fields={"method": "GET", "status": 200, "ms": 1.5, "cost": 3})

    assert LineFormatter().format(record).endswith("INFO contentapi.requests [0af7] GET /posts 200 ms=1.5 cost=3")


class Writes(list[str]):
    """A stream that keeps the text of each write."""

    write = list.append


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch) -> Iterator[LineHandler]:
    """The handler of a worker, without its clock: only the first line is long after another one."""
    monkeypatch.setattr(LineHandler, "is_batching", True)
    monkeypatch.setattr("contentapi.monitoring.logs.LINE_INTERVAL", 3600)
    handler = LineHandler()
    handler.stream, handler.written_at = Writes(), float("-inf")
    root = logging.getLogger()
    root.addHandler(handler)
    yield handler
    root.removeHandler(handler)


def test_line_of_a_request_waits_if_it_comes_soon_after_another_one(handler: LineHandler) -> None:
    for number in range(4):
        handler.handle(make_record(f"request {number}"))

    assert handler.stream == ["request 0\n"]
    flush_lines()
    flush_lines()
    assert handler.stream == ["request 0\n", "request 1\nrequest 2\nrequest 3\n"]


@pytest.mark.parametrize(
    ("name", "level"), [("contentapi.requests", logging.ERROR), ("contentapi.audit", logging.INFO)]
)
def test_other_lines_are_written_at_once_and_in_order(handler: LineHandler, name: str, level: int) -> None:
    urgent = make_record("urgent")
    urgent.name, urgent.levelno = name, level
    for record in [make_record("first"), make_record("second"), urgent]:
        handler.handle(record)

    assert handler.stream == ["first\n", "second\nurgent\n"]


def test_no_line_waits_in_a_process_without_a_heartbeat(handler: LineHandler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LineHandler, "is_batching", False)
    handler.handle(make_record("first"))
    handler.handle(make_record("second"))

    assert handler.stream == ["first\n", "second\n"]


def test_record_that_cannot_be_formatted_takes_no_other_line_with_it(
    handler: LineHandler, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = make_record("%d of %d")
    broken.args = ("one",)
    for record in [make_record("first"), broken, make_record("last")]:
        handler.handle(record)
    flush_lines()

    assert handler.stream == ["first\n", "last\n"]
    assert "TypeError" in capsys.readouterr().err


def test_part_that_is_written_has_whole_lines_and_fits_into_a_pipe(handler: LineHandler) -> None:
    messages = ["first", *(f"{number} {'ä' * 40 * (number % 9)}" for number in range(99)), "ä" * 3000, "last"]
    for message in messages:
        handler.handle(make_record(message))
    flush_lines()

    assert "".join(handler.stream) == "".join(f"{message}\n" for message in messages)
    assert all(part.endswith("\n") for part in handler.stream)
    assert all(len(part.encode()) <= PIPE_BUF or part.count("\n") == 1 for part in handler.stream)
    assert len(handler.stream) < len(messages) / 4


def test_lines_after_the_end_of_batches_are_written_at_once(handler: LineHandler) -> None:
    for message in ["first", "second"]:
        handler.handle(make_record(message))
    end_batches()
    handler.handle(make_record("third"))

    assert handler.stream == ["first\n", "second\n", "third\n"]
