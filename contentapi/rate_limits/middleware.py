"""The middleware that charges the rate limit for requests to views that do not charge it themselves."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse

from contentapi.core.errors import RateLimited
from contentapi.http.error_response import django_error_response, get_accept
from contentapi.rate_limits.account import Account

# Pages and files of the admin: logging in there has limits of its own.
NOT_THE_API = ("/admin/", "/static/")
ACCOUNT = "contentapi.account"

View = TypeVar("View", bound=Callable[..., Any])


def handles_rate_limit(view: View) -> View:
    """Mark a view that charges for its requests and adds the rate-limit headers to its responses."""
    vars(view)["handles_rate_limit"] = True
    return view


class RateLimitMiddleware:
    """Charges the client's address for a request, before its view is called; where there is no view, after."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path_info.startswith(NOT_THE_API) or "RateLimit" in response:
            return response
        return self.charged(request) or self.with_headers(request, response)

    def process_view(self, request: HttpRequest, view: Any, *_: Any) -> HttpResponse | None:
        if request.path_info.startswith(NOT_THE_API) or getattr(view, "handles_rate_limit", False):
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
            return django_error_response(refused, get_accept(request))
        return None

    def with_headers(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        for name, value in request.META[ACCOUNT].headers.items():
            response[name] = value
        return response
