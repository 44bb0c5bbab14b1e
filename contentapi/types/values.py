"""Whether a value fits the field that the SDL declares: 400 for a wrong type, 422 for a broken limit."""

import math
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgspec

from contentapi.core.errors import Malformed
from contentapi.core.text import require_storable
from contentapi.types.fields import TRAITS, Kind, OwnField


def convert_value(field: OwnField, value: Any) -> Any:
    """Return the value with the type of its column: a time in UTC, a tuple's list. Null empties a list.

    Raises `Malformed`.
    """
    if value is None and not field.is_required:
        return [] if field.is_list else None
    if not field.is_list:
        return convert_item(field, value)
    if not isinstance(value, list | tuple):
        raise Malformed(f"{field.input_name} must be a list.")
    return [convert_item(field, item) for item in value]


def convert_item(field: OwnField, value: Any) -> Any:
    """Return the value, or each of a list. An `Int` can be 300.0, as in JSON Schema. Raises `Malformed`."""
    if field.kind == Kind.INT and isinstance(value, float) and value.is_integer():
        value = int(value)
    with suppress(msgspec.ValidationError, OverflowError):  # a time can be too early or too late in UTC
        item = msgspec.convert(value, field.decoded)
        if isinstance(item, datetime):
            return item.astimezone(UTC)
        if not isinstance(item, float) or math.isfinite(item):
            require_storable(item)
            return item
    expected = f"{TRAITS[field.kind].expected}{', '.join(field.values)}"
    raise Malformed(f"{'Each of ' * field.is_list}{field.input_name} must be {expected}.")


def find_problem(field: OwnField, value: Any) -> str:
    """Return which limit a converted value breaks, or an empty text."""
    items = value if field.is_list else [value]
    if len(items) > field.max_items:
        return f"At most {field.max_items} values are allowed (got {len(items)})."
    return next((problem for item in items if item is not None and (problem := find_problem_of_item(field, item))), "")


def find_problem_of_item(field: OwnField, item: Any) -> str:
    if isinstance(item, str) and len(item) > field.max_length:
        return f"At most {field.max_length} characters are allowed (got {len(item)})."
    if field.minimum is not None and item < field.minimum:
        return f"The smallest value is {field.minimum} (got {item})."
    if field.maximum is not None and item > field.maximum:
        return f"The largest value is {field.maximum} (got {item})."
    return ""
