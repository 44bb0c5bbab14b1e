"""Pages and their limits, for both transports; and the pages of a collection over HTTP, in both styles.

A cursor says after which item a page begins: the key of that item, signed together with the collection and the filters
that it is for. What is inserted or deleted meanwhile shifts nothing.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

import msgspec
from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db.models import QuerySet
from django.utils.encoding import force_bytes

from contentapi.core.errors import Malformed, NotFound
from contentapi.core.text import json_array, require_storable
from contentapi.http.response import Response

DEFAULT_PAGE = 10
LARGEST_OFFSET = 2**31 - 1
Filters = Mapping[str, Any]  # of JSON values
NUMBER = re.compile(r"-?[0-9]{1,18}", re.ASCII)


def require_page_size(limit: int | None, *, default: int, name: str = "limit") -> int:
    """Return how many items a page holds; None stands for the default. Raises `Malformed` outside the limits."""
    size = default if limit is None else limit
    most = settings.ENVIRONMENT.contentapi_max_page
    if not 1 <= size <= most:
        raise Malformed(f"{name} must be from 1 to {most} (CONTENTAPI_MAX_PAGE), and is {size}.")
    return size


def parse_id(text: str) -> int:
    """Return the number that an id names; 0, which names nothing, for no number and for one past 64 bits."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 19):
        return 0
    number = int(text)
    return number if str(number) == text and number < 2**63 else 0


class Position(msgspec.Struct, frozen=True, array_like=True):
    """Where an item stands in its collection: by its id, after what the collection is ordered by, as JSON has it.

    `parent` is the id of what the collection belongs to, where its name does not say that.
    """

    id: int
    value: str | None = None
    parent: int | None = None


class Item(msgspec.Struct, rename="camel"):
    """As much of an item as tells its position. Some ids are written as text."""

    id: int | str
    created_at: str | None = None


ITEM = msgspec.json.Decoder(Item)
POSITION = msgspec.json.Decoder(Position)


@dataclass(frozen=True)
class Page:
    """Which part of a collection is asked for: from `offset`, or, where that is None, after a position."""

    collection: str
    filters: Filters = field(default_factory=dict)
    limit: int = DEFAULT_PAGE
    offset: int | None = None
    after: Position | None = None
    prefix: str = ""  # of the path, before the collection's own

    def link_to(self, name: str, place: int | str) -> dict[str, str]:
        """Return the header that leads to the page at an offset or a cursor: digits, letters, `.`, `-` and `_`."""
        filters = f"{urlencode(self.filters)}&" if self.filters else ""
        return {"Link": f'<{self.prefix}{self.collection}?{filters}limit={self.limit}&{name}={place}>; rel="next"'}

    def cursor_after(self, item: bytes) -> str:
        """Return the cursor of the page that begins after an item."""
        found = ITEM.decode(item)
        position = Position(int(found.id), found.created_at)
        return build_signer(self.collection, self.filters).sign(msgspec.json.encode(position).hex())


def parse_page_params(
    parameters: Iterable[tuple[str, Sequence[str]]], collection: str, filters: Sequence[str], prefix: str = ""
) -> Page:
    """Read the query parameters of a collection. Raises `Malformed` for unknown, repeated and wrong ones."""
    given = require_known_parameters(parameters, {"limit", "offset", "cursor", *filters})
    if "offset" in given and "cursor" in given:
        raise Malformed("Send offset or cursor, not both.")
    chosen = {name: given[name] for name in sorted(filters) if name in given}
    offset = parse_integer("offset", given)
    if offset is not None and not 0 <= offset <= LARGEST_OFFSET:
        raise Malformed(f"offset must be from 0 to {LARGEST_OFFSET}, and is {offset}.")
    return Page(
        collection=collection,
        filters=chosen,
        limit=require_page_size(parse_integer("limit", given), default=DEFAULT_PAGE),
        offset=offset,
        after=require_position(given["cursor"], collection, chosen) if "cursor" in given else None,
        prefix=prefix,
    )


def require_known_parameters(parameters: Iterable[tuple[str, Sequence[str]]], known: set[str]) -> dict[str, str]:
    given = {}
    for name, values in parameters:
        if name not in known:
            raise Malformed(f"The query parameter {name[:50]!r} is unknown; known: {', '.join(sorted(known))}.")
        if len(values) != 1:
            raise Malformed(f"The query parameter {name} may stand there once, and does {len(values)} times.")
        given[name] = values[0]
    require_storable(given)
    return given


def parse_integer(name: str, given: Mapping[str, str]) -> int | None:
    if name not in given:
        return None
    if not NUMBER.fullmatch(given[name]):
        raise Malformed(f"{name} must be a whole number.")
    return int(given[name])


def require_position(cursor: str, collection: str, filters: Filters) -> Position:
    """Return the position that a cursor stands for. Raises `Malformed` for one that is not of this collection."""
    position = decode_cursor(cursor, collection, filters)
    if position is None:
        raise Malformed("cursor must be a next_cursor of this collection with the same filters.")
    return position


def decode_cursor(cursor: str, collection: str, filters: Filters) -> Position | None:
    """Return the position that a cursor stands for; None for one that is altered or not of this collection."""
    try:
        return POSITION.decode(bytes.fromhex(build_signer(collection, filters).unsign(cursor)))
    except (BadSignature, ValueError, msgspec.DecodeError):
        return None


def build_signer(collection: str, filters: Filters) -> Signer:
    bound_to = msgspec.json.encode([collection, filters]).decode()
    return Signer(salt=f"contentapi.pagination:{bound_to}", sep=".")


@dataclass(frozen=True)
class ConnectionWindow:
    """Which part of a collection a connection shows: at most `size` items between two positions, from the beginning or,
    `backwards`, from the end.
    """

    collection: str
    filters: Filters
    size: int
    backwards: bool
    after: Position | None
    before: Position | None

    @cached_property
    def signing_keys(self) -> tuple[str, str]:
        """Return the inner and the outer key of HMAC (RFC 2104) in hex: PostgreSQL signs with them as `signer` does."""
        made_by = build_signer(self.collection, self.filters)
        key = sha256(force_bytes(made_by.salt) + b"signer" + force_bytes(made_by.key)).digest().ljust(64, b"\0")
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
    """Read the arguments of a connection. Raises `Malformed`."""
    if first is not None and last is not None:
        raise Malformed("Send first or last, not both.")
    backwards = last is not None
    size = require_page_size(last if backwards else first, default=DEFAULT_PAGE, name="last" if backwards else "first")

    def position(name: str, cursor: str | None) -> Position | None:
        found = None if cursor is None else decode_cursor(cursor, collection, filters)
        if found is None and cursor is not None:
            raise cursor_error(name)
        return found

    return ConnectionWindow(collection, filters, size, backwards, position("after", after), position("before", before))


def cursor_error(name: str) -> Malformed:
    return Malformed(f"{name} must be a cursor of this connection, with the same filter and order.")


def render_page(
    rows: QuerySet[Any],
    page: Page,
    render: Callable[[QuerySet[Any]], list[bytes]],
    *,
    within: QuerySet[Any] | None = None,
) -> Response:
    """Return a page of rows, which begin after the page's position, as JSON. Executes one statement, two for an offset.

    Where there is nothing on it, `within` is looked for, whose rows these are. Raises `NotFound` if that is not there.
    """
    first, more = page.offset or 0, page.offset is None
    items = render(rows[first : first + page.limit + more])
    if not items and within is not None and not within.exists():
        raise NotFound(f"There is no {within.model.__name__.lower()} with this id.")
    cursor = page.cursor_after(items[page.limit - 1]) if len(items) > page.limit else None
    del items[page.limit :]
    members: dict[str, Any] = {"data": msgspec.Raw(json_array(items))}
    if page.offset is None:
        members["next_cursor"] = cursor
        headers = {} if cursor is None else page.link_to("cursor", cursor)
    else:
        members |= {"total": rows.count(), "offset": page.offset, "limit": page.limit}
        headers = page.link_to("offset", first + page.limit) if first + page.limit < members["total"] else {}
    return Response(HTTPStatus.OK, msgspec.json.encode(members), headers)
