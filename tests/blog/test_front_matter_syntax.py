"""Front matter as text and as stored JSON: every value is the same after a round trip."""

import json
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blog.files.syntax import (
    InvalidFile,
    decode_value,
    dump_front_matter,
    encode_values,
    load_front_matter,
    split_front_matter,
)
from tests.thoroughness import scale_examples

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
KEYS = TEXTS | st.sampled_from(["$date", "$items", "a.b", "<<", "=", "on", "2024"])
ZONES = st.none() | st.just(UTC) | st.integers(-840, 840).map(lambda n: timezone(timedelta(minutes=n)))
MOMENTS = st.datetimes(timezones=ZONES)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
COMMON = TEXTS | NUMBERS | st.booleans() | st.dates() | MOMENTS
YAML_KEYS = KEYS | st.integers(-5, 5) | st.booleans() | st.dates()


def build_tables(scalars: st.SearchStrategy[Any], keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    values = st.recursive(
        scalars, lambda items: st.lists(items, max_size=3) | st.dictionaries(keys, items, max_size=3), max_leaves=8
    )
    return st.dictionaries(keys, values, max_size=4)


TOML_TABLES = build_tables(COMMON | st.times(), KEYS)
YAML_TABLES = build_tables(COMMON | st.none(), YAML_KEYS)


def describe(value: Any) -> Any:
    """Return a value with its types, because Python has True == 1 == 1.0 and equal times in two zones."""
    match value:
        case dict():
            return {(type(key), key): describe(item) for key, item in value.items()}
        case list():
            return [describe(item) for item in value]
        case _:
            return type(value), repr(value) if isinstance(value, float) else value, str(value)


@pytest.mark.property
@settings(max_examples=scale_examples(1800), deadline=None)
@given(table=TOML_TABLES | YAML_TABLES)
def test_stored_front_matter_is_read_back_unchanged(table: dict[Any, Any]) -> None:
    stored = json.loads(json.dumps(encode_values(table), allow_nan=False))

    assert describe(decode_value(stored)) == describe(table)


@pytest.mark.property
@settings(max_examples=scale_examples(1800), deadline=None)
@given(table=TOML_TABLES | YAML_TABLES, body=TEXTS)
def test_written_front_matter_is_read_back_unchanged(table: dict[Any, Any], body: str) -> None:
    read, rest = split_front_matter(f"{dump_front_matter(table)}{body}")

    assert describe(read) == describe(table)
    assert rest == body


def test_types_that_json_does_not_have_are_stored_with_their_type() -> None:
    stored = encode_values(
        {"a": date(2024, 1, 9), "b": datetime(2024, 1, 9, tzinfo=UTC), "c": time(10), "d": {1: 2}, "e": float("inf")}
    )

    assert stored == {
        "a": {"$date": "2024-01-09"},
        "b": {"$datetime": "2024-01-09T00:00:00+00:00"},
        "c": {"$time": "10:00:00"},
        "d": {"$items": [[1, 2]]},
        "e": {"$float": "inf"},
    }


def test_front_matter_is_written_in_yaml_only_for_values_that_toml_does_not_have() -> None:
    assert dump_front_matter({"a": [1]}) == "+++\na = [\n    1,\n]\n+++\n"
    assert dump_front_matter({"image": None, "title": "Öl"}) == "---\nimage: null\ntitle: Öl\n---\n"
    assert dump_front_matter({"a": {1: 2}}) == "---\na:\n  1: 2\n---\n"


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ('{"title": "Soup"}', ""),
        ('{"title": "Soup"}\nBoil.\n', "Boil.\n"),
        ('{\n  "title": "Soup"\n} \r\n\r\nBoil.', "\r\nBoil."),
        ('{"title": "Soup"}\n{"a": 1}\n', '{"a": 1}\n'),
    ],
)
def test_json_object_at_the_start_is_front_matter(text: str, body: str) -> None:
    assert split_front_matter(text) == ({"title": "Soup"}, body)


def test_cycle_of_yaml_aliases_is_refused() -> None:
    with pytest.raises(InvalidFile, match=r"^a has more than 50 levels\. Remove some\.$"):
        encode_values(load_front_matter("a: &a [*a]", "YAML"))
