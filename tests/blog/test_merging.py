"""Merging of two texts that began with the same version."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blog.history.merging import has_marks, merge_lists, merge_texts, merge_values
from tests.thoroughness import scale_examples

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=8).map("".join)


def test_changes_of_the_same_line_are_marked() -> None:
    merged = merge_texts("One\ntwo", "One\nmine", "One\ntheirs", their_name="Ada")

    assert merged.conflicts == 1
    assert merged.text == "One\n<<<<<<< your text\nmine\n=======\ntheirs\n>>>>>>> text of Ada\n"
    assert has_marks(merged.text)


def test_line_ends_of_the_stored_text_do_not_conflict() -> None:
    assert merge_texts("One\r\ntwo\r\n", "One\nmine\n", "One\r\ntwo\r\n", their_name="Ada") == ("One\nmine\n", 0)


def test_long_texts_without_common_lines_are_merged_in_time() -> None:
    texts = ["\n".join(f"{name} {number % 7}" for number in range(30_000)) for name in ("a", "b", "c")]

    assert merge_texts(*texts, their_name="Ada").conflicts == 1


@pytest.mark.property
@settings(max_examples=scale_examples(600), deadline=None)
@given(LINES, LINES)
def test_change_of_one_editor_alone_is_the_result(base: str, changed: str) -> None:
    assert merge_texts(base, changed, base, their_name="Ada") == (changed, 0)
    assert merge_texts(base, base, changed, their_name="Ada") == (changed, 0)
    assert merge_texts(base, changed, changed, their_name="Ada") == (changed, 0)


@pytest.mark.property
@settings(max_examples=scale_examples(600), deadline=None)
@given(LINES, LINES, LINES)
def test_merged_text_is_the_same_from_either_side_and_keeps_each_version(base: str, mine: str, theirs: str) -> None:
    merged = merge_texts(base, mine, theirs, their_name="Ada")
    reversed_merge = merge_texts(base, theirs, mine, their_name="Ada")

    assert merged.conflicts == reversed_merge.conflicts
    if merged.conflicts:
        assert keep_side(merged.text, "mine") == keep_side(reversed_merge.text, "theirs")
    else:
        assert merged.text == reversed_merge.text


def keep_side(text: str, side: str) -> str:
    """Return a merged text with one side of each conflict."""
    pattern = r"<<<<<<< your text\n(?P<mine>.*?)=======\n(?P<theirs>.*?)>>>>>>> text of Ada\n"
    return re.sub(pattern, lambda found: found[side], text, flags=re.DOTALL)


def test_value_of_the_editor_who_changed_it_wins() -> None:
    assert merge_values("a", "a", "b") == "b"
    assert merge_values("a", "c", "a") == "c"
    assert merge_values("a", "c", "b") == "c"


def test_tags_have_the_changes_of_both() -> None:
    assert merge_lists(["a", "b", "c"], ["b", "c", "mine"], ["a", "b", "theirs"]) == ["b", "theirs", "mine"]
    assert merge_lists([], ["same"], ["same"]) == ["same"]
    assert merge_lists([1, 2], [2, 1], [1, 2]) == [2, 1]
