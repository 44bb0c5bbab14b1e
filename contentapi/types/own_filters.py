"""Filters by own fields, with the indexes that they need. The SDL of the team decides which there are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import BooleanField, F, Func, JSONField, Q, Value

from contentapi.types.bodies import parse_text
from contentapi.types.fields import OwnField
from contentapi.types.own_fields import COLUMN, DECLARED, OwnFields, encode_times
from contentapi.types.own_values import build_value, write_value

# The indexes of these filters in the tables of posts and others, and whether each was built to its end
FIND_INDEXES = """
    SELECT indexes.relname, indisvalid FROM pg_index JOIN pg_class AS indexes ON indexes.oid = indexrelid
    WHERE indrelid = to_regclass(%s) AND starts_with(indexes.relname, %s)
"""


def parse_own_filters(own: OwnFields, values: dict[str, Any]) -> dict[str, str]:
    """Take the filters by own fields out of values by their names in Python or in the API.

    Return the JSON with which each compares a value, by `own_` and the name in Python. Raises `Malformed`.
    """
    found = {}
    for name, field in own.filters.items():
        given = [values.pop(key) for key in {name, field.name} if key in values]
        for value in given:
            item = encode_times(parse_text(field, value) if isinstance(value, str) else value)
            found[f"{COLUMN}_{name}"] = json.dumps([item] if field.is_list else item)
    return found


def match_own_fields(own: OwnFields, criteria: Mapping[str, Any], column: F | None = None) -> Q:
    """Return the condition on the rows that have the values of `parse_own_filters`.

    A value may be a parameter. `column` is the one of the own fields, by default that of the rows themselves.
    """
    conditions = Q()
    for name, field in own.filters.items():
        value = criteria.get(f"{COLUMN}_{name}")
        if value is not None:
            wanted = Func(
                Value(value) if isinstance(value, str) else value,
                template="%(expressions)s::jsonb",
                output_field=JSONField(),
            )
            conditions &= Q(
                Func(
                    build_value(field, column or F(COLUMN)),
                    wanted,
                    template="(%(expressions)s)",
                    arg_joiner=" @> " if field.is_list else " = ",
                    output_field=BooleanField(),
                )
            )
    return conditions


def adapt_indexes(connection: Any) -> None:
    """Build the indexes of the filters that the SDL names, and drop those that it does not name any more.

    Concurrently: neither blocks writes. An index of which an earlier build was interrupted is built again.
    """
    for own in DECLARED.values():
        if own.table:
            with connection.cursor() as cursor:
                adapt_indexes_of(cursor, own)


def adapt_indexes_of(cursor: Any, own: OwnFields) -> None:
    wanted = dict(write_indexes(own))
    cursor.execute(FIND_INDEXES, [own.table, f"own_{own.table}_"])
    found = dict(cursor.fetchall())
    complete = {name for name in wanted if found.get(name)}
    for name in found.keys() - complete:
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
    for name in wanted.keys() - complete:
        cursor.execute(wanted[name])


def write_indexes(own: OwnFields) -> Iterator[tuple[str, str]]:
    """Yield the name and the statement of each index. Another expression is another index, with another name."""
    for field in own.filters.values():
        definition = write_definition(field)
        name = f"own_{own.table}_{hashlib.sha256(definition.encode()).hexdigest()[:12]}"
        yield name, f"CREATE INDEX CONCURRENTLY {name} ON {own.table} {definition}"


def write_definition(field: OwnField) -> str:
    """Return what an index has: the values of a list, or a value and the order of pages, of rows with a value."""
    value = write_value(field, COLUMN)
    if field.is_list:
        return f"USING gin (({value}) jsonb_path_ops)"
    return f"(({value}), created_at DESC, id DESC) WHERE ({value}) IS NOT NULL"
