"""Merges the changes of two editors who began with the same version of a post.

The texts are merged by lines, as diff3 does. A change of one editor is taken over; where both changed the same lines
differently, the merged text has both, between marks, and the person decides.
"""

import re
from collections.abc import Iterator, Sequence
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


class CommonBlock(NamedTuple):
    """Lines that are equal in all three texts: where they begin in each, and their number."""

    base: int
    mine: int
    theirs: int
    length: int

    @property
    def end(self) -> "CommonBlock":
        """The empty block after this one."""
        return CommonBlock(self.base + self.length, self.mine + self.length, self.theirs + self.length, 0)


def merge_texts(base: str, mine: str, theirs: str, *, their_name: str) -> MergedText:
    """Return the merged text of two texts that began as `base`.

    A conflict is written as `<<<<<<< your text`, the lines, `=======`, the other lines, `>>>>>>> text of NAME`.
    """
    old, my, their = map(split_lines, (base, mine, theirs))
    parts: list[str] = []
    conflicts = 0
    ends = CommonBlock(0, 0, 0, 0)
    for block in [*list_common_blocks(old, my, their), CommonBlock(len(old), len(my), len(their), 0)]:
        old_lines = old[ends.base : block.base]
        my_lines = my[ends.mine : block.mine]
        their_lines = their[ends.theirs : block.theirs]
        if their_lines in (old_lines, my_lines):
            parts += my_lines
        elif my_lines == old_lines:
            parts += their_lines
        else:
            conflicts += 1
            parts += [f"{START} your text\n", *end_last_line(my_lines), f"{MIDDLE}\n", *end_last_line(their_lines)]
            parts.append(f"{END} text of {their_name}\n")
        ends = block.end
        parts += old[block.base : ends.base]
    return MergedText("".join(parts), conflicts)


def list_common_blocks(base: Sequence[str], mine: Sequence[str], theirs: Sequence[str]) -> Iterator[CommonBlock]:
    """Yield the blocks of lines that neither editor changed, in their order, as diff3 finds them.

    They are the intersections of the blocks that the base has in common with each of the two texts.
    """
    my_blocks, their_blocks = (list_equal_blocks(base, text) for text in (mine, theirs))
    while my_blocks and their_blocks:
        (my_base, my_start, my_length), (their_base, their_start, their_length) = my_blocks[-1], their_blocks[-1]
        start = max(my_base, their_base)
        end = min(my_base + my_length, their_base + their_length)
        if start < end:
            yield CommonBlock(start, my_start + start - my_base, their_start + start - their_base, end - start)
        ends_first = my_blocks if my_base + my_length <= their_base + their_length else their_blocks
        ends_first.pop()


def list_equal_blocks(base: Sequence[str], text: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return the blocks of equal lines, the last one first: their starts in both texts, and their numbers of lines."""
    operations = match_sequences(base, text, MOST_LINES)
    return [(old, new, old_end - old) for kind, old, old_end, new, _ in reversed(operations) if kind == "equal"]


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
