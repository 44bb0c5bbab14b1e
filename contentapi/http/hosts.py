"""Under which address clients know this service, and so which issuer its tokens name."""

import re
from functools import lru_cache

from django.http.request import split_domain_port, validate_host

from contentapi.conf import current

ORIGIN = re.compile(r"https?://(?P<host>[^/?#@\s]+)")


def public_url() -> str:
    """Return the origin of this service: CONTENTAPI_PUBLIC_URL or, where it is not set, the likeliest."""
    if current.public_url:
        return current.public_url
    host = next((host.lstrip(".") for host in current.environment.allowed_hosts if host != "*"), "localhost")
    return f"https://{host}" if current.https else f"http://{host}:{current.environment.port}"


def is_issuer(text: str) -> bool:
    """Say whether a token of this issuer is ours, by its address.

    Without CONTENTAPI_PUBLIC_URL any of our hosts will do: servers of one checkout share their keys, each on a port of
    its own, and `manage.py` knows none of them.
    """
    return text == current.public_url if current.public_url else is_of_one_of(text, current.allowed_hosts)


def is_our_host(text: str) -> bool:
    """Say whether a host, with or without a port, is one of ALLOWED_HOSTS."""
    return is_one_of(text, current.allowed_hosts)


@lru_cache(1024)
def is_of_one_of(text: str, allowed: tuple[str, ...]) -> bool:
    origin = ORIGIN.fullmatch(text)
    return origin is not None and is_one_of(origin["host"], allowed)


@lru_cache(1024)
def is_one_of(text: str, allowed: tuple[str, ...]) -> bool:
    host, _ = split_domain_port(text)
    return bool(host) and validate_host(host, allowed)
