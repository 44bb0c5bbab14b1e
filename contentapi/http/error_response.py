"""How a failure is said, also one of a request that reaches no resource."""

import sys
from http import HTTPStatus
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse

from contentapi.core.errors import ApiError, Forbidden, Internal, Malformed, NotFound, to_api_error
from contentapi.http.api_version import VERSION
from contentapi.http.body import JSON
from contentapi.http.failure_log import record_error
from contentapi.http.negotiation import PROBLEM, wants_problem
from contentapi.http.request_id import current_request_id
from contentapi.http.response import Answer


def error_response(error: ApiError, accept: str) -> Answer:
    """Return `{"error": message}` with the error's status, or problem details (RFC 9457) where Accept names them.

    The code is in X-Error-Code either way. The error is recorded for the log.
    """
    record_error(error)
    is_problem = wants_problem(accept)
    content: dict[str, Any] = problem_details(error) if is_problem else {"error": error.message}
    headers = {"Content-Type": PROBLEM if is_problem else JSON, "X-Error-Code": error.code, **error.headers}
    return Answer(error.status, msgspec.json.encode(content), headers)


def problem_details(error: ApiError) -> dict[str, Any]:
    return {
        "type": "about:blank",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        "detail": error.message,
        "errors": error.fields,
        "requestId": current_request_id.get(),
    }


# --- Failures outside of resources ----------------------------------------------------------------------


def django_error_response(error: ApiError, accept: str = "") -> HttpResponse:
    return to_django_response(error_response(error, accept))


def django_exception_response(exception: Exception, accept: str = "") -> HttpResponse:
    return to_django_response(error_response(to_api_error(exception), accept))


def to_django_response(answer: Answer) -> HttpResponse:
    headers = {**answer.headers, "Content-Length": str(len(answer.body)), "Vary": "Accept"}
    return HttpResponse(answer.body, status=answer.status, headers=headers)


def get_accept(request: HttpRequest) -> str:
    return request.headers.get("Accept", "")


def uncached_error_response(error: ApiError, request: HttpRequest) -> HttpResponse:
    response = django_error_response(error, get_accept(request))
    response["Cache-Control"], response["X-API-Version"] = "no-store", VERSION
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django's signature
    return uncached_error_response(
        Malformed("The request is malformed, or its Host is not one of ALLOWED_HOSTS."), request
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    return uncached_error_response(Forbidden("You may not do this."), request)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    return uncached_error_response(NotFound("There is nothing at this address."), request)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the response to an exception that a view did not handle: Django calls this while it handles it."""
    exception = sys.exc_info()[1]
    return uncached_error_response(Internal() if exception is None else to_api_error(exception), request)
