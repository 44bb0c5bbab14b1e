"""The client's address behind proxies, as the key of a rate limit."""

from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import Any

from contentapi.conf import conf

UNKNOWN = "unknown"


def client_address(environ: Mapping[str, Any]) -> str:
    """Return the IPv4 address of the client, or its IPv6 network (/64), which one customer gets.

    Clients can send any `X-Forwarded-For`. The operator's own proxies, CONTENTAPI_TRUSTED_PROXIES of them, add its last
    entries. Without proxies, or if the entry is not an address, this is the address of the connection. A connection
    through a socket file has no address: all of them share the key "unknown".
    """
    proxies = conf.environment.contentapi_trusted_proxies
    if proxies:
        entries = environ.get("HTTP_X_FORWARDED_FOR", "").split(",")
        forwarded = to_rate_limit_address(entries[-proxies].strip()) if len(entries) >= proxies else None
        if forwarded is not None:
            return forwarded
    return to_rate_limit_address(environ.get("REMOTE_ADDR", "")) or UNKNOWN


@lru_cache(4096)
def to_rate_limit_address(text: str) -> str | None:
    """Return the address or network that is charged for an address. Returns None if the text is not an address."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return text
    return str(address.ipv4_mapped or IPv6Network((int(address), 64), strict=False))
