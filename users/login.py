"""Logging in with a password: pages for people, with limits on wrong passwords."""

import unicodedata
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import user_logged_out
from django.contrib.auth.views import LoginView, LogoutView
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from contentapi.core.encryption import compute_keyed_hash
from contentapi.core.errors import RateLimited
from contentapi.core.identity import Actor, Interface
from contentapi.core.unicode import is_storable
from contentapi.desk.pages import ADMIN, render_page
from contentapi.http.client_address import client_address
from contentapi.rate_limits.account import Reservation
from contentapi.rate_limits.limits import LOGIN, LOGIN_ACCOUNT, LOGIN_ADDRESS, Limit
from users.audit import Audit
from users.known_browsers import find_known_browser, remember_browser
from users.mail import is_mail_on
from users.models import MAX_EMAIL, User

SALT = "users.login"


def throttle_login(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Limit the wrong passwords that a login view accepts, by account and address.

    Each attempt reserves its units before the password is hashed, because hashing is the expensive part and concurrent
    attempts must not exceed a limit. A successful login gets its units back.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponseBase:
        if request.method != "POST":
            return view(request, *arguments, **options)
        try:
            reservation = Reservation(get_login_limits(request, request.POST.get("username", "")))
        except RateLimited as error:
            record_failed_login(request, "rate limited")
            return render_rate_limited(request, error)
        response = view(request, *arguments, **options)
        if response.status_code == HTTPStatus.FOUND:  # a refused login shows the form again
            reservation.refund()
            user = cast("User", request.user)
            remember_browser(request, response, user)
            actor = build_person(request, user)
            Audit.LOGIN_SUCCEEDED.record(actor, "user", user.pk, address=client_address(request.META))
        else:
            record_failed_login(request, "refused")
        return response

    return guarded


def record_failed_login(request: HttpRequest, reason: str) -> None:
    """Write a line of the audit log: with the id of the user if there is one, otherwise with a keyed hash of the name.

    The name that was sent may be a password that was typed into the wrong field.
    """
    email = request.POST.get("username", "")[:MAX_EMAIL]
    record_stranger(Audit.LOGIN_FAILED, request, email, find_login_user(email), reason=reason)


def record_stranger(event: Audit, request: HttpRequest, email: str, user: User | None, **details: str) -> None:
    account = "" if user else compute_keyed_hash(SALT, normalize_email(email).lower()).hex()[:16]
    details |= {"address": client_address(request.META), "account": account}
    event.record(build_person(request), "user", user.pk if user else "", **details)


@receiver(user_logged_out)
def record_logout(request: HttpRequest, user: User | None, **_: Any) -> None:
    if user is not None:
        Audit.LOGOUT.record(build_person(request, user), "user", user.pk)


def build_person(request: HttpRequest, user: User | None = None) -> Actor:
    """Return the actor of the audit log for a login page: the user, or nobody, in the admin or at an OAuth page."""
    interface: Interface = "admin" if request.path.startswith(ADMIN) else "OAuth"
    return Actor(user.pk if user else None, credential="session" if user else "none", interface=interface)


def get_login_limits(request: HttpRequest, email: str, purpose: str = "") -> dict[Limit, str]:
    """Return the limits of an attempt, each with the key that it is counted by.

    A known browser is counted by itself alone: nobody else can use up its limit. Each purpose is counted separately.
    """
    email = email[:MAX_EMAIL]
    user = find_login_user(email)
    account = f"{purpose}{email.lower() if user is None else f'user:{user.pk}'}"
    browser = None if user is None else find_known_browser(request, user)
    if browser is not None:
        return {LOGIN: f"{browser}|{account}"}
    address = f"{purpose}{client_address(request.META)}"
    return {
        LOGIN: f"{address}|{account}",
        LOGIN_ADDRESS: address,
        LOGIN_ACCOUNT: account,
    }


def find_login_user(email: str) -> User | None:
    """Return the user whom Django's login form would find by an email, in whatever way it is written."""
    written = normalize_email(email)
    try:
        return User.objects.get_by_natural_key(written) if is_storable(written) else None
    except User.DoesNotExist:
        return None


def normalize_email(email: str) -> str:
    return unicodedata.normalize("NFKC", email).strip()


def render_rate_limited(request: HttpRequest, error: RateLimited) -> HttpResponse:
    context = {"seconds": error.headers["Retry-After"], "back": request.get_full_path()}
    response = render_page(request, "users/too_many.html", context, status=error.status)
    for name, value in error.headers.items():
        response[name] = value
    return response


class LoginPage(LoginView):
    """The page at which users log in before they let an application act for them."""

    next_page = settings.LOGIN_URL

    def render_to_response(self, context: dict[str, Any], **_: Any) -> HttpResponse:
        return render_page(self.request, "users/login.html", {**context, "is_mail_on": is_mail_on()})


login = throttle_login(LoginPage.as_view())
logout = LogoutView.as_view(next_page=settings.LOGIN_URL)
