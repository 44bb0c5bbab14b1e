"""Pages of a collection over HTTP: by offset, with a total, or by cursor. The next page is linked (RFC 8288)."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

import msgspec

from contentapi.core import pagination
from contentapi.core.errors import Malformed
from contentapi.core.pagination import Filters, Position
from contentapi.core.text import consume_into_json_array, require_storable
from contentapi.http.response import Response

MAX_OFFSET = 2**31 - 1
NUMBER = re.compile(r"-?[0-9]{1,18}", re.ASCII)


class CursorFields(msgspec.Struct, rename="camel"):
    """The fields of an item that its cursor contains. Some representations write the id as text."""

    id: int | str
    created_at: str | None = None


ITEM = msgspec.json.Decoder(CursorFields)


@dataclass(frozen=True)
class PageRequest:
    """The page that a request selects: from `offset` or, if that is None, after a position.

    `prefix` is the part of the URL before the collection, such as `https://api.example.com/v1`. `fields` is the
    parameter of this name.
    """

    collection: str
    filters: Filters = field(default_factory=dict)
    limit: int = pagination.DEFAULT_PAGE
    offset: int | None = None
    after: Position | None = None
    prefix: str = ""
    fields: str = ""

    def link_to(self, name: str, place: int | str | None) -> dict[str, str]:
        """Return the Link header of the next page, if there is one, by its offset or cursor, which need no encoding."""
        if place is None:
            return {}
        filters = f"{urlencode(self.filters)}&" if self.filters else ""
        filters += f"fields={self.fields}&" if self.fields else ""
        address = f"{self.prefix}{self.collection}?{filters}limit={self.limit}&{name}={place}"
        return {"Link": f'<{address}>; rel="next"'}

    def cursor_after(self, item: bytes, rank: bytes | None = None) -> str:
        """Return the cursor of the page after an item in JSON. `rank` is its order, if not the time of creation."""
        last = ITEM.decode(item)
        value = last.created_at if rank is None else float(rank)
        return pagination.encode_cursor(Position(int(last.id), value), self.collection, self.filters)


def parse_page_params(
    parameters: Iterable[tuple[str, Sequence[str]]],
    collection: str,
    filters: Sequence[str],
    prefix: str = "",
    *,
    has_offset: bool = True,  # if the collection is not too long to be counted
) -> PageRequest:
    """Parse the query parameters of a collection. Raises `Malformed` for unknown, repeated and invalid ones."""
    known = pagination.PAGE_PARAMETERS.union(filters)  # the request has read `fields`
    values = parse_query_parameters(parameters, known if has_offset else known - {"offset"})
    if "offset" in values and "cursor" in values:
        raise Malformed("Send offset or cursor, not both.")
    filter_values = {name: values[name] for name in sorted(filters) if name in values}
    offset = parse_integer("offset", values)
    if offset is not None and not 0 <= offset <= MAX_OFFSET:
        raise Malformed(f"offset must be from 0 to {MAX_OFFSET}, and is {offset}.")
    after = None
    if "cursor" in values:
        after = pagination.decode_cursor(values["cursor"], collection, filter_values)
        if after is None:
            raise Malformed("cursor must be a next_cursor of this collection with the same filters.")
    limit = pagination.require_page_size(parse_integer("limit", values), default=pagination.DEFAULT_PAGE)
    return PageRequest(collection, filter_values, limit, offset, after, prefix)


def parse_query_parameters(parameters: Iterable[tuple[str, Sequence[str]]], known: AbstractSet[str]) -> dict[str, str]:
    """Return the value of each parameter. Raises `Malformed` for unknown and repeated ones."""
    parsed = {}
    for name, values in parameters:
        if name not in known:
            raise Malformed(f'Query parameter "{name[:50]}" is unknown; known: {", ".join(sorted(known))}.')
        if len(values) != 1:
            raise Malformed(f'Query parameter "{name}" was given {len(values)} times; it may be given once.')
        parsed[name] = values[0]
    require_storable(parsed)
    return parsed


def parse_integer(name: str, values: Mapping[str, str]) -> int | None:
    if name not in values:
        return None
    if not NUMBER.fullmatch(values[name]):
        raise Malformed(f"{name} must be a whole number.")
    return int(values[name])


def render_page(items: list[bytes], page: PageRequest, cursor: str | None, count: Callable[[], int]) -> Response:
    """Return a page of JSON objects; `cursor` is that of the next page. Empties the list. For an offset, it counts."""
    members: dict[str, Any] = {"data": msgspec.Raw(consume_into_json_array(items))}
    if page.offset is None:
        members["next_cursor"] = cursor
        headers = page.link_to("cursor", cursor)
    else:
        total, following = count(), page.offset + page.limit
        members |= {"total": total, "offset": page.offset, "limit": page.limit}
        headers = page.link_to("offset", following if following < total else None)
    return Response(HTTPStatus.OK, msgspec.json.encode(members), headers)
