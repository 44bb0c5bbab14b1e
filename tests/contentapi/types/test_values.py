"""Values that fit a field, those of another type (400), and those that break a limit (422)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from contentapi.core.errors import Invalid, Malformed
from contentapi.types.fields import Kind, OwnField
from contentapi.types.values import convert_value, find_problem

TEXT = OwnField(name="subtitle", type_name="String", kind=Kind.TEXT, max_length=3)
REQUIRED = OwnField(name="title", type_name="String", kind=Kind.TEXT, is_required=True)
WORDS = OwnField(name="sources", type_name="String", kind=Kind.TEXT, is_list=True, max_items=2, max_length=3)
INT = OwnField(name="rating", type_name="Int", kind=Kind.INT, minimum=1, maximum=5)
FLOAT = OwnField(name="weight", type_name="Float", kind=Kind.FLOAT, minimum=0.5)
FLAG = OwnField(name="isHot", type_name="Boolean", kind=Kind.BOOLEAN)
TIME = OwnField(name="cookedAt", type_name="DateTime", kind=Kind.TIME)
LEVEL = OwnField(name="level", type_name="Level", kind=Kind.ENUM, values=("beginner", "expert"))
RELATED = OwnField(name="related", type_name="Post", kind=Kind.RELATION, is_list=True)
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def validate_value(field: OwnField, value: Any) -> Any:
    """Return the value as the column stores it. Raises `Malformed`, and `Invalid` for a broken limit."""
    cleaned = convert_value(field, value)
    if problem := find_problem(field, cleaned):
        raise Invalid({field.input_name: [problem]})
    return cleaned


def test_value_fits() -> None:
    for field, value, stored in [
        (TEXT, "abc", "abc"),
        (TEXT, "", ""),
        (TEXT, None, None),
        (WORDS, ["a", "abc"], ["a", "abc"]),
        (WORDS, None, []),
        (INT, 1, 1),
        (INT, 5, 5),
        (INT, 5.0, 5),
        (FLOAT, 1, 1.0),
        (FLAG, False, False),
        (TIME, "2026-11-21T13:00:00+01:00", NOON),
        (TIME, NOON, NOON),
        (LEVEL, "expert", "expert"),
        (RELATED, ["7", "8"], ["7", "8"]),
    ]:
        cleaned = validate_value(field, value)

        assert cleaned == stored
        assert type(cleaned) is type(stored)


def test_value_of_another_type_is_malformed() -> None:
    for field, value, message in [
        (TEXT, 1, "subtitle must be a string."),
        (TEXT, "a\0", "Text must not contain the NUL character or lone surrogates."),
        (REQUIRED, None, "title must be a string."),
        (WORDS, "abc", "sources must be a list."),
        (WORDS, ["a", None], "Each of sources must be a string."),
        (INT, "1", "rating must be a whole number of 32 bits."),
        (INT, 1.5, "rating must be a whole number of 32 bits."),
        (INT, True, "rating must be a whole number of 32 bits."),
        (INT, 2**31, "rating must be a whole number of 32 bits."),
        (INT, -(2**31) - 1, "rating must be a whole number of 32 bits."),
        (FLOAT, float("inf"), "weight must be a number."),
        (FLOAT, 10**400, "weight must be a number."),
        (FLOAT, True, "weight must be a number."),
        (FLAG, 0, "isHot must be true or false."),
        (TIME, "yesterday", "cookedAt must be a time such as 2026-11-21T09:30:00+00:00."),
        (TIME, "2026-11-21T13:00:00", "cookedAt must be a time such as 2026-11-21T09:30:00+00:00."),
        (TIME, 5, "cookedAt must be a time such as 2026-11-21T09:30:00+00:00."),
        (LEVEL, "Expert", "level must be one of beginner, expert."),
        (RELATED, [7], "Each of relatedIds must be an id."),
    ]:
        with pytest.raises(Malformed) as error:
            validate_value(field, value)

        assert error.value.message == message


def test_broken_limit_is_invalid() -> None:
    for field, value, name, problem in [
        (TEXT, "abcd", "subtitle", "At most 3 characters are allowed (got 4)."),
        (WORDS, ["a", "b", "c"], "sources", "At most 2 values are allowed (got 3)."),
        (WORDS, ["a", "abcd"], "sources", "At most 3 characters are allowed (got 4)."),
        (INT, 0, "rating", "The smallest value is 1 (got 0)."),
        (INT, 6, "rating", "The largest value is 5 (got 6)."),
        (FLOAT, 0.25, "weight", "The smallest value is 0.5 (got 0.25)."),
        (RELATED, ["7"] * 101, "relatedIds", "At most 100 values are allowed (got 101)."),
    ]:
        with pytest.raises(Invalid) as error:
            validate_value(field, value)

        assert error.value.fields == {name: [problem]}
