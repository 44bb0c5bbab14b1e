"""Identify the caller of a GraphQL or REST request by its credential headers.

The endpoint charges the request: `contentapi.rate_limits.account`.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from contentapi.core.identity import Actor
from contentapi.http.previews import TOKEN

HEADERS = {"X-API-Key": "HTTP_X_API_KEY", "Authorization": "HTTP_AUTHORIZATION"}


def authenticate_request(environ: Mapping[str, Any]) -> Actor:
    """Return the actor of a WSGI environ, `ANONYMOUS` without a credential. It has the preview of a preview token.

    Raises `Unauthenticated` for an invalid credential or preview token, and `Malformed` for two credentials.
    """
    actor = load_authenticator()({name: environ[key] for name, key in HEADERS.items() if key in environ})
    return load_preview_adder()(actor, environ[TOKEN]) if TOKEN in environ else actor


@cache
def load_authenticator() -> Callable[[Mapping[str, str]], Actor]:
    """Return the function that settings.AUTHENTICATE names. This package does not import the app `users`."""
    authenticate: Callable[[Mapping[str, str]], Actor] = import_string(settings.AUTHENTICATE)
    return authenticate


@cache
def load_preview_adder() -> Callable[[Actor, str], Actor]:
    """Return the function that settings.ADD_PREVIEW names. This package does not import the app `blog`."""
    add_preview: Callable[[Actor, str], Actor] = import_string(settings.ADD_PREVIEW)
    return add_preview
