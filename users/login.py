"""Logging in with a password: pages for people, with limits on wrong passwords."""

import unicodedata
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from contentapi import rates
from contentapi.addresses import client_address
from contentapi.errors import RateLimited
from users.known_browsers import find_known_browser, remember_browser
from users.models import MAX_EMAIL
from users.pages import page


def throttled(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Limit the wrong passwords that a login view accepts, by account and address.

    Each attempt reserves its units before the password is hashed, because hashing is the expensive part and concurrent
    attempts must not exceed a limit. A successful login gets its units back.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponseBase:
        if request.method != "POST":
            return view(request, *arguments, **options)
        account = account_in(request)
        try:
            reservation = rates.Reservation(limits_of(request, account))
        except RateLimited as error:
            return refuse(request, error)
        response = view(request, *arguments, **options)
        if response.status_code == HTTPStatus.FOUND:  # a refused login shows the form again
            reservation.refund()
            remember_browser(response, account)
        return response

    return guarded


def limits_of(request: HttpRequest, account: str) -> dict[rates.Limit, str]:
    """Return the limits of an attempt, each with the key that it is counted by.

    A known browser is counted by itself alone: nobody else can use up its limit.
    """
    browser = find_known_browser(request, account)
    if browser is not None:
        return {rates.LOGIN: f"{browser}|{account}"}
    address = client_address(request.META)
    return {rates.LOGIN: f"{address}|{account}", rates.LOGIN_ADDRESS: address, rates.LOGIN_ACCOUNT: account}


def refuse(request: HttpRequest, error: RateLimited) -> HttpResponse:
    context = {"seconds": error.headers["Retry-After"], "back": request.get_full_path()}
    response = page(request, "too_many", context, status=error.status)
    for name, value in error.headers.items():
        response[name] = value
    return response


def account_in(request: HttpRequest) -> str:
    """Return the account that an attempt is for, as one key for every spelling of its email."""
    email = unicodedata.normalize("NFKC", request.POST.get("username", ""))  # as Django's form reads it
    return email.strip().lower()[:MAX_EMAIL]


class Login(LoginView):
    """The page at which users log in before they let an application act for them."""

    next_page = settings.LOGIN_URL

    def render_to_response(self, context: dict[str, Any], **_: Any) -> HttpResponse:
        return page(self.request, "login", context)


login = throttled(Login.as_view())
logout = LogoutView.as_view(next_page=settings.LOGIN_URL)
