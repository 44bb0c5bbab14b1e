"""Error responses: `{"error": message}` or problem details, for resources and for requests that reach no resource."""

import sys
from http.client import responses
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse

from contentapi.core.errors import Internal, Malformed
from contentapi.http.body import JSON
from contentapi.http.negotiation import PROBLEM, VERSION, wants_problem
from contentapi.http.request_log import classify_and_record
from contentapi.http.response import Response
from contentapi.monitoring.records import current_record

# RFC 9110 changed these two phrases; Python has the new ones since 3.13.
TITLES = responses | {413: "Content Too Large", 422: "Unprocessable Content"}


def error_response(exception: BaseException, accept: str) -> Response:
    """Return the response to a request that failed, and record the error for the log. Its code is in X-Error-Code.

    The body is `{"error": message}`, or problem details (RFC 9457) if `accept` names their media type.
    """
    error = classify_and_record(exception)
    is_problem = wants_problem(accept)
    content: dict[str, Any] = {"error": error.message}
    if is_problem:
        content = {
            "type": "about:blank",
            "title": TITLES[error.status],
            "status": error.status,
            "detail": error.message,
            "errors": error.fields,
            "requestId": current_record.get().id,
        }
    headers = {"Content-Type": PROBLEM if is_problem else JSON, "X-Error-Code": error.code, **error.headers}
    return Response(error.status, msgspec.json.encode(content), headers)


def django_error_response(exception: BaseException, request: HttpRequest | None = None) -> HttpResponse:
    """Return the response. Without a request, its body is never problem details."""
    response = error_response(exception, request.headers.get("Accept", "") if request else "")
    headers = {**response.headers, "Content-Length": str(len(response.body)), "Vary": "Accept"}
    return HttpResponse(response.body, status=response.status, headers=headers)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django's signature
    return respond_to_error(request, Malformed("The request is malformed, or its Host is not one of ALLOWED_HOSTS."))


def respond_to_error(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return the response to an exception that no view handled. Django calls this in its exception handler."""
    response = django_error_response(exception or sys.exc_info()[1] or Internal(), request)
    response["Cache-Control"], response["X-API-Version"] = "no-store", VERSION
    return response
