"""How PostgreSQL reads own fields: their values in projections, the conditions of filters, and the indexes of these.

A value that does not fit the field any more, because its type has changed, counts as none.
"""

from __future__ import annotations

import json
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import Expression, F, Field, Func

from contentapi.projection import Computed
from contentapi.types.fields import TRAITS, Kind, OwnField
from contentapi.types.own_fields import COLUMN, OwnFields

FITTING = {  # conditions of jsonpath on the values of a kind
    Kind.TEXT: '@.type() == "string"',
    Kind.INT: '@.type() == "number" && @ == @.floor()',
    Kind.FLOAT: '@.type() == "number"',
    Kind.BOOLEAN: '@.type() == "boolean"',
    Kind.TIME: '@ like_regex "^[0-9-]{10}T[0-9:.]+[+]00:00$"',
}
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
