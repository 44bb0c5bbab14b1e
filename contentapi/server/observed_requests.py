"""The layer that creates the record of each request, and counts and logs it when its response is complete."""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from time import perf_counter
from typing import Any
from wsgiref.types import StartResponse

from contentapi.http.request_log import finish_request
from contentapi.monitoring.records import RequestRecord, current_record

Handler = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]


def observe_request(handle: Handler, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    """Call `handle` with a record of the request. Call this when the body is complete: a slow client takes no time.

    The layers below write status and size into the record. A file is sent after this, by the server.
    """
    record, start = RequestRecord(environ["REQUEST_METHOD"], environ["PATH_INFO"]), perf_counter()
    token = current_record.set(record)
    try:
        return handle(environ, start_response)
    finally:
        if not record.status:  # `handle` raised: the server responds
            record.status = HTTPStatus.INTERNAL_SERVER_ERROR
        finish_request(record, perf_counter() - start)
        current_record.reset(token)
