"""Charge the rate limit of requests whose view does not do so itself."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse

from contentapi.core.errors import RateLimited
from contentapi.http.error_response import django_error_response
from contentapi.rate_limits.account import Account

# Pages and files of the admin, whose login has its own limits.
NOT_THE_API = ("/admin/", "/static/")
ACCOUNT = "contentapi.account"

View = TypeVar("View", bound=Callable[..., Any])


def handles_rate_limit(view: View) -> View:
    """Mark a view that charges its requests and adds the rate limit headers to its responses."""
    vars(view)["handles_rate_limit"] = True
    return view


class RateLimitMiddleware:
    """Charge the client's address before the view of a request is called, or afterwards if it has no view."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path_info.startswith(NOT_THE_API) or "RateLimit" in response:
            return response
        refusal = self.charge_request(request)
        if refusal is None:
            for name, value in request.META[ACCOUNT].headers.items():
                response[name] = value
        return refusal or response

    def process_view(self, request: HttpRequest, view: Any, *_: Any) -> HttpResponse | None:
        if request.path_info.startswith(NOT_THE_API) or getattr(view, "handles_rate_limit", False):
            return None
        return self.charge_request(request)

    def charge_request(self, request: HttpRequest) -> HttpResponse | None:
        """Charge a request once. Return the response if it is over the limit."""
        if ACCOUNT in request.META:
            return None
        account = request.META[ACCOUNT] = Account(request.META)
        try:
            account.charge_request()
        except RateLimited as error:
            return django_error_response(error, request)
        return None
