"""Which text can be stored."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contentapi.core.errors import Malformed
from contentapi.core.text import require_storable
from contentapi.core.unicode import is_storable
from tests.thoroughness import scale_examples

ANY_TEXT = st.text(st.characters(codec=None, categories=None) | st.sampled_from("\0\ud800\udfff"))
STORABLE_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8", exclude_characters="\0")), inner)
    ),
)
BAD = ["\0", "a\0b", "é\0", "\ud800", "a\udfff", "\udc00\ud800", "\ud83d\ude00"]


def encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@given(ANY_TEXT)
def test_text_is_storable_if_it_encodes_and_has_no_nul(text: str) -> None:
    assert is_storable(text) == (encodes(text) and "\0" not in text)


@pytest.mark.parametrize("text", ["", "plain", "é", "\U0010ffff", "\ue000", "\ud7ff", "\x01\x7f\x80"])
def test_text_at_the_limits_of_unicode_is_storable(text: str) -> None:
    assert is_storable(text)


@pytest.mark.property
@settings(max_examples=scale_examples(300), deadline=None)
@given(STORABLE_JSON)
def test_value_of_storable_text_passes(value: object) -> None:
    require_storable(value)


@pytest.mark.parametrize("text", BAD)
@pytest.mark.parametrize("depth", [0, 1, 5_000])
def test_unstorable_text_is_rejected_at_any_depth(text: str, depth: int) -> None:
    value: object = text
    for level in range(depth):
        value = [1, value] if level % 2 else {"in": value, "other": None}

    with pytest.raises(Malformed) as raised:
        require_storable(value)

    assert raised.value.message == "Text must not contain the NUL character or lone surrogates."


@pytest.mark.parametrize("text", BAD)
def test_unstorable_key_is_rejected(text: str) -> None:
    with pytest.raises(Malformed):
        require_storable({"a": [{"b": 1, text: 2}]})
