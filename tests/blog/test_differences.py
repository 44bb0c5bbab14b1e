"""The readable difference of two texts: by lines and words, with a limit of its time."""

import pytest

from blog.history.differences import MOST_LINES, MOST_SHOWN, DifferenceLine, compare_texts

LONGEST = 200_000  # characters of a body


def list_lines(old: str, new: str) -> list[tuple[str, str]]:
    return [(line.kind, line.text.rstrip("\n")) for line in compare_texts(old, new)]


def list_changed_words(line: DifferenceLine) -> list[str]:
    return [part.text for part in line.parts if part.is_changed]


def test_equal_texts_have_no_difference() -> None:
    assert compare_texts("One\ntwo", "One\ntwo") == []


def test_difference_has_the_removed_and_added_lines() -> None:
    for old, new, lines in [
        ("", "One", [("added", "One")]),
        ("One", "", [("removed", "One")]),
        ("One\n", "One\ntwo\n", [("same", "One"), ("added", "two")]),
        ("One\ntwo\nthree", "One\nthree", [("same", "One"), ("removed", "two"), ("same", "three")]),
        ("a\nb", "a\nc", [("same", "a"), ("removed", "b"), ("added", "c")]),
        ("a", "a\n", [("removed", "a"), ("added", "a")]),
    ]:
        assert list_lines(old, new) == lines


def test_equal_lines_far_from_a_change_are_omitted() -> None:
    text = [f"line {number}" for number in range(100)]

    lines = list_lines("\n".join([*text, "old", *text]), "\n".join([*text, "new", *text]))

    assert lines == [
        ("omitted", "97 equal lines"),
        *(("same", f"line {number}") for number in (97, 98, 99)),
        ("removed", "old"),
        ("added", "new"),
        *(("same", f"line {number}") for number in (0, 1, 2)),
        ("omitted", "97 equal lines"),
    ]


def test_changed_words_of_a_line_are_marked() -> None:
    removed, added = compare_texts("The soup was hot, and good.", "The soup was cold, and good.")

    assert (removed.text, list_changed_words(removed)) == ("The soup was hot, and good.", ["hot"])
    assert (added.text, list_changed_words(added)) == ("The soup was cold, and good.", ["cold"])


def test_removed_and_added_lines_rebuild_both_texts() -> None:
    old, new = "a\nb\n\nc d e\n", "a\nB\nx\n\nc D e"

    lines = compare_texts(old, new)

    assert "".join(line.text for line in lines if line.kind != "added") == old
    assert "".join(line.text for line in lines if line.kind != "removed") == new


def test_difference_of_many_lines_is_cut_with_a_note() -> None:
    lines = compare_texts("\n".join(map(str, range(MOST_SHOWN))), "\n".join(map(str, range(-MOST_SHOWN, 0))))

    assert len(lines) == MOST_SHOWN + 1
    assert lines[-1].kind == "omitted"
    assert lines[-1].text == f"Only the first {MOST_SHOWN} lines of the difference are shown."


def interleave(prefix: str) -> str:
    """Return lines of which every second one is also in a text with another prefix: the worst case of difflib."""
    return "\n".join(f"{prefix}{number}" if number % 2 else f"{number % 100}" for number in range(MOST_LINES))


@pytest.mark.thorough
def test_difference_of_long_texts_takes_no_quadratic_time() -> None:
    """Without the limits, this test runs for minutes."""
    for old, new in [
        (interleave("a"), interleave("b")),
        ("\n" * LONGEST, "\n" * (LONGEST - 1) + "x"),
        ("x " * (LONGEST // 2), "y " * (LONGEST // 2)),
        ("a\nb\n" * (LONGEST // 4), "b\na\n" * (LONGEST // 4)),
    ]:
        assert compare_texts(old, new)
