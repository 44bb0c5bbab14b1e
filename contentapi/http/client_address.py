"""Where a request comes from, as far as it can be trusted."""

from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import Any

from contentapi.conf import conf

UNKNOWN = "unknown"


def client_address(environ: Mapping[str, Any]) -> str:
    """Return the client's address: of IPv4 the address, of IPv6 the /64, which is what one customer gets.

    Clients can send any `X-Forwarded-For`. Only the last entries are the operator's own proxies', as many as
    CONTENTAPI_TRUSTED_PROXIES says; without one, or where it holds no address, the connection's other end counts.
    Through a socket file nobody has an address: all share the key "unknown".
    """
    proxies = conf.environment.contentapi_trusted_proxies
    if proxies:
        entries = environ.get("HTTP_X_FORWARDED_FOR", "").split(",")
        forwarded = rate_limit_address(entries[-proxies].strip()) if len(entries) >= proxies else None
        if forwarded is not None:
            return forwarded
    return rate_limit_address(environ.get("REMOTE_ADDR", "")) or UNKNOWN


@lru_cache(4096)
def rate_limit_address(text: str) -> str | None:
    """Return what stands for an address; None for what is none."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return text
    return str(address.ipv4_mapped or IPv6Network((int(address), 64), strict=False))
