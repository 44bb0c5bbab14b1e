"""Under which address clients know this service, and so which issuer its tokens name."""

import re
from functools import lru_cache

from django.http.request import split_domain_port, validate_host

from contentapi.conf import conf

ORIGIN = re.compile(r"https?://(?P<host>[^/?#@\s]+)")


def get_public_url() -> str:
    """Return the origin of this service: CONTENTAPI_PUBLIC_URL or, where it is not set, the likeliest."""
    if conf.public_url:
        return conf.public_url
    host = next((host.lstrip(".") for host in conf.environment.allowed_hosts if host != "*"), "localhost")
    return f"https://{host}" if conf.https else f"http://{host}:{conf.environment.port}"


def is_issuer(text: str) -> bool:
    """Say whether a token of this issuer is ours, by its address.

    Without CONTENTAPI_PUBLIC_URL any of our hosts will do: servers of one checkout share their keys, each on a port of
    its own, and `manage.py` knows none of them.
    """
    return text == conf.public_url if conf.public_url else origin_allowed(text, conf.allowed_hosts)


def is_our_host(text: str) -> bool:
    """Say whether a host, with or without a port, is one of ALLOWED_HOSTS."""
    return host_allowed(text, conf.allowed_hosts)


@lru_cache(1024)
def origin_allowed(text: str, allowed: tuple[str, ...]) -> bool:
    origin = ORIGIN.fullmatch(text)
    return origin is not None and host_allowed(origin["host"], allowed)


@lru_cache(1024)
def host_allowed(text: str, allowed: tuple[str, ...]) -> bool:
    host, _ = split_domain_port(text)
    return bool(host) and validate_host(host, allowed)
