"""How PostgreSQL reads own fields: their values in projections, the conditions of filters, and the indexes of these.

A value that does not fit the field any more, because its type has changed, counts as none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import BooleanField, Expression, F, Field, Func, JSONField, Q, Value

from contentapi.projection import Computed
from contentapi.types.bodies import parse_text
from contentapi.types.fields import TRAITS, Kind, OwnField
from contentapi.types.own_fields import COLUMN, DECLARED, OwnFields, encode_times

FITTING = {  # conditions of jsonpath on the values of a kind
    Kind.TEXT: '@.type() == "string"',
    Kind.INT: '@.type() == "number" && @ == @.floor()',
    Kind.FLOAT: '@.type() == "number"',
    Kind.BOOLEAN: '@.type() == "boolean"',
    Kind.TIME: '@ like_regex "^[0-9-]{10}T[0-9:.]+[+]00:00$"',
}
# The indexes of these filters in the tables of posts and others, and whether each was built to its end
FIND_INDEXES = """
    SELECT indexes.relname, indisvalid FROM pg_index JOIN pg_class AS indexes ON indexes.oid = indexrelid
    WHERE indrelid = to_regclass(%s) AND starts_with(indexes.relname, %s)
"""
PLACE = "\0"  # of the column in a template: no text in SQL has this character


def project_own_fields(own: OwnFields, row: Expression | F | None = None) -> dict[str, Computed]:
    """Return the own fields of a projection. `row` is the column with their values, if it is not that of the model."""
    column = row or F(COLUMN)
    return {field.name: project_field(field, column) for field in own.fields.values()}


def project_field(field: OwnField, column: Any) -> Computed:
    value = build_value(field, column)
    return Computed(lambda _: value)


def build_value(field: OwnField, column: Any) -> Func:
    """Return the value of an own field as JSON. `column` must have no parameters: the SQL can have it several times."""
    template = write_value(field, PLACE).replace("%", "%%%%").replace(PLACE, "%(expressions)s")
    return Func(column, template=template, output_field=build_column(field))


def build_column(field: OwnField) -> Field[Any, Any]:
    item: Field[Any, Any] = TRAITS[field.kind].column(choices=[(value, value) for value in field.values] or None)
    return ArrayField(item) if field.is_list else item


def write_value(field: OwnField, own: str) -> str:
    """Return the SQL of the value of a field in a column:

    jsonb_path_query_first(own, '$."rating" ? (@.type() == "number" && @ == @.floor())')
    """
    value = write_member(field, field.name, own)
    if field.was:
        old = write_member(field, field.was, own)
        value = f"CASE WHEN {own} -> '{field.name}' IS NULL THEN {old} ELSE {value} END"
    return value if field.default is None else write_default(field, value, own)


def write_default(field: OwnField, value: str, own: str) -> str:
    """Return the SQL of a value, or of the default. A null that a client has written stays null, if it may be."""
    default = f"{quote(json.dumps(field.default, ensure_ascii=False))}::jsonb"
    if field.is_never_null:
        return f"COALESCE({value}, {default})"
    is_absent = " AND ".join(f"{own} -> '{name}' IS NULL" for name in (field.name, field.was) if name)
    return f"CASE WHEN {is_absent} THEN {default} ELSE {value} END"


def write_member(field: OwnField, name: str, own: str) -> str:
    fitting = FITTING.get(field.kind) or " || ".join(f'@ == "{value}"' for value in field.values)
    function, items = ("array", "[*]") if field.is_list else ("first", "")
    return f"""jsonb_path_query_{function}({own}, '$."{name}"{items} ? ({fitting})')"""


def quote(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'{}'".format(text.replace("'", "''"))


# --- Filters and their indexes ----------------------------------------------------------------------------


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
        if not own.table:
            continue
        wanted = dict(write_indexes(own))
        with connection.cursor() as cursor:
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
