"""Own fields in REST: in bodies and parameters, and in openapi.json."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from contentapi.types.fields import LARGEST_INT, NUMBERS, Kind, OwnField
from contentapi.types.own_fields import DECLARED, OwnFields, must_have_value
from contentapi.types.values import convert_value

TYPES: Mapping[Kind, Any] = {
    Kind.TEXT: str,
    Kind.INT: Annotated[int, Meta(ge=-LARGEST_INT - 1, le=LARGEST_INT)],
    Kind.FLOAT: float,
    Kind.BOOLEAN: bool,
    Kind.TIME: Annotated[datetime, Meta(tz=True)],
}

SCHEMAS: Mapping[Kind, Mapping[str, Any]] = {
    Kind.TEXT: {"type": "string"},
    Kind.INT: {"type": "integer", "minimum": -LARGEST_INT - 1, "maximum": LARGEST_INT},
    Kind.FLOAT: {"type": "number"},
    Kind.BOOLEAN: {"type": "boolean"},
    Kind.TIME: {"type": "string", "format": "date-time"},
}
STORABLE = r"^[^\x00]*$"


def list_body_fields(own: OwnFields) -> list[Any]:
    """Return the own fields of a type, for `defstruct`. Each may be left out, and null clears it."""
    return [
        (name, get_type(field) | UnsetType | None, msgspec.field(default=UNSET, name=field.name))
        for name, field in own.fields.items()
    ]


def get_type(field: OwnField) -> Any:
    item = Literal[field.values] if field.kind == Kind.ENUM else TYPES[field.kind]
    return list[item] if field.is_list else item  # type: ignore[valid-type]


def parse_text(field: OwnField, text: str) -> Any:
    """Return the value that a text states, of a list one of its values. Raises `Malformed`."""
    value: Any = text
    if field.kind == Kind.BOOLEAN:
        value = {"true": True, "false": False}.get(text, text)
    elif field.kind in NUMBERS:
        with suppress(ValueError):
            value = (int if field.kind == Kind.INT else float)(text)
    return convert_value(replace(field, is_list=False, is_required=True), value)


# --- openapi.json -----------------------------------------------------------------------------------------


def describe_own_fields(document: dict[str, Any]) -> None:
    """Add the own fields to the objects, the bodies and the parameters of openapi.json."""
    for own in DECLARED.values():
        for field in own.fields.values():
            add_to_schemas(document["components"]["schemas"], own, field)
        filters = [describe_filter(field) for field in own.filters.values()]
        for path in own.lists:
            operation = document["paths"][path]["get"]
            operation["parameters"] = [*operation["parameters"], *filters]


def add_to_schemas(schemas: dict[str, Any], own: OwnFields, field: OwnField) -> None:
    if field.kind == Kind.ENUM:
        schemas[field.type_name] = {"type": "string", "enum": list(field.values)}
    for name in own.schemas:
        is_body = name not in (own.type_name, *own.copies)
        described = describe_field(field, is_body=is_body)
        schemas[name]["properties"][field.name] = {**described, "description": field.description or field.name}
        if not is_body:
            schemas[name]["required"] = [*schemas[name].get("required", ()), field.name]


def describe_filter(field: OwnField) -> dict[str, Any]:
    description = f"Only those with this `{field.name}`."
    return {"name": field.name, "in": "query", "description": description, "schema": describe_item(field)}


def describe_field(field: OwnField, *, is_body: bool) -> dict[str, Any]:
    """Return the schema of a field. Only bodies have limits: a stored value can be older than its limit."""
    schema = describe_item(field, has_limits=is_body)
    if field.is_list:
        schema = {"type": "array", "items": schema, **({"maxItems": field.max_items} if is_body else {})}
    if not is_body and must_have_value(field):
        return schema
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else {"anyOf": [schema, {"type": "null"}]}


def describe_item(field: OwnField, *, has_limits: bool = True) -> dict[str, Any]:
    if field.kind == Kind.ENUM:
        return {"$ref": f"#/components/schemas/{field.type_name}"}
    schema: dict[str, Any] = dict(SCHEMAS[field.kind])
    limits: dict[str, Any] = {"minimum": field.minimum, "maximum": field.maximum}
    if field.kind == Kind.TEXT:
        limits = {"maxLength": field.max_length, "pattern": STORABLE}
    given = {name: limit for name, limit in limits.items() if limit is not None}
    return schema | given if has_limits else schema
