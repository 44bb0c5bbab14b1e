"""Whether a value fits the field that the SDL declares: 400 for a wrong type, 422 for a broken limit."""

import math
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec

from contentapi.core.errors import Invalid, Malformed
from contentapi.core.text import require_storable
from contentapi.types.fields import LARGEST_INT, Kind, OwnField

MOMENT = Annotated[datetime, msgspec.Meta(tz=True)]
EXPECTED = {
    Kind.TEXT: "a string",
    Kind.INT: "a whole number of 32 bits",
    Kind.FLOAT: "a number",
    Kind.BOOLEAN: "true or false",
    Kind.TIME: "a time such as 2026-11-21T09:30:00+00:00",
    Kind.RELATION: "an id",
}


def validate_value(field: OwnField, value: Any) -> Any:
    """Return the value as the column stores it. Raises `Malformed`, and `Invalid` for a broken limit."""
    cleaned = convert_value(field, value)
    if problem := find_problem(field, cleaned):
        raise Invalid({field.input_name: [problem]})
    return cleaned


def convert_value(field: OwnField, value: Any) -> Any:
    """Return the value with the type of its column: a time in UTC, a tuple's list. Null empties a list."""
    if value is None and not field.is_required:
        return [] if field.is_list else None
    if not field.is_list:
        return convert_item(field, value)
    if not isinstance(value, list | tuple):
        raise Malformed(f"{field.input_name} must be a list.")
    return [convert_item(field, item) for item in value]


def convert_item(field: OwnField, value: Any) -> Any:
    """Return the value, or each of a list. Raises `Malformed`."""
    match field.kind, value:
        case (Kind.BOOLEAN, bool()) | (Kind.TEXT | Kind.RELATION, str()):
            require_storable(value)
            return value
        case (Kind.TIME, str() | datetime()):
            return convert_time(field, value)
        case (Kind.INT, int()) if is_number(field.kind, value):
            return value
        case (Kind.FLOAT, int() | float()) if is_number(field.kind, value):
            return float(value)
        case (Kind.ENUM, str()) if value in field.values:
            return value
    expected = EXPECTED.get(field.kind) or f"one of {', '.join(field.values)}"
    raise Malformed(f"{'Each of ' * field.is_list}{field.input_name} must be {expected}.")


def is_number(kind: Kind, value: float) -> bool:
    """Return whether the value is an `Int` or a `Float` of GraphQL."""
    if isinstance(value, bool):
        return False
    if kind == Kind.INT:
        return isinstance(value, int) and -LARGEST_INT - 1 <= value <= LARGEST_INT
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that is larger than each float
        return False


def convert_time(field: OwnField, value: str | datetime) -> datetime:
    try:
        return msgspec.convert(value, MOMENT).astimezone(UTC)
    except (msgspec.ValidationError, OverflowError):
        raise Malformed(f"{field.input_name} must be {EXPECTED[Kind.TIME]}.") from None


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
