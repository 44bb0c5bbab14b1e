"""How a failure is said, also one of a request that reaches no resource."""

import sys
from http import HTTPStatus
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse

from contentapi.bodies import JSON
from contentapi.errors import ApiError, Forbidden, Internal, Malformed, NotFound, from_exception
from contentapi.failure_log import record_error
from contentapi.negotiation import PROBLEM, wants_problem
from contentapi.requests import current_request_id
from contentapi.rest.answers import Answer
from contentapi.rest.markers import VERSION

# The phrases of RFC 9110, on every Python: before 3.13 it has older ones for these two.
TITLES = {status.value: status.phrase for status in HTTPStatus} | {
    413: "Content Too Large",
    422: "Unprocessable Content",
}


def failure(error: ApiError, accept: str) -> Answer:
    """Return `{"error": message}` with the error's status, or problem details (RFC 9457) where Accept names them.

    The code is in X-Error-Code either way. The error is recorded for the log.
    """
    record_error(error)
    is_problem = wants_problem(accept)
    content: dict[str, Any] = problem(error) if is_problem else {"error": error.message}
    headers = {"Content-Type": PROBLEM if is_problem else JSON, "X-Error-Code": error.code, **error.headers}
    return Answer(error.status, msgspec.json.encode(content), headers)


def problem(error: ApiError) -> dict[str, Any]:
    return {
        "type": "about:blank",
        "title": TITLES[error.status],
        "status": error.status,
        "detail": error.message,
        "errors": error.fields,
        "requestId": current_request_id.get(),
    }


# --- Failures outside of resources ----------------------------------------------------------------------


def error_response(error: ApiError, accept: str = "") -> HttpResponse:
    return response_of(failure(error, accept))


def failure_response(exception: Exception, accept: str = "") -> HttpResponse:
    return response_of(failure(from_exception(exception), accept))


def response_of(answer: Answer) -> HttpResponse:
    headers = {**answer.headers, "Content-Length": str(len(answer.body)), "Vary": "Accept"}
    return HttpResponse(answer.body, status=answer.status, headers=headers)


def accept_of(request: HttpRequest) -> str:
    return request.headers.get("Accept", "")


def refusal(error: ApiError, request: HttpRequest) -> HttpResponse:
    response = error_response(error, accept_of(request))
    response["Cache-Control"], response["X-API-Version"] = "no-store", VERSION
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django's signature
    return refusal(Malformed("The request is malformed, or its Host is not one of ALLOWED_HOSTS."), request)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    return refusal(Forbidden("You may not do this."), request)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    return refusal(NotFound("There is nothing at this address."), request)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the response to an exception that a view did not handle: Django calls this while it handles it."""
    exception = sys.exc_info()[1]
    return refusal(Internal() if exception is None else from_exception(exception), request)
