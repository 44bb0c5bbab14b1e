"""Logging in with a password: pages for people, throttled per address and account."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from contentapi import rates
from contentapi.addresses import client_address
from contentapi.errors import RateLimited
from users.pages import page


def throttled(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Let a login view take so many attempts from an address, and for an account, and no more.

    Attempts are counted whether or not their password is right, before it is looked at: hashing is what costs.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponseBase:
        if request.method == "POST":
            try:
                rates.charge(rates.LOGIN, key=client_address(request.META))
                rates.charge(rates.LOGIN, key=f"account:{request.POST.get('username', '').strip().lower()[:254]}")
            except RateLimited as over:
                seconds = over.headers["Retry-After"]
                context = {"seconds": seconds, "back": request.get_full_path()}
                response = page(request, "too_many", context, status=over.status)
                response["Retry-After"] = seconds
                return response
        return view(request, *arguments, **options)

    return guarded


class Login(LoginView):
    """The page at which users log in before they let an application act for them."""

    next_page = settings.LOGIN_URL

    def render_to_response(self, context: dict[str, Any], **_: Any) -> HttpResponse:
        return page(self.request, "login", context)


login = throttled(Login.as_view())
logout = LogoutView.as_view(next_page=settings.LOGIN_URL)
