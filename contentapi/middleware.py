"""The request's id: in every answer's X-Request-ID, in error bodies, and in every line logged for it."""

import logging
import uuid
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse

current_request_id: ContextVar[str] = ContextVar("request_id", default="-")


def request_id(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def middleware(request: HttpRequest) -> HttpResponse:
        token = current_request_id.set(uuid.uuid4().hex)
        try:
            response = get_response(request)
            response["X-Request-ID"] = current_request_id.get()
            return response
        finally:
            current_request_id.reset(token)

    return middleware


class RequestIdFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = current_request_id.get()
        return True
