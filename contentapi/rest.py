"""Resource-oriented HTTP: how a failure is said."""

import logging
import sys

from django.http import HttpRequest, JsonResponse

from contentapi.errors import ApiError, Forbidden, Internal, Malformed, NotFound, from_exception

LOG = logging.getLogger("contentapi.rest")


def error_response(error: ApiError) -> JsonResponse:
    """Return `{"error": message}` with the error's status; the code is in X-Error-Code."""
    return JsonResponse(
        {"error": error.message}, status=error.status, headers={"X-Error-Code": error.code, **error.headers}
    )


def failure_response(exception: Exception) -> JsonResponse:
    """Return the answer to any exception. Our own faults go to the log, with their traceback."""
    kind = from_exception(exception)
    if kind.status >= Internal.status:
        LOG.error("%s", exception, exc_info=exception)
    return error_response(kind)


def bad_request(_: HttpRequest, exception: Exception) -> JsonResponse:  # noqa: ARG001 - Django's signature
    return error_response(Malformed("The request is malformed, or its Host is not one of ALLOWED_HOSTS."))


def forbidden(_: HttpRequest, exception: Exception) -> JsonResponse:  # noqa: ARG001
    return error_response(Forbidden("You may not do this."))


def not_found(_: HttpRequest, exception: Exception) -> JsonResponse:  # noqa: ARG001
    return error_response(NotFound("There is nothing at this address."))


def server_error(_: HttpRequest) -> JsonResponse:
    """Answer what a view has not: Django calls this while it handles the exception, and logs it."""
    exception = sys.exc_info()[1]
    return error_response(Internal() if exception is None else from_exception(exception))
