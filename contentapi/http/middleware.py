"""The outermost middleware of requests through Django: sets the request id, logs failures, removes forbidden bodies."""

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse

from contentapi.http.failure_log import log_failure
from contentapi.http.request_id import current_request_id, new_request_id


def request_id_middleware(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def middleware(request: HttpRequest) -> HttpResponse:
        token = current_request_id.set(new_request_id())
        try:
            response = get_response(request)
            log_failure(request.META, response.status_code)
            response["X-Request-ID"] = current_request_id.get()
            # WSGI servers would send the body of a response to HEAD, and the Content-Length of a 204.
            if request.method == "HEAD" and not response.streaming:
                response.content = b""
            if response.status_code == HTTPStatus.NO_CONTENT:
                del response["Content-Length"]
            return response
        finally:
            current_request_id.reset(token)

    return middleware
