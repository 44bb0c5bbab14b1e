"""Read the address of a client from `Forwarded` (RFC 7239) or `X-Forwarded-For`, to which each proxy adds an entry.

    Forwarded: for=192.0.2.9, for="[2001:db8::7]:4711";proto=https
    X-Forwarded-For: 192.0.2.9, 2001:db8::7

A client can send any header. Only the last entries are from proxies of the operator, so the entries are counted and
read from the end, and what is before them has no effect.
"""

import re
from collections.abc import Iterator

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
    """Return the address of `for` in the element with this number from the end of `Forwarded`.

    Returns None if there are fewer elements, if one of these is malformed, or if it has no address.
    """
    for element in read_elements(header):
        number -= 1
        if number == 0:
            return read_address(element)
    return None


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
