"""The error table: the exceptions that become error responses, each with a code and an HTTP status.

Raise an `ApiError` anywhere: each transport renders it. Messages are for the developer of the client and contain no
internals. `graphql/errors.py` adds two kinds. See docs/decisions/0019-errors-and-400-or-422.md.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import Error as DatabaseError
from django.db import IntegrityError, InterfaceError, InternalError, OperationalError, ProgrammingError
from django.http import Http404
from django.utils.module_loading import import_string
from psycopg.errors import ForeignKeyViolation, UndefinedColumn, UndefinedFunction, UndefinedTable, UniqueViolation

from contentapi.db.engine.slots import NoSlotAvailable
from contentapi.db.outages import is_outage

T = TypeVar("T")
Fields = Mapping[str, Sequence[str]]

# A distributed database passes on the message of a node, and not its fields.
CONSTRAINT_OF_SHARD = re.compile(r'constraint "(\w+?)(?:_\d{6,})?"')  # without the id of the shard
LACKS_MIGRATIONS = "contentapi.health.readiness.lacks_migrations"  # it executes a statement, and this package has none
PARTIAL_SUCCESS = 294  # the GraphQL-over-HTTP draft's status for some data and some errors
UNAVAILABLE = "The service is temporarily unavailable. Try again shortly."


class ApiError(Exception):
    """An error for the client. `fields` has messages by field, `headers` are the response's, `limit` is for metrics."""

    status = 500
    code = "INTERNAL"

    def __init__(
        self, message: str, *, fields: Fields | None = None, headers: Mapping[str, str] | None = None, limit: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields or {}
        self.headers = headers or {}
        self.limit = limit


class Malformed(ApiError):
    status = 400
    code = "BAD_REQUEST"


class LimitExceeded(Malformed):
    code = "LIMIT_EXCEEDED"


class ResponseTooLarge(LimitExceeded):
    """The response would have more than `most` bytes (CONTENTAPI_MAX_RESPONSE)."""

    def __init__(self, most: int, note: str = "") -> None:
        self.most = most
        allowed = f"at most {most} is allowed (CONTENTAPI_MAX_RESPONSE)."
        message = f"The response's size in bytes is {most + 1} or more; {allowed}{note}"
        super().__init__(message, limit="size of the response")


class Unauthenticated(ApiError):
    """A missing or invalid credential. `bearer_error` is the error code of a bearer token (RFC 6750)."""

    status = 401
    code = "UNAUTHENTICATED"

    def __init__(self, message: str, *, bearer_error: str = "") -> None:
        challenge = 'ApiKey realm="contentapi", Bearer realm="contentapi"'
        if bearer_error:
            challenge += f', error="{bearer_error}"'
        super().__init__(message, headers={"WWW-Authenticate": challenge})


class PreviewExpired(Unauthenticated):
    code = "PREVIEW_EXPIRED"


class Forbidden(ApiError):
    status = 403
    code = "FORBIDDEN"


class NotFound(ApiError):
    status = 404
    code = "NOT_FOUND"


class MethodNotAllowed(ApiError):
    status = 405
    code = "METHOD_NOT_ALLOWED"

    def __init__(self, method: str, allowed: Sequence[str], message: str = "") -> None:
        allow = ", ".join(allowed)
        super().__init__(message or f"{method} is not allowed here; allowed: {allow}.", headers={"Allow": allow})


class NotAcceptable(ApiError):
    status = 406
    code = "NOT_ACCEPTABLE"


class Conflict(ApiError):
    status = 409
    code = "CONFLICT"


class VersionConflict(Conflict):
    """The resource has another version than the caller has read."""


class EventsExpired(ApiError):
    """The events after a cursor are not kept any more, or the cursor is of another epoch."""

    status = 410
    code = "EVENTS_EXPIRED"


class TooLarge(ApiError):
    status = 413
    code = "TOO_LARGE"


class UnsupportedMediaType(ApiError):
    status = 415
    code = "UNSUPPORTED_MEDIA_TYPE"


class Invalid(ApiError):
    """The input is well-formed, but violates a rule. The message joins the messages of the fields."""

    status = 422
    code = "INVALID"

    def __init__(self, fields: Fields) -> None:
        message = " ".join(f"{name}: {text}" for name, texts in fields.items() for text in texts)
        super().__init__(message, fields=fields)


class RateLimited(ApiError):
    status = 429
    code = "RATE_LIMITED"


class Internal(ApiError):
    def __init__(self) -> None:
        super().__init__("Internal server error")


class Unavailable(ApiError):
    status = 503
    code = "UNAVAILABLE"

    def __init__(self, message: str = UNAVAILABLE, *, limit: str = "") -> None:
        super().__init__(message, headers={"Retry-After": "5"}, limit=limit)


def require_found(row: T | None, name: str) -> T:
    """Return the row. Raises `NotFound` if it is None; the message contains the name of the resource."""
    if row is None:
        raise NotFound(f"There is no {name} with this id.")
    return row


def require_row(rows: Iterable[T], name: str) -> T:
    """Return the only row of a QuerySet, to which `first` would add an ORDER BY. Raises as `require_found` does."""
    return require_found(next(iter(rows), None), name)


def to_api_error(exception: BaseException) -> ApiError:
    """Return the `ApiError` for any exception, `Internal` for an unknown one. Its cause is the exception."""
    error = classify_exception(exception)
    if error is not exception:
        error.__cause__ = exception
    return error


def classify_exception(exception: BaseException) -> ApiError:
    match exception:
        case ApiError():
            return exception
        case Http404():
            return NotFound("There is nothing at this address.")
        case PermissionDenied():
            return Forbidden("You may not do this.")
        case RequestDataTooBig():
            return TooLarge("The body is too large.")
        case BadRequest() | SuspiciousOperation():
            return Malformed("The request is malformed.")
        case NoSlotAvailable():
            return Unavailable(limit=exception.awaited)
        case IntegrityError(__cause__=UniqueViolation() | ForeignKeyViolation()):  # a race; the constraint held
            return Conflict("This conflicts with a change that was made at the same time. Try again.")
        case OperationalError() | InterfaceError() | InternalError():
            may_succeed_later = not isinstance(exception, InternalError) or is_outage(exception)
            return Unavailable() if may_succeed_later else Internal()
        case ProgrammingError(__cause__=UndefinedTable() | UndefinedColumn() | UndefinedFunction()):
            return Unavailable() if import_string(LACKS_MIGRATIONS)() else Internal()
        case _:
            return Internal()


def get_constraint_name(error: DatabaseError) -> str:
    """Return the name of the violated constraint, or an empty string."""
    diagnostics = getattr(error.__cause__, "diag", None)
    if name := getattr(diagnostics, "constraint_name", None):
        return str(name)
    return found[1] if (found := CONSTRAINT_OF_SHARD.search(str(error))) else ""
