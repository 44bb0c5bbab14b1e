"""Page sizes, ids and signed cursors, for GraphQL and REST.

A cursor names the position after which a page begins: the id of an item and the value by which its collection is
ordered. It is signed together with the collection and its filters. Items that are inserted or deleted between two pages
shift nothing.
"""

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hmac import compare_digest
from typing import Any

import msgspec

from contentapi.conf import conf
from contentapi.core.encryption import compute_keyed_hash, derive_key
from contentapi.core.errors import Malformed

DEFAULT_PAGE = 10
DIGITS = 19  # of the largest id
PAGE_PARAMETERS = frozenset({"limit", "offset", "cursor", "fields"})  # of each list in REST
Filters = Mapping[str, Any]  # of JSON values


def require_page_size(limit: int | None, *, default: int, name: str = "limit") -> int:
    """Return the number of items of a page; `default` if `limit` is None. Raises `Malformed` outside the limits."""
    size = default if limit is None else limit
    most = conf.environment.contentapi_max_page
    if not 1 <= size <= most:
        raise Malformed(f"{name} must be from 1 to {most} (CONTENTAPI_MAX_PAGE), and is {size}.")
    return size


def parse_id(text: str) -> int:
    """Return the number of an id. Return 0, which no row has, for other text and for numbers above 64 bits."""
    number = int(text) if text.isdecimal() and text.isascii() and text[0] != "0" and len(text) <= DIGITS else 0
    return number if number < 2**63 else 0


class Position(msgspec.Struct, frozen=True, array_like=True):
    """The position of an item in its collection: its id, and the value by which the collection is ordered, as in JSON.

    `parent` is the id of the row that the collection belongs to, if the name of the collection does not contain it.
    """

    id: int
    value: str | float | None = None
    parent: int | None = None


POSITION = msgspec.json.Decoder(Position)


def encode_cursor(position: Position, collection: str, filters: Filters) -> str:
    text = msgspec.json.encode(position).hex()
    return f"{text}.{sign_cursor(text, collection, filters)}"


def decode_cursor(cursor: str, collection: str, filters: Filters) -> Position | None:
    """Return the position of a cursor. Return None if the cursor is altered or of another collection."""
    text, _, signature = cursor.rpartition(".")
    try:
        is_ours = compare_digest(signature.encode(), sign_cursor(text, collection, filters).encode())
        return POSITION.decode(bytes.fromhex(text)) if is_ours else None
    except (ValueError, msgspec.DecodeError):
        return None


def sign_cursor(text: str, collection: str, filters: Filters) -> str:
    """Return the signature of a cursor's text. `SignedCursor` computes the same in PostgreSQL."""
    return urlsafe_b64encode(compute_keyed_hash(build_cursor_purpose(collection, filters), text)).rstrip(b"=").decode()


def build_cursor_purpose(collection: str, filters: Filters) -> str:
    return f"contentapi.pagination:{msgspec.json.encode([collection, filters]).decode()}"


@dataclass(frozen=True)
class ConnectionWindow:
    """At most `size` items of a collection between two positions: the first ones or, with `backwards`, the last."""

    collection: str
    filters: Filters
    size: int
    backwards: bool
    after: Position | None
    before: Position | None

    @cached_property
    def signing_keys(self) -> tuple[str, str]:
        """The inner and the outer HMAC key (RFC 2104) in hex, with which PostgreSQL signs."""
        key = derive_key(build_cursor_purpose(self.collection, self.filters)).ljust(64, b"\0")
        return bytes(byte ^ 0x36 for byte in key).hex(), bytes(byte ^ 0x5C for byte in key).hex()


def parse_connection_args(
    collection: str,
    filters: Filters,
    *,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> ConnectionWindow:
    """Parse the arguments of a connection. Raises `Malformed`."""
    if first is not None and last is not None:
        raise Malformed("Send first or last, not both.")
    backwards = last is not None
    size = require_page_size(last if backwards else first, default=DEFAULT_PAGE, name="last" if backwards else "first")
    positions: dict[str, Position | None] = {"after": None, "before": None}
    for name, cursor in (("after", after), ("before", before)):
        if cursor is not None:
            positions[name] = decode_cursor(cursor, collection, filters)
            if positions[name] is None:
                raise build_cursor_error(name)
    return ConnectionWindow(collection, filters, size, backwards, **positions)


def build_cursor_error(name: str) -> Malformed:
    return Malformed(f"{name} must be a cursor of this connection, with the same filter and order.")
