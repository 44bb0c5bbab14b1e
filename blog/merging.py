"""Merges the changes of two editors who began with the same version of a post.

merge3 merges the lines. A change of one editor is taken over; where both changed the same lines differently, the merged
text has both, between marks, and the person decides.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from merge3 import Merge3

from blog.differences import MOST_LINES, match_sequences

T = TypeVar("T")
LINES = re.compile(r"[^\n]*\n|[^\n]+")
MARK_LENGTH = 7
START, MIDDLE, END = (sign * MARK_LENGTH for sign in "<=>")


class MergedText(NamedTuple):
    """A merged text, and the number of places where both editors changed the same lines."""

    text: str
    conflicts: int


class BoundedMatcher:
    """Matches lines with the limits of `blog.differences`, in the form of `difflib.SequenceMatcher`."""

    def __init__(self, _isjunk: object, a: Sequence[str], b: Sequence[str], _autojunk: object = None) -> None:
        self.a, self.b = a, b

    def get_matching_blocks(self) -> list[tuple[int, int, int]]:
        operations = match_sequences(self.a, self.b, MOST_LINES)
        blocks = [(old, new, end - old) for kind, old, end, new, _ in operations if kind == "equal"]
        return [*blocks, (len(self.a), len(self.b), 0)]


def merge_texts(base: str, mine: str, theirs: str, *, their_name: str) -> MergedText:
    """Return the merged text of two texts that began as `base`.

    A conflict is written as `<<<<<<< your text`, the lines, `=======`, the other lines, `>>>>>>> text of NAME`.
    """
    matcher: Any = BoundedMatcher
    merge = Merge3(split_lines(base), split_lines(mine), split_lines(theirs), sequence_matcher=matcher)
    parts, conflicts = list[str](), 0
    for group in merge.merge_groups():
        if group[0] != "conflict":
            parts += group[1]
            continue
        conflicts += 1
        _, _, my_lines, their_lines = group
        parts += [f"{START} your text\n", *end_last_line(my_lines), f"{MIDDLE}\n", *end_last_line(their_lines)]
        parts.append(f"{END} text of {their_name}\n")
    return MergedText("".join(parts), conflicts)


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


def merge_tags(base: Sequence[str], mine: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Return the tags of the other editor, without those that I removed, and with those that I added."""
    kept = [tag for tag in theirs if tag in mine or tag not in base]
    return kept + [tag for tag in mine if tag not in base and tag not in theirs]
