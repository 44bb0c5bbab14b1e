"""The layer that creates the record of each request, and counts and logs it when its response is complete."""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from time import perf_counter
from typing import Any
from wsgiref.types import StartResponse

from contentapi.http.request_log import finish_request
from contentapi.monitoring.records import RequestRecord, current_record
from contentapi.monitoring.traces import TRACING

Handler = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]


def observe_request(handle: Handler, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    """Call `handle` with a record of the request. Call this when the body is complete: a slow client takes no time.

    The layers below write status and size into the record. A file is sent after this, by the server.
    """
    traceparent = environ.get("HTTP_TRACEPARENT", "")
    record = RequestRecord(environ["REQUEST_METHOD"], environ["PATH_INFO"], traceparent=traceparent)
    start, token = perf_counter(), current_record.set(record)
    if TRACING.tracer is not None:
        TRACING.tracer.begin(record, environ)
    if record.trace is not None:
        start_response = add_header(start_response, "traceresponse", record.trace.traceresponse)
    try:
        return handle(environ, start_response)
    finally:
        if not record.status:  # `handle` raised: the server responds
            record.status = HTTPStatus.INTERNAL_SERVER_ERROR
        finish_request(record, perf_counter() - start)
        if record.trace is not None:
            record.trace.finish(record)
        current_record.reset(token)


def add_header(start_response: StartResponse, name: str, value: str) -> StartResponse:
    """Return a function that adds a header to the response."""

    def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
        return start_response(status, [*headers, (name, value)], *error)

    return start
