"""Where webhooks may be sent: https, to public addresses only.

CONTENTAPI_WEBHOOK_NETWORKS allows more networks, and http to them. A name is resolved here for each attempt, whose
connection goes to one of these addresses if all of them are allowed: so one that resolves to something else a moment
later changes nothing.
"""

import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from contentapi.conf import conf
from contentapi.conf.environment import parse_networks
from contentapi.core.errors import Invalid
from contentapi.db.watch.link import call_in_thread
from contentapi.events.webhooks.models import MAX_URL

Address = IPv4Address | IPv6Address
PORTS = {"http": 80, "https": 443}
HOST = re.compile(r"(?=.{1,253}\.?$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?", re.ASCII)
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)  # the last label of an IPv4 address, as browsers read it
URL = re.compile(r"https?://[!-\[\]_a-z~]+", re.ASCII | re.IGNORECASE)  # printable, without a backslash
NAT64 = IPv6Network("64:ff9b::/96")  # whose last bits are an IPv4 address
# IANA's registries of special-purpose addresses (RFC 6890), multicast and what is reserved. No receiver of webhooks is
# there, also where the registry says "globally reachable". `ipaddress` knows those of its Python's release.
SPECIAL = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
    203.0.113.0/24 224.0.0.0/3
"""
SPECIAL_IPV4 = [IPv4Network(block) for block in SPECIAL.split()]
UNICAST_IPV6 = IPv6Network("2000::/3")  # nothing else is allocated
SPECIAL_IPV6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")))
ISATAP = (0x00005EFE, 0x02005EFE)  # the third quarter of the address


class AddressRefused(Exception):
    """A webhook may not be sent to this address. The message is for its maker."""


class Target(NamedTuple):
    """A valid URL, with its scheme, its host without brackets, and its port."""

    url: str
    scheme: str
    host: str
    port: int


def parse_url(url: str) -> Target:
    """Return a URL with its parts. Raises `AddressRefused`."""
    if not URL.fullmatch(url):
        raise AddressRefused(
            "This must be an address that begins with https://, without spaces and special characters."
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressRefused("This is not a valid address.") from None
    host = parts.hostname or ""
    if "@" in parts.netloc or "#" in url:
        raise AddressRefused("The address must not have a user name, a password or a fragment.")
    if not is_host(host) or port == 0:
        raise AddressRefused("The address needs a valid host name and port.")
    return Target(url, parts.scheme, host, port or PORTS[parts.scheme])


def is_host(host: str) -> bool:
    """Return whether a host is a name, four decimal numbers or IPv6. Other numbers are IPv4 addresses in disguise."""
    if HOST.fullmatch(host) and not NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
        return True
    try:
        return "%" not in host and bool(ip_address(host))
    except ValueError:
        return False


def validate_url(url: str | None) -> str:
    """Return the URL of a webhook. Its name is not resolved here. Raises `Invalid`."""
    text = (url or "").strip()
    if not 1 <= len(text) <= MAX_URL:
        raise Invalid({"url": [f"From 1 to {MAX_URL} characters are allowed (got {len(text)})."]})
    try:
        require_acceptable(parse_url(text))
    except AddressRefused as error:
        raise Invalid({"url": [str(error)]}) from None
    return text


def require_acceptable(target: Target) -> None:
    """Raise `AddressRefused` if a target is certainly not allowed."""
    if target.scheme == "http" and not conf.environment.contentapi_webhook_networks:
        raise AddressRefused("Only https is allowed. CONTENTAPI_WEBHOOK_NETWORKS allows http in some networks.")
    try:
        literal = ip_address(target.host)
    except ValueError:
        return
    require_allowed(literal, target.scheme)


def resolve(target: Target, seconds: float) -> list[str]:
    """Return the addresses of a target. Raises `AddressRefused` unless all of them are allowed.

    Another thread resolves the name, because the system has no limit for that.
    """
    try:
        found: list[str] = call_in_thread(look_up, target.host).result(seconds)
    except TimeoutError:
        raise AddressRefused("The name could not be resolved in time.") from None
    if not found:
        raise AddressRefused("The name cannot be resolved.")
    for address in found:
        require_allowed(ip_address(address), target.scheme)
    return found


def look_up(host: str) -> list[Any]:
    with suppress(OSError, UnicodeError):
        return [place[0] for *_, place in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    return []


def require_allowed(address: Address, scheme: str) -> None:
    """Raise `AddressRefused` unless an address is public, or in an allowed network, in all forms that it contains."""
    is_in_network = is_allowed_by_operator(address)
    if scheme == "http" and not is_in_network:
        raise AddressRefused("http is only allowed to the networks of CONTENTAPI_WEBHOOK_NETWORKS.")
    if not is_in_network and not all(is_public(each) for each in iterate_forms(address)):
        raise AddressRefused(f"{address} is not a public address.")


def is_allowed_by_operator(address: Address) -> bool:
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return any(
        (mapped or address) in network for network in parse_networks(conf.environment.contentapi_webhook_networks)
    )


def iterate_forms(address: Address) -> Iterator[Address]:
    """Yield an address, and the IPv4 address that it contains: a gateway may send packets to that one."""
    yield address
    if isinstance(address, IPv4Address):
        return
    if address.ipv4_mapped or address in NAT64 or int(address) >> 32 & 0xFFFFFFFF in ISATAP:
        yield IPv4Address(int(address) & 0xFFFFFFFF)


def is_public(address: Address) -> bool:
    """Return whether everybody can reach an address. A form that only contains another one is judged by that."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped or address in NAT64:
            return True
        return address in UNICAST_IPV6 and not any(address in network for network in SPECIAL_IPV6)
    return not any(address in network for network in SPECIAL_IPV4)
