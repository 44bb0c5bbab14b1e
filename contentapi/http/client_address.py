"""The client's address behind proxies, as the key of a rate limit."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import Any

from contentapi.conf import conf
from contentapi.http.forwarded import find_forwarded_address, find_x_forwarded_for

FindAddress = Callable[[str, int], str | None]

UNKNOWN = "unknown"
MAX_CACHED = 200  # characters of a header
# By the value of CONTENTAPI_FORWARDED_HEADER. granian passes a client's `X-Forwarded_For` on as HTTP_X_FORWARDED_FOR,
# too. `Forwarded` has no hyphen, so no other name gets its variable.
HEADERS: dict[str, tuple[str, FindAddress]] = {
    "Forwarded": ("HTTP_FORWARDED", find_forwarded_address),
    "X-Forwarded-For": ("HTTP_X_FORWARDED_FOR", find_x_forwarded_for),
}


def client_address(environ: Mapping[str, Any]) -> str:
    """Return the IPv4 address of the client, or its IPv6 network (/64), which one customer gets.

    Clients can send any header. The operator's own proxies, CONTENTAPI_TRUSTED_PROXIES of them, add the last entries of
    CONTENTAPI_FORWARDED_HEADER; the first of these is the client. Without proxies, or if the entry is not an address,
    this is the address of the connection. A connection through a socket file has no address: all of them share the key
    "unknown".
    """
    proxies = conf.environment.contentapi_trusted_proxies
    if proxies:
        variable, find_address = HEADERS[conf.environment.contentapi_forwarded_header]
        header = environ.get(variable, "")
        find = find_cached_client if len(header) <= MAX_CACHED else find_client
        forwarded = find(find_address, header, proxies)
        if forwarded is not None:
            return forwarded
    return to_rate_limit_address(environ.get("REMOTE_ADDR", "")) or UNKNOWN


def find_client(find_address: FindAddress, header: str, proxies: int) -> str | None:
    """Return what `to_rate_limit_address` returns for the address in a header. Returns None if it has none."""
    address = find_address(header, proxies)
    return None if address is None else to_rate_limit_address(address)


find_cached_client = lru_cache(4096)(find_client)


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
