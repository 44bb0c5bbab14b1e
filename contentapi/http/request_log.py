"""One log line for each request, under the request's id. Query strings, headers and bodies are never logged.

The line of a failed request holds the method, the path, the status, the error code and a short message. Messages of
codes outside `SAFE_MESSAGES` are left out, because they may repeat the document, its variables or the body.

Client errors are INFO: any client can cause them at any rate, so they must not raise an operator's alarm. Failures of
the server are ERROR. An unknown exception keeps its traceback. While the database is unavailable there is one line a
second for all requests (`contentapi.monitoring.repeated`).
"""

import logging
from collections.abc import Iterable
from datetime import UTC, datetime
from http import HTTPStatus
from http.client import responses
from random import random

from django.db import ProgrammingError

from contentapi.conf import conf
from contentapi.core.errors import PARTIAL_SUCCESS, ApiError, Internal, Unavailable, to_api_error
from contentapi.db.outages import is_outage
from contentapi.monitoring.figures import COUNTED_METHODS, FIGURES
from contentapi.monitoring.logs import RequestLine, find_line_handler
from contentapi.monitoring.records import RequestRecord, current_record
from contentapi.monitoring.repeated import OUTAGES

LOG = logging.getLogger("contentapi.requests")

MAX_METHOD = 20
MAX_PATH = 200
MAX_OPERATION_NAME = 100
MAX_LINE = 500
SAFE_MESSAGES = {
    "FORBIDDEN", "LIMIT_EXCEEDED", "METHOD_NOT_ALLOWED", "NOT_ACCEPTABLE", "NOT_FOUND", "RATE_LIMITED", "TOO_LARGE",
    "UNAUTHENTICATED", "UNSUPPORTED_MEDIA_TYPE",
}  # fmt: skip

HEALTH_PATHS = ("/healthz", "/readyz")
BAD_REQUEST = HTTPStatus.BAD_REQUEST.value  # Python 3.11 calls a function for each look into an enumeration


def classify_and_record(exception: BaseException) -> ApiError:
    """Return the entry of the error table for an exception, and keep it once in the record of the request."""
    error = to_api_error(exception)
    record = current_record.get()
    if all(known is not error for known in record.errors):
        record.errors = (*record.errors, error)
    return error


def finish_request(record: RequestRecord, seconds: float) -> None:
    """Count a request, unless it is a health check, and log it. Call this once, when its response is complete."""
    environment = conf.environment
    if record.path in HEALTH_PATHS:
        share = environment.contentapi_log_sample_health
    else:
        if FIGURES.is_enabled:
            FIGURES.observe_request(record, seconds)
        is_success = record.status < BAD_REQUEST and record.status != PARTIAL_SUCCESS
        share = environment.contentapi_log_sample if is_success else 1
    if share == 1 or random() < share:  # noqa: S311 - a sample
        log_request(record, seconds)


def log_request(record: RequestRecord, seconds: float) -> None:
    """Log the line of a request. A request that failed because the database is unavailable has no line of its own."""
    if record.status < BAD_REQUEST and not record.errors and (handler := find_line_handler(LOG)):
        if LOG.isEnabledFor(logging.INFO):
            handler.write_request(build_line(record, seconds))
        return
    if record.status == Unavailable.status:
        outage = next((reason for reason in map(describe_outage, record.errors) if reason), "")
        if outage:
            OUTAGES.add(outage)
            return
    is_fault = any(status >= Internal.status for status in (record.status, *(error.status for error in record.errors)))
    level = logging.ERROR if is_fault else logging.INFO
    if LOG.isEnabledFor(level):
        line = build_line(record, seconds)
        exception = get_traceback_exception(record.errors)
        information = (type(exception), exception, exception.__traceback__) if exception else None
        # This does not look for the caller.
        entry = LOG.makeRecord(LOG.name, level, "", 0, line.message, (), information)
        entry.fields = line.collect_fields()
        LOG.handle(entry)


def build_line(record: RequestRecord, seconds: float) -> RequestLine:
    method = record.method if record.method in COUNTED_METHODS else escape_log_text(record.method, MAX_METHOD)
    path = escape_log_text(record.path, MAX_PATH)
    message, code = f"{method} {path} {record.status}", ""
    if record.status >= BAD_REQUEST or record.errors:
        error = find_main_error(record)
        code = error.code if error else ""
        reason = f"{code} {describe_error(error)}" if error else responses.get(record.status, "")
        message = truncate_log_text(f"{message} {escape_log_text(reason)}".rstrip(), MAX_LINE)
    return RequestLine(
        datetime.now(UTC),
        "INFO",
        LOG.name,
        message,
        record.id,
        method,
        path,
        record.status,
        record.operation,
        int(seconds * 1_000_000) / 1000,
        record.size,
        len(record.statements),
        record.operation_name and truncate_log_text(record.operation_name, MAX_OPERATION_NAME),
        record.credential,
        record.cost,
        code,
        record.find_trace_id(),
    )


def describe_outage(error: ApiError) -> str:
    """Return why the database is unavailable, or lacks migrations; an empty string for an error of another kind."""
    cause = error.__cause__
    if error.status != Unavailable.status or not isinstance(cause, Exception):
        return ""
    return describe_exception(cause) if is_outage(cause) or isinstance(cause, ProgrammingError) else ""


def find_main_error(record: RequestRecord) -> ApiError | None:
    """Return the error of a request with the response's status; of 294 that with the highest one."""
    return min(record.errors, key=lambda error: (error.status != record.status, -error.status), default=None)


def describe_error(error: ApiError) -> str:
    if isinstance(error, Internal):
        return "" if error.__cause__ is None else type(error.__cause__).__name__
    if error.status > Internal.status and error.__cause__ is not None:
        return describe_exception(error.__cause__)
    return error.message if error.code in SAFE_MESSAGES else ""


def describe_exception(exception: BaseException) -> str:
    """Return the kind of a database failure and the first line of its message; the rest may hold values of rows."""
    cause = exception.__cause__ or exception  # psycopg's error, which is more exact than Django's
    first_line = str(cause).strip().partition("\n")[0]
    return f"{type(cause).__name__}: {first_line}"


def get_traceback_exception(errors: Iterable[ApiError]) -> BaseException | None:
    """Return the exception whose traceback belongs in the log; several are grouped into one."""
    causes = [error.__cause__ for error in errors if isinstance(error, Internal) and error.__cause__ is not None]
    if len(causes) > 1:
        return BaseExceptionGroup("Several fields failed", causes)
    return causes[0] if causes else None


def escape_log_text(text: str, limit: int = MAX_LINE) -> str:
    r"""Return a short text in printable ASCII; a line end is `\n`, so that a request cannot forge a line of its own."""
    text = truncate_log_text(text, limit)
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return text.encode("unicode_escape").decode("ascii")


def truncate_log_text(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
