"""What the table of an own type has: the arguments of its columns, its constraints, its indexes and its events."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from contentapi.types.declared import Related
from contentapi.types.fields import AUTHOR, Kind, OwnField, OwnType

MAX_INDEX_NAME = 30  # Django's limit


def list_arguments(field: OwnField, targets: Related) -> Iterator[str]:
    """Yield the arguments of a column, or of that of the items of a list. `targets` has the models of relations.

    A row that is required stays; without another one, the value is null. A text may be empty.
    """
    if field.kind == Kind.TEXT:
        yield f"max_length={field.max_length}"
    if field.kind == Kind.ENUM:
        yield from (f"max_length={max(map(len, field.values))}", f"choices={field.type_name}.choices")
    if field.is_list:
        return
    if field.kind == Kind.RELATION:
        behaviour = "PROTECT" if field.is_required else "SET_NULL"
        yield from (f'"{targets[field.type_name]["model"]}"', f"on_delete=models.{behaviour}", 'related_name="+"')
        if field.name == AUTHOR:  # another index begins with the author
            yield "db_index=False"
    if not field.is_required:
        yield from ("null=True", "blank=True")
    elif field.kind == Kind.TEXT:
        yield "blank=True"


def list_rules(own: OwnType) -> Iterator[tuple[str, OwnField, dict[str, Any]]]:
    """Yield the name, the field and the condition of a constraint for each limit that is not the type of the column."""
    for field in own.fields:
        for suffix, lookups in list_limits(field).items():
            if lookups:
                yield get_name(own, field.column, suffix), field, lookups


def list_limits(field: OwnField) -> dict[str, dict[str, Any]]:
    """Return the lookups of each constraint of a column, none where the SDL states no limit."""
    name = field.column
    known = {f"{name}__{'contained_by' if field.is_list else 'in'}": field.values} if field.values else {}
    if field.is_list:
        return {"known": known, "length": {f"{name}__len__lte": field.max_items}}
    limits = {f"{name}__gte": field.minimum, f"{name}__lte": field.maximum}
    return {"known": known, "range": {lookup: limit for lookup, limit in limits.items() if limit is not None}}


def list_indexes(own: OwnType) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield an index for each order, for the rows of an author, and for what lists contain: class, name, columns."""
    author = [("models.Index", AUTHOR, "created_at", "id")] if own.find_field(AUTHOR) else []
    searched = [
        field for field in own.fields if field.is_list and (field.kind == Kind.RELATION or field.name == "tags")
    ]
    for kind, *columns in [
        *(("models.Index", column, "id") for column in own.orders.values()),
        *author,
        *(("GinIndex", field.column) for field in searched),
    ]:
        yield kind, get_name(own, columns[0], most=MAX_INDEX_NAME), columns


def get_name(own: OwnType, *parts: str, most: int = 63) -> str:
    """Return the name of a constraint or an index. A long one ends with a digest of what it would be."""
    name = "_".join((own.app, own.name.lower(), *parts))
    return name if len(name) <= most else f"{name[: most - 7]}_{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def list_audience(own: OwnType) -> dict[str, bool]:
    """Return the arguments of `announce_rows` that decide who sees the events."""
    return {
        "is_public": own.read == "public",
        "has_publication": own.has_publication,
        "has_author": own.find_field(AUTHOR) is not None,
    }


def list_event_names(own: OwnType) -> list[str]:
    """Return what an event can name as changed, as the inputs do: `coverId`."""
    return [*(field.input_name for field in own.fields), *(["publishedAt"] if own.has_publication else [])]
