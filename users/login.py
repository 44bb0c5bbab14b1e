"""Logging in with a password: pages for people, throttled per address and account."""

import unicodedata
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from contentapi import rates
from contentapi.addresses import client_address
from contentapi.errors import RateLimited
from users.models import MAX_EMAIL
from users.pages import page


def throttled(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Let a login view take so many attempts from an address, and for an account, and no more.

    Attempts are counted whether or not their password is right, before it is looked at: hashing is what costs.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponseBase:
        if request.method == "POST":
            try:
                rates.charge_each(rates.LOGIN, [client_address(request.META), account_in(request)])
            except RateLimited as over:
                context = {"seconds": over.headers["Retry-After"], "back": request.get_full_path()}
                response = page(request, "too_many", context, status=over.status)
                for name, value in over.headers.items():
                    response[name] = value
                return response
        return view(request, *arguments, **options)

    return guarded


def account_in(request: HttpRequest) -> str:
    """Return what stands for the account that somebody wants to log in to, however they write its email."""
    email = unicodedata.normalize("NFKC", request.POST.get("username", ""))  # as Django's form reads it
    return f"account:{email.strip().lower()[:MAX_EMAIL]}"


class Login(LoginView):
    """The page at which users log in before they let an application act for them."""

    next_page = settings.LOGIN_URL

    def render_to_response(self, context: dict[str, Any], **_: Any) -> HttpResponse:
        return page(self.request, "login", context)


login = throttled(Login.as_view())
logout = LogoutView.as_view(next_page=settings.LOGIN_URL)
