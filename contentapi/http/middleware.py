"""What holds for every request: its id, which is in X-Request-ID, in error bodies and in each line logged for it; and
its rate limit, where its view does not see to that itself."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse

from contentapi.core.errors import RateLimited
from contentapi.http.error_response import accept_of, error_response
from contentapi.http.failure_log import log_failure
from contentapi.http.request_id import current_request_id, new_request_id
from contentapi.rates import Account

# Editors' pages and files: those who log in there are counted when they do.
NOT_THE_API = ("/admin/", "/static/")
ACCOUNT = "contentapi.account"


def request_id(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def middleware(request: HttpRequest) -> HttpResponse:
        token = current_request_id.set(new_request_id())
        try:
            response = get_response(request)
            log_failure(request.META, response.status_code)
            response["X-Request-ID"] = current_request_id.get()
            return framed(request, response)
        finally:
            current_request_id.reset(token)

    return middleware


def framed(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Take away what no answer to HEAD and no 204 may have: servers send it all the same."""
    if request.method == "HEAD" and not response.streaming:
        response.content = b""
    if response.status_code == HTTPStatus.NO_CONTENT:
        del response["Content-Length"]
    return response


class Rates:
    """Charges the client's address for a request, before its view is called; where there is no view, after."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path_info.startswith(NOT_THE_API) or "RateLimit" in response:
            return response
        return self.charged(request) or self.with_headers(request, response)

    def process_view(self, request: HttpRequest, view: Any, *_: Any) -> HttpResponse | None:
        if request.path_info.startswith(NOT_THE_API) or getattr(view, "charges_itself", False):
            return None
        return self.charged(request)

    def charged(self, request: HttpRequest) -> HttpResponse | None:
        """Charge once for a request. Returns the answer to one that is over the limit."""
        if ACCOUNT in request.META:
            return None
        account = request.META[ACCOUNT] = Account(request.META)
        try:
            account.charge(1)
        except RateLimited as refused:
            return error_response(refused, accept_of(request))
        return None

    def with_headers(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        for name, value in request.META[ACCOUNT].headers.items():
            response[name] = value
        return response
