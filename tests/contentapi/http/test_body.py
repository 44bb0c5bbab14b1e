"""Bodies in JSON: their media types, and duplicate keys, with and without escapes."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contentapi.http.body import VALUE, DuplicateKey, has_no_duplicate_keys, is_json, loads_without_duplicates
from tests.thoroughness import scale_examples

SPACES = st.sampled_from(["", "", "", " ", "\n", "\t \r\n"])
WRITTEN_NAMES = r'"a" "b" "\u0061" "" "a\"" "\":" "a:b" "\u003a" "é" "\\" "\u0022" "\\u0022"'
WRITTEN_VALUES = r'null 1 -0.5 1e400 "x" "\":" "{\"a\":1}" ":" "\\" "\u0022" "\\u0022"'
NAMES = st.sampled_from(WRITTEN_NAMES.split())
LEAVES = st.sampled_from([*WRITTEN_VALUES.split(), "9" * 40])


@st.composite
def members(draw: st.DrawFn, values: st.SearchStrategy[str]) -> str:
    pairs = draw(st.lists(st.tuples(NAMES, SPACES, SPACES, values), max_size=4))
    return "{" + ",".join(f"{before}{name}{before}:{after}{value}" for name, before, after, value in pairs) + "}"


TEXTS = st.recursive(
    LEAVES, lambda inner: members(inner) | st.lists(inner, max_size=3).map(lambda each: "[" + ",".join(each) + "]")
)


def as_read_pair_by_pair(text: str) -> tuple[Any, bool]:
    """Return the value of a text, and whether it has a duplicate key."""
    repeated = []

    def take(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        repeated.append(len(dict(pairs)) < len(pairs))
        return dict(pairs)

    return json.loads(text, object_pairs_hook=take), any(repeated)


def is_plainly_without_repetition(text: str) -> bool:
    try:
        return has_no_duplicate_keys(text.encode(), VALUE.decode(text))
    except msgspec.DecodeError:  # a number out of range
        return False


@pytest.mark.property
def test_exactly_the_duplicate_keys_are_found() -> None:
    @settings(max_examples=scale_examples(3000), deadline=None)
    @given(text=TEXTS)
    def is_found(text: str) -> None:
        value, is_repeated = as_read_pair_by_pair(text)
        if is_repeated:
            with pytest.raises(DuplicateKey, match="twice"):
                loads_without_duplicates(text)
            assert not is_plainly_without_repetition(text)
        else:
            assert json.dumps(loads_without_duplicates(text)).count('":') == json.dumps(value).count('":')

    is_found()


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}',
        '{"a" :1,"a":2}',
        '{"a":1,"\\u0061":2}',
        '{"a":{"b":1},"a":{}}',
        '[{"a":"\\u0022:","a" :1}]',
        '{"a\\\\":1,"a\\\\" :2}',
        '{"a":1,"a":"\\u0022\\u0022"}',
        '{"a\\u0022":1,"a\\"":2}',
    ],
)
def test_duplicate_key_is_refused(text: str) -> None:
    with pytest.raises(DuplicateKey):
        loads_without_duplicates(text)
    assert not is_plainly_without_repetition(text)


@pytest.mark.parametrize("text", ['{"a":"\\":"}', '{"a" : {"a" : 1}}', '[{"a":1},{"a":2}]', '{"n":1e400}', '"x"'])
def test_text_that_resembles_a_duplicate_key_is_accepted(text: str) -> None:
    loads_without_duplicates(text)


@pytest.mark.parametrize(
    "text", ['{"a":1,"b":{"a":2}}', '[{"a":1},{"a":2}]', "[]", '"x"', '{"a":"\\""}', '{"a":"\\u00e9\\u0022"}']
)
def test_body_without_duplicates_is_decoded_once(text: str) -> None:
    assert is_plainly_without_repetition(text)


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "APPLICATION/JSON", 'application/json; charset="UTF-8"', "application/json;charset=utf8"],
)
def test_json_in_utf_8_is_accepted(content_type: str) -> None:
    assert is_json(content_type)


@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "application/graphql", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
     "application/json-patch+json", "application/merge-patch+json", "application/json; charset=latin-1",
     "application/json; charset=utf-16", "application/json; charset=unknown", "application/json; charset*=x''y"],
)  # fmt: skip
def test_other_media_type_is_not_json(content_type: str) -> None:
    assert not is_json(content_type)
