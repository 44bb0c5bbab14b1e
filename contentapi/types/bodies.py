"""The values of fields in REST: in bodies and parameters, and in openapi.json."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from contentapi.types.fields import NUMBERS, TRAITS, Kind, OwnField
from contentapi.types.values import convert_value

Schema = dict[str, Any]
WHOLE = Annotated[float, Meta(multiple_of=1)]  # 300.0, which JSON Schema calls an integer
STORABLE = r"^[^\x00]*$"


def list_body_fields(fields: Mapping[str, OwnField], *, is_new: bool = False) -> list[Any]:
    """Return fields by their names in Python, for `defstruct`. Each may be left out, and null clears it.

    A new row needs those that are required.
    """
    return [
        (name, get_type(field), msgspec.field(name=field.input_name))
        if is_new and field.is_needed
        else (name, get_type(field) | UnsetType | None, msgspec.field(default=UNSET, name=field.input_name))
        for name, field in fields.items()
    ]


def get_type(field: OwnField) -> Any:
    item: Any = field.decoded | WHOLE if field.kind == Kind.INT else field.decoded
    return list.__class_getitem__(item) if field.is_list else item


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


def describe_member(field: OwnField, *, is_nullable: bool, has_limits: bool = True) -> Schema:
    """Return the schema of a field of an object or a body, with its description."""
    schema = describe_value(field, has_limits=has_limits)
    return {**(add_null(schema) if is_nullable else schema), "description": field.description or field.name}


def describe_filter(name: str, field: OwnField) -> Schema:
    """Return the query parameter that filters a list by a field, or by a value of it."""
    item = describe_value(replace(field, is_list=False))
    return {"name": name, "in": "query", "description": f"Only those with this `{name}`.", "schema": item}


def describe_value(field: OwnField, *, has_limits: bool = True) -> Schema:
    """Return the schema of a value that is not null. Only bodies have limits: a stored value can be older than its."""
    item = describe_item(field, has_limits=has_limits)
    if not field.is_list:
        return item
    return {"type": "array", "items": item, **({"maxItems": field.max_items} if has_limits else {})}


def describe_item(field: OwnField, *, has_limits: bool) -> Schema:
    if field.kind == Kind.ENUM:
        return refer(field.type_name)
    schema = TRAITS[field.kind].describe()
    if not has_limits:
        return schema
    limits: Schema = {"minimum": field.minimum, "maximum": field.maximum}
    if schema == {"type": "string"}:
        limits = {"pattern": STORABLE, "maxLength": field.max_length if field.kind == Kind.TEXT else None}
    return schema | {name: limit for name, limit in limits.items() if limit is not None}


def describe_enums(fields: Mapping[str, OwnField]) -> dict[str, Schema]:
    """Return the schemas of the enums of fields, by their names."""
    enums = {field.type_name: field.values for field in fields.values() if field.kind == Kind.ENUM}
    return {name: {"type": "string", "enum": [*values]} for name, values in enums.items()}


def add_null(schema: Schema) -> Schema:
    if "type" not in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]}


def refer(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}
