"""Merges the changes of two editors who began with the same version of a post.

The texts are merged by lines, as diff3 does. A change of one editor is taken over; where both changed the same lines
differently, the merged text has both, between marks, and the person decides.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from blog.history.differences import MOST_LINES, match_sequences

T = TypeVar("T")
LINES = re.compile(r"[^\n]*\n|[^\n]+")
MARK_LENGTH = 7
START, MIDDLE, END = (sign * MARK_LENGTH for sign in "<=>")


class MergedText(NamedTuple):
    """A merged text, and the number of places where both editors changed the same lines."""

    text: str
    conflicts: int


def merge_texts(base: str, mine: str, theirs: str, *, their_name: str) -> MergedText:
    """Return the merged text of two texts that began as `base`.

    A conflict is written as `<<<<<<< your text`, the lines, `=======`, the other lines, `>>>>>>> text of NAME`.
    """
    texts = old, my, their = [split_lines(text) for text in (base, mine, theirs)]
    my_places, their_places = match_lines(old, my), match_lines(old, their)
    parts: list[str] = []
    conflicts, starts = 0, [0, 0, 0]
    for line in [*sorted(my_places.keys() & their_places.keys()), len(old)]:  # that neither has changed, and the end
        ends = [line, my_places.get(line, len(my)), their_places.get(line, len(their))]
        old_lines, my_lines, their_lines = (
            text[start:end] for text, start, end in zip(texts, starts, ends, strict=True)
        )
        if their_lines in (old_lines, my_lines):
            parts += my_lines
        elif my_lines == old_lines:
            parts += their_lines
        else:
            conflicts += 1
            parts += [f"{START} your text\n", *end_last_line(my_lines), f"{MIDDLE}\n", *end_last_line(their_lines)]
            parts.append(f"{END} text of {their_name}\n")
        parts += old[line : line + 1]
        starts = [end + 1 for end in ends]
    return MergedText("".join(parts), conflicts)


def match_lines(base: Sequence[str], text: Sequence[str]) -> dict[int, int]:
    """Return the place in a text of each line of the base that it still has, by the place there."""
    equal = [each for each in match_sequences(base, text, MOST_LINES) if each[0] == "equal"]
    return {old + line: new + line for _, old, end, new, _ in equal for line in range(end - old)}


def split_lines(text: str) -> list[str]:
    """Return the lines of a text with their ends, which are those of a form: LF alone."""
    return LINES.findall(text.replace("\r\n", "\n"))


def end_last_line(lines: Sequence[str]) -> list[str]:
    """Return the lines; the last one ends, so that a mark can follow."""
    if lines and not lines[-1].endswith("\n"):
        return [*lines[:-1], lines[-1] + "\n"]
    return list(lines)


def has_marks(text: str) -> bool:
    """Whether a text has the marks of a conflict that nobody has decided."""
    lines = text.splitlines()
    return any(line.startswith(f"{START} ") for line in lines) and any(line.startswith(f"{END} ") for line in lines)


def merge_values(base: T, mine: T, theirs: T) -> T:
    """Return the value that one of the editors changed; mine if both did."""
    return theirs if mine == base else mine


def merge_lists(base: Sequence[T], mine: Sequence[T], theirs: Sequence[T]) -> list[T]:
    """Return the items of the other editor, without those that I removed, and with those that I added.

    If the other editor changed nothing, my order is kept.
    """
    if theirs == base:
        return list(mine)
    kept = [item for item in theirs if item in mine or item not in base]
    return kept + [item for item in mine if item not in base and item not in theirs]
