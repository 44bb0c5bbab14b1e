"""The lines of requests that succeeded: they do not go through Python's logging, and look the same."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import ascii_letters
from tempfile import TemporaryFile
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from contentapi.http.request_log import log_request
from contentapi.monitoring.logs import JsonFormatter, LineFormatter, LineHandler, RequestIdFilter, find_line_handler
from contentapi.monitoring.records import RequestRecord, current_record

ROOT = logging.getLogger()
REQUESTS = logging.getLogger("contentapi.requests")
NAMES = st.text(f"{ascii_letters}_", max_size=120)


def make_handler(stream: Any, formatter: logging.Formatter | None = None) -> LineHandler:
    handler = LineHandler(stream)
    handler.setFormatter(formatter or JsonFormatter())
    handler.addFilter(RequestIdFilter())
    return handler


@contextmanager
def only_handlers(*handlers: logging.Handler) -> Iterator[None]:
    """Let only these handlers see the log lines, from level INFO on."""
    others, level = ROOT.handlers, ROOT.level
    ROOT.handlers = list(handlers)
    ROOT.setLevel(logging.INFO)
    try:
        yield
    finally:
        ROOT.handlers = others
        ROOT.setLevel(level)


def read_lines(record: RequestRecord, *others: logging.Handler) -> str:
    token = current_record.set(record)
    try:
        with TemporaryFile("w+", encoding="utf-8") as written:
            with only_handlers(make_handler(written), *others):
                log_request(record, 0.0125)
            written.seek(0)
            return written.read()
    finally:
        current_record.reset(token)


def remove_time(line: str) -> Any:
    return {name: value for name, value in json.loads(line).items() if name != "time"}


@given(
    method=st.sampled_from(["GET", "POST", "M" * 30, "\n"]),
    path=st.text(max_size=220),
    status=st.sampled_from([200, 201, 204, 294, 304]),
    name=NAMES,
    credential=st.sampled_from(["", "key:capi_12", "user:7"]),
    cost=st.integers(0, 5000),
    trace_id=st.sampled_from(["", "4bf92f3577b34da6a3ce929d0e0e4736"]),
)
def test_line_is_that_of_pythons_logging(
    method: str, path: str, status: int, name: str, credential: str, cost: int, trace_id: str
) -> None:
    record = RequestRecord(method, path)
    record.status, record.operation_name, record.credential = status, name, credential
    record.cost, record.trace_id, record.operation = cost, trace_id, "query posts"

    direct = read_lines(record)
    general = read_lines(record, logging.NullHandler())

    assert direct.count("\n") == general.count("\n") == 1
    assert remove_time(direct) == remove_time(general)


def test_others_that_see_or_change_records_receive_them() -> None:
    handler = make_handler(io.StringIO())
    add_field = logging.Filter()
    with only_handlers(handler):
        assert find_line_handler(REQUESTS) is handler
        REQUESTS.addFilter(add_field)
        try:
            assert find_line_handler(REQUESTS) is None
        finally:
            REQUESTS.removeFilter(add_field)
        assert find_line_handler(REQUESTS.getChild("x")) is None
    with only_handlers(handler, logging.NullHandler()):
        assert find_line_handler(REQUESTS) is None
    for other in (logging.StreamHandler(), make_handler(io.StringIO(), LineFormatter())):
        with only_handlers(other):
            assert find_line_handler(REQUESTS) is None


def test_no_line_above_the_level() -> None:
    REQUESTS.setLevel(logging.WARNING)
    try:
        assert read_lines(RequestRecord("GET", "/posts")) == ""
    finally:
        REQUESTS.setLevel(logging.NOTSET)


def test_stream_that_refuses_a_line_fails_no_request() -> None:
    with Path("/dev/full").open("w") as full, only_handlers(make_handler(full)):
        log_request(RequestRecord("GET", "/posts"), 0.01)
