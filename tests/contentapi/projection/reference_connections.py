"""Connections of the reference executor: their pages and their cursors."""

import json
from typing import Any

from contentapi.core.errors import Malformed
from contentapi.graphql.scalars import serialize_date_time
from tests.contentapi.projection.reference_rows import Bound, Info


def connection(info: Info, rows: list[Any], bound: Bound, given: dict[str, Any]) -> dict[str, Any]:
    """Return a connection by Relay's specification. The rows around the page are found in the list."""
    first_ones, last_ones = given.get("first"), given.get("last")
    if first_ones is not None and last_ones is not None:
        raise Malformed("Send first or last, not both.")
    name, size = ("first", first_ones) if last_ones is None else ("last", last_ones)
    size = 10 if size is None else size
    if size < 1 or size > 100:
        raise Malformed(f"{name} must be from 1 to 100 (CONTENTAPI_MAX_PAGE), and is {size}.")
    ranks = {row.pk: place for place, row in enumerate(info.context.in_order(bound.model, bound.order))}
    after, before = (rank_of(given.get(name), name, bound, ranks) for name in ("after", "before"))
    within = [
        row for row in rows if (after is None or ranks[row.pk] > after) and (before is None or ranks[row.pk] < before)
    ]
    page = within[:size] if name == "first" else within[-size:]
    start = ranks[page[0].pk] if page else -1 if after is None else after + 1
    end = ranks[page[-1].pk] if page else len(ranks) if before is None else before - 1
    cursors = [cursor_of(row, bound) for row in page]
    return {
        "edges": [{"cursor": cursor, "node": row} for cursor, row in zip(cursors, page, strict=True)],
        "total_count": len(rows),
        "page_info": {
            "has_next_page": any(ranks[row.pk] > end for row in rows),
            "has_previous_page": any(ranks[row.pk] < start for row in rows),
            "start_cursor": cursors[0] if page else None,
            "end_cursor": cursors[-1] if page else None,
        },
    }


def cursor_of(row: Any, bound: Bound) -> str:
    value = getattr(row, bound.terms[0].lstrip("-"))
    position = [row.pk, value if isinstance(value, str) else serialize_date_time(value), bound.parent]
    return bound.sign(json.dumps(position, ensure_ascii=False).encode().hex())


def rank_of(cursor: str | None, name: str, bound: Bound, ranks: dict[int, int]) -> int | None:
    """Return the index of a cursor's row among all rows."""
    if cursor is None:
        return None
    text = cursor.partition(".")[0]
    is_ours = cursor == bound.sign(text)
    pk, _, parent = json.loads(bytes.fromhex(text)) if is_ours else (0, None, "foreign")
    if parent != bound.parent:
        raise Malformed(f"{name} must be a cursor of this connection, with the same filter and order.")
    return ranks[pk]
