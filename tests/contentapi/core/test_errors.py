"""The error table (docs/decisions/0019-errors-and-400-or-422.md), and the error of other exceptions."""

import psycopg.errors
import pytest
from django.core.exceptions import (
    BadRequest,
    DisallowedHost,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.db import IntegrityError, InterfaceError, OperationalError, ProgrammingError, transaction
from django.http import Http404

from contentapi.core.errors import (
    ApiError,
    Conflict,
    EventsExpired,
    Forbidden,
    Internal,
    Invalid,
    LimitExceeded,
    Malformed,
    MethodNotAllowed,
    NotAcceptable,
    NotFound,
    PreviewExpired,
    RateLimited,
    ResponseTooLarge,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnsupportedMediaType,
    VersionConflict,
    get_constraint_name,
    to_api_error,
)
from contentapi.db.engine.slots import NoSlotAvailable
from contentapi.db.statements import execute
from contentapi.http.error_response import django_error_response
from tests.factories import make_user

TABLE = [
    (Malformed("No."), 400, "BAD_REQUEST"),
    (LimitExceeded("No."), 400, "LIMIT_EXCEEDED"),
    (ResponseTooLarge(1), 400, "LIMIT_EXCEEDED"),
    (Unauthenticated("No."), 401, "UNAUTHENTICATED"),
    (PreviewExpired("No."), 401, "PREVIEW_EXPIRED"),
    (Forbidden("No."), 403, "FORBIDDEN"),
    (NotFound("No."), 404, "NOT_FOUND"),
    (MethodNotAllowed("PUT", ["GET"]), 405, "METHOD_NOT_ALLOWED"),
    (NotAcceptable("No."), 406, "NOT_ACCEPTABLE"),
    (Conflict("No."), 409, "CONFLICT"),
    (VersionConflict("No."), 409, "CONFLICT"),
    (EventsExpired("No."), 410, "EVENTS_EXPIRED"),
    (TooLarge("No."), 413, "TOO_LARGE"),
    (UnsupportedMediaType("No."), 415, "UNSUPPORTED_MEDIA_TYPE"),
    (Invalid({"title": ["No."]}), 422, "INVALID"),
    (RateLimited("No."), 429, "RATE_LIMITED"),
    (Internal(), 500, "INTERNAL"),
    (Unavailable(), 503, "UNAVAILABLE"),
]
NAMES = [type(error).__name__ for error, _, _ in TABLE]


def iterate_subclasses(kind: type[ApiError]) -> set[type[ApiError]]:
    return {below for child in kind.__subclasses__() for below in {child, *iterate_subclasses(child)}}


def test_table_has_every_kind() -> None:
    kinds = {kind for kind in iterate_subclasses(ApiError) if kind.__module__ == ApiError.__module__}

    assert {type(error) for error, _, _ in TABLE} == kinds


@pytest.mark.parametrize(("error", "status", "code"), TABLE, ids=NAMES)
def test_each_kind_has_its_status_and_code(error: ApiError, status: int, code: str) -> None:
    response = django_error_response(error)

    assert to_api_error(error) is error
    assert (error.status, error.code) == (status, code)
    assert (response.status_code, response["X-Error-Code"]) == (status, code)
    assert response["Content-Type"] == "application/json"


def test_wait_that_is_too_long_is_unavailable_and_names_what_was_awaited() -> None:
    error = to_api_error(NoSlotAvailable("preparation lane", "waited 10 s for the preparation lane"))

    assert (type(error), error.limit) == (Unavailable, "preparation lane")
    assert "lane" not in error.message


def test_invalid_joins_the_messages_of_its_fields() -> None:
    error = Invalid({"title": ["Too long."], "tags": ["Too many.", "One twice."]})

    assert error.message == str(error) == "title: Too long. tags: Too many. tags: One twice."
    assert error.fields == {"title": ["Too long."], "tags": ["Too many.", "One twice."]}


@pytest.mark.parametrize(
    ("exception", "kind"),
    [
        (Http404("secret"), NotFound),
        (PermissionDenied("secret"), Forbidden),
        (RequestDataTooBig("secret"), TooLarge),
        (BadRequest("secret"), Malformed),
        (SuspiciousOperation("secret"), Malformed),
        (DisallowedHost("secret"), Malformed),
        (OperationalError("secret"), Unavailable),
        (InterfaceError("secret"), Unavailable),
        (ProgrammingError("secret"), Internal),
        (IntegrityError("secret"), Internal),
        (ValueError("secret"), Internal),
        (RecursionError("secret"), Internal),
        (KeyboardInterrupt("secret"), Internal),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_other_exception_becomes_a_kind_without_its_text(exception: BaseException, kind: type[ApiError]) -> None:
    error = to_api_error(exception)

    assert type(error) is kind
    assert "secret" not in error.message


@pytest.mark.django_db
def test_statement_timeout_is_unavailable() -> None:
    execute("SET LOCAL statement_timeout = 20")

    with pytest.raises(OperationalError) as raised:
        execute("SELECT pg_sleep(30)")

    error = to_api_error(raised.value)

    assert isinstance(raised.value.__cause__, psycopg.errors.QueryCanceled)
    assert (type(error), error.headers) == (Unavailable, {"Retry-After": "5"})
    assert get_constraint_name(raised.value) == ""


@pytest.mark.django_db
def test_violated_constraint_is_a_conflict_with_its_name() -> None:
    make_user(email="ines@example.invalid")

    with pytest.raises(IntegrityError) as raised, transaction.atomic():
        make_user(email="INES@example.invalid")

    assert get_constraint_name(raised.value) == "users_user_email_unique"
    assert type(to_api_error(raised.value)) is Conflict


def test_error_without_diagnostics_names_no_constraint() -> None:
    assert get_constraint_name(IntegrityError("made by hand")) == ""


def test_response_too_large_names_the_limit_and_the_note() -> None:
    error = ResponseTooLarge(1000, " Ask for fewer items.")

    assert (error.status, error.code, error.most) == (400, "LIMIT_EXCEEDED", 1000)
    assert error.message == (
        "The response's size in bytes is 1001 or more; "
        "at most 1000 is allowed (CONTENTAPI_MAX_RESPONSE). Ask for fewer items."
    )


def test_challenge_contains_the_error_of_a_bearer_token() -> None:
    challenge = 'ApiKey realm="contentapi", Bearer realm="contentapi", error="invalid_token"'

    assert Unauthenticated("No.", bearer_error="invalid_token").headers == {"WWW-Authenticate": challenge}
