"""One log line for each failed request, under the request's id.

The line holds the method, the path, the status, the error code and a short message. Messages of codes outside
`SAFE_MESSAGES` are left out, because they may repeat the document, its variables or the body. Query strings, headers
and bodies are never logged.

Client errors are INFO: any client can cause them at any rate, so they must not raise an operator's alarm. Failures of
the server are ERROR. An unknown exception keeps its traceback; an unavailable database is one line.
"""

import logging
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from http import HTTPStatus
from http.client import responses
from typing import Any

from contentapi.core.errors import PARTIAL_SUCCESS, ApiError, Internal, to_api_error
from contentapi.http.request_id import current_request_id

LOG = logging.getLogger("contentapi.requests")

MAX_PATH = 200
MAX_LINE = 500
SAFE_MESSAGES = {
    "FORBIDDEN", "LIMIT_EXCEEDED", "METHOD_NOT_ALLOWED", "NOT_ACCEPTABLE", "NOT_FOUND", "RATE_LIMITED", "TOO_LARGE",
    "UNAUTHENTICATED", "UNSUPPORTED_MEDIA_TYPE",
}  # fmt: skip

# The errors of the request that failed last in this thread, with the request's id.
recorded: ContextVar[tuple[str, tuple[ApiError, ...]]] = ContextVar("recorded_errors", default=("", ()))


def classify_and_record(exception: BaseException) -> ApiError:
    """Return the entry of the error table for an exception, and keep it once for the log line of the request."""
    error = to_api_error(exception)
    request_id = current_request_id.get()
    errors = get_recorded_errors(request_id)
    if all(known is not error for known in errors):
        recorded.set((request_id, (*errors, error)))
    return error


def get_recorded_errors(request_id: str) -> tuple[ApiError, ...]:
    owner, errors = recorded.get()
    return errors if owner == request_id else ()


def log_failure(environ: Mapping[str, Any], status: int) -> None:
    """Log a request whose response has errors; call this once for each response. Other responses log nothing."""
    if status < HTTPStatus.BAD_REQUEST and status != PARTIAL_SUCCESS:
        return
    errors = get_recorded_errors(current_request_id.get())
    recorded.set(("", ()))
    is_fault = any(error.status >= Internal.status for error in errors) or status >= Internal.status
    level = logging.ERROR if is_fault else logging.INFO
    if LOG.isEnabledFor(level):
        line = truncate_log_text(escape_log_text(describe_failure(environ, status, errors)), MAX_LINE)
        LOG.log(level, "%s", line, exc_info=get_traceback_exception(errors))


def describe_failure(environ: Mapping[str, Any], status: int, errors: Iterable[ApiError]) -> str:
    method, path = truncate_log_text(environ["REQUEST_METHOD"], 20), truncate_log_text(environ["PATH_INFO"], MAX_PATH)
    request = f"{method} {path} {status}"
    # The error with the status of the response is first. A response with data and errors (294) has no such error:
    # there, the error with the highest status is first.
    ranked = sorted(errors, key=lambda error: (error.status != status, -error.status))
    if not ranked:
        return f"{request} {responses.get(status, '')}".rstrip()
    return f"{request} {ranked[0].code} {describe_error(ranked[0])}".rstrip()


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


def escape_log_text(text: str) -> str:
    r"""Return text in printable ASCII; a line end is `\n`, so that a request cannot forge a line of its own."""
    return text.encode("unicode_escape").decode("ascii")


def truncate_log_text(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
