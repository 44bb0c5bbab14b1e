"""The client's address behind proxies, as the key of a rate limit, from `Forwarded` (RFC 7239) or `X-Forwarded-For`.

    Forwarded: for=192.0.2.9, for="[2001:db8::7]:4711";proto=https
    X-Forwarded-For: 192.0.2.9, 2001:db8::7

A client can send any header. Only the last entries are from proxies of the operator, so the entries are counted and
read from the end, and what is before them has no effect.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Network, ip_address
from itertools import islice
from typing import Any

from contentapi.conf import conf

FindAddress = Callable[[str, int], str | None]

MAX_CACHED = 200  # characters of a header
TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"  # noqa: S105 - a pattern
QUOTED = r'"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*+"'
PAIR = re.compile(rf"({TOKEN})=({TOKEN}|{QUOTED})")
ELEMENT = re.compile(rf"[ \t]*+(?:{PAIR.pattern})?(?:;(?:{PAIR.pattern})?)*+[ \t]*+")
ESCAPED = re.compile(r"\\(.)")
# An IPv4 address, or an IPv6 address in brackets, each with or without a port. Other nodes are `unknown` and names that
# a proxy invents (`_proxy1`): they hide the address.
NODE = re.compile(r"(?:([0-9.]{7,15})|\[([0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)\])(?::(?:[0-9]{1,5}|_[0-9A-Za-z._-]+))?")
MAX_ADDRESS = 100  # characters


def find_forwarded_address(header: str, number: int) -> str | None:
    """Return the address of `for` in the element with this number from the end. None: it is absent or malformed."""
    element = next(islice(read_elements(header), number - 1, None), None)
    return None if element is None else read_address(element)


def read_elements(header: str) -> Iterator[str]:
    """Yield the elements of `Forwarded`, the last one first, until one is malformed. Empty ones are skipped.

    A comma may be part of a quoted string. What follows such a comma is never an element, because it has an odd number
    of quotation marks.
    """
    end = len(header)
    while end >= 0:
        start = header.rfind(",", 0, end)
        while ELEMENT.fullmatch(header, start + 1, end) is None:
            if start < 0:
                return
            start = header.rfind(",", 0, start)
        if element := header[start + 1 : end].strip(" \t"):
            yield element
        end = start


def read_address(element: str) -> str | None:
    """Return the address of `for` in an element. A name may occur once, in any case."""
    pairs = PAIR.findall(element)
    values = {name.lower(): value for name, value in pairs}
    if len(values) < len(pairs):
        return None
    node = values.get("for", "")
    if node.startswith('"'):
        node = ESCAPED.sub(r"\1", node[1:-1])
    match = NODE.fullmatch(node)
    return (match[1] or match[2]) if match else None


def find_x_forwarded_for(header: str, number: int) -> str | None:
    """Return the entry with this number from the end of `X-Forwarded-For`. Returns None if there are fewer entries."""
    entries = header.rsplit(",", number)
    entry = entries[-number].strip() if len(entries) >= number else ""
    return entry if 0 < len(entry) <= MAX_ADDRESS else None


# By the value of CONTENTAPI_FORWARDED_HEADER. granian passes a client's `X-Forwarded_For` on as HTTP_X_FORWARDED_FOR,
# too. `Forwarded` has no hyphen, so no other name gets its variable.
HEADERS: dict[str, tuple[str, FindAddress]] = {
    "Forwarded": ("HTTP_FORWARDED", find_forwarded_address),
    "X-Forwarded-For": ("HTTP_X_FORWARDED_FOR", find_x_forwarded_for),
}


def client_address(environ: Mapping[str, Any]) -> str:
    """Return the IPv4 address of the client, or its IPv6 network (/64), which one customer gets.

    The operator's own proxies, CONTENTAPI_TRUSTED_PROXIES of them, add the last entries of CONTENTAPI_FORWARDED_HEADER;
    the first of these is the client. Without proxies, or if the entry is not an address, this is the address of the
    connection. Connections through a socket file have no address: all of them share the key "unknown".
    """
    proxies = conf.environment.contentapi_trusted_proxies
    if proxies:
        variable, find_address = HEADERS[conf.environment.contentapi_forwarded_header]
        header = environ.get(variable, "")
        find = find_cached_client if len(header) <= MAX_CACHED else find_client
        forwarded = find(find_address, header, proxies)
        if forwarded is not None:
            return forwarded
    return to_rate_limit_address(environ.get("REMOTE_ADDR", "")) or "unknown"


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
