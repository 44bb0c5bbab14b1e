"""At the door of both faces: who asks is found out, and charged for asking."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from contentapi.core.identity import Actor
from contentapi.rate_limits.account import Account

HEADERS = {"X-API-Key": "HTTP_X_API_KEY", "Authorization": "HTTP_AUTHORIZATION"}


def admitted(environ: Mapping[str, Any], account: Account) -> Actor:
    """Find out who asks, and charge for asking: whoever cannot be made out by the address.

    Raises `Unauthenticated` and `Malformed` for a credential that is not good, and `RateLimited`.
    """
    try:
        return authenticate_request(environ, account)
    finally:
        account.charge_request()


def authenticate_request(environ: Mapping[str, Any], account: Account) -> Actor:
    """Find out who asks, and so who pays. What they ask for is still to be charged, also where this raises.

    Raises `Unauthenticated` and `Malformed` for a credential that is not good.
    """
    actor = load_authenticator()(read_credential_headers(environ))
    account.set_actor(actor)
    return actor


def read_credential_headers(environ: Mapping[str, Any]) -> dict[str, str]:
    return {name: environ[key] for name, key in HEADERS.items() if key in environ}


@cache
def load_authenticator() -> Callable[[Mapping[str, str]], Actor]:
    """Return the function that settings.AUTHENTICATE names: users are an app, of which this package knows nothing."""
    found: Callable[[Mapping[str, str]], Actor] = import_string(settings.AUTHENTICATE)
    return found
