"""Allowed hosts, and the origin of this service, which is also the issuer of its tokens."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest

from contentapi.conf import conf

ORIGIN = re.compile(r"https?://(?P<host>[^/?#@\s]+)")


def get_request_origin(environ: Mapping[str, Any]) -> str:
    """Return the origin under which the client of a request reaches this service. Its host is an allowed one."""
    host = environ.get("HTTP_HOST")
    if conf.public_url or not host:
        return conf.origin
    return f"https://{host}" if conf.https else f"http://{host}"


def add_resource_metadata(headers: Mapping[str, str], environ: Mapping[str, Any]) -> Mapping[str, str]:
    """Name the metadata of this API in the challenge of a 401: OAuth clients find its server by them (RFC 9728).

    Their origin is the one of the request, because a client ignores metadata of another resource (section 3.3).
    """
    if "WWW-Authenticate" not in headers:
        return headers
    metadata = f"{get_request_origin(environ)}/.well-known/oauth-protected-resource"
    return {**headers, "WWW-Authenticate": f'{headers["WWW-Authenticate"]}, resource_metadata="{metadata}"'}


def is_issuer(text: str) -> bool:
    """Return whether the issuer of a token is this service.

    Without CONTENTAPI_PUBLIC_URL every allowed host is an issuer: the servers of one checkout share their keys but not
    their ports, and `manage.py` does not know the ports.
    """
    if conf.public_url:
        return text == conf.public_url
    origin = ORIGIN.fullmatch(text)
    return origin is not None and is_our_host(origin["host"], conf.allowed_hosts)


@lru_cache(1024)
def is_our_host(text: str, _allowed: tuple[str, ...]) -> bool:
    """Return Django's answer whether a host, with or without a port, is in ALLOWED_HOSTS: the cache depends on them."""
    request = HttpRequest()
    request.META = {"HTTP_HOST": text}
    try:
        request.get_host()
    except DisallowedHost:
        return False
    return True
