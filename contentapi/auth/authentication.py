"""Identify the caller of a GraphQL or REST request by its credential headers."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from contentapi.core.identity import Actor
from contentapi.http.response import PREVIEW_TOKEN

HEADERS = {"X-API-Key": "HTTP_X_API_KEY", "Authorization": "HTTP_AUTHORIZATION"}
IDENTIFYING = {**HEADERS, "Preview-Token": PREVIEW_TOKEN}  # a response depends on them


def authenticate_request(environ: Mapping[str, Any]) -> Actor:
    """Return the actor of a WSGI environ, `ANONYMOUS` without a credential. It has the preview of a preview token.

    Raises `Unauthenticated` for an invalid credential or preview token, and `Malformed` for two credentials.
    """
    is_anonymous = environ.keys().isdisjoint(HEADERS.values())
    given = {} if is_anonymous else {name: environ[key] for name, key in HEADERS.items() if key in environ}
    actor: Actor = load_function("AUTHENTICATE")(given)
    return load_function("ADD_PREVIEW")(actor, environ[PREVIEW_TOKEN]) if PREVIEW_TOKEN in environ else actor


@cache
def load_function(setting: str) -> Callable[..., Any]:
    """Return the function of an app that a setting names."""
    function: Callable[..., Any] = import_string(getattr(settings, setting))
    return function
