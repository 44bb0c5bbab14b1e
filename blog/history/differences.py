"""The difference of two texts, by lines, with the words that changed inside of a line.

`difflib` needs quadratic time in the worst case, so the number of lines and words that it compares is limited. Longer
texts are shown as replaced, between the lines that are equal at their start and end.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Literal, NamedTuple

MOST_LINES = 1000  # lines of each text that are compared; about 0.4 s in the worst case
MOST_WORDS = 300  # words and spaces of each line that are compared
MOST_COMPARED_LINES = 200  # pairs of changed lines whose words are compared
MOST_SHOWN = 2000  # lines of the difference
CONTEXT = 3  # equal lines around a change
WORDS = re.compile(r"\s+|\w+|[^\w\s]")

LineKind = Literal["same", "removed", "added", "omitted"]
Operation = tuple[str, int, int, int, int]


class LinePart(NamedTuple):
    """A part of a line. In a line that was changed, `is_changed` marks the words that differ."""

    text: str
    is_changed: bool = False


class DifferenceLine(NamedTuple):
    """A line that is in both texts, in the old or in the new text only, or a note on lines that are not shown."""

    kind: LineKind
    parts: list[LinePart]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


def compare_texts(old: str, new: str) -> list[DifferenceLine]:
    """Return the lines that differ, each change with three equal lines around it; no line for equal texts."""
    if old == new:
        return []
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    operations = match_sequences(before, after, MOST_LINES)
    lines = list(islice(list_lines(before, after, operations), MOST_SHOWN + 1))
    if len(lines) > MOST_SHOWN:
        lines[MOST_SHOWN:] = [build_note(f"Only the first {MOST_SHOWN} lines of the difference are shown.")]
    return lines


def match_sequences(before: Sequence[str], after: Sequence[str], most: int) -> list[Operation]:
    """Return the operations that make one sequence of the other, in the form of `SequenceMatcher.get_opcodes`.

    Equal items at the start and end are matched first. If more than `most` items remain, they count as replaced.
    """
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if max(len(old), len(new)) > most:
        middle: Sequence[Operation] = [("replace", 0, len(old), 0, len(new))]
    else:
        middle = SequenceMatcher(None, old, new).get_opcodes()
    operations = [("equal", 0, start, 0, start)] if start else []
    operations += [(kind, a + start, b + start, c + start, d + start) for kind, a, b, c, d in middle]
    if end:
        operations.append(("equal", len(before) - end, len(before), len(after) - end, len(after)))
    return operations


def list_lines(
    before: Sequence[str], after: Sequence[str], operations: Sequence[Operation]
) -> Iterator[DifferenceLine]:
    compared = 0
    for number, (kind, old_start, old_end, new_start, new_end) in enumerate(operations):
        old, new = before[old_start:old_end], after[new_start:new_end]
        if kind == "equal":
            is_last = number == len(operations) - 1
            yield from list_context(old, CONTEXT if number else 0, 0 if is_last else CONTEXT)
            continue
        pairs = min(len(old), MOST_COMPARED_LINES - compared) if len(old) == len(new) else 0
        compared += pairs
        parts = [compare_words(*pair) for pair in zip(old[:pairs], new[:pairs], strict=True)]
        yield from (DifferenceLine("removed", removed) for removed, _ in parts)
        yield from (DifferenceLine("removed", [LinePart(line)]) for line in old[pairs:])
        yield from (DifferenceLine("added", added) for _, added in parts)
        yield from (DifferenceLine("added", [LinePart(line)]) for line in new[pairs:])


def list_context(lines: Sequence[str], head: int, tail: int) -> list[DifferenceLine]:
    """Return the equal lines next to a change, and a note that states how many others are left out."""
    shown = [DifferenceLine("same", [LinePart(line)]) for line in lines]
    omitted = len(lines) - head - tail
    if omitted > 1:  # otherwise a note would be as long as the line
        shown[head : len(lines) - tail] = [build_note(f"{omitted} equal lines")]
    return shown


def build_note(text: str) -> DifferenceLine:
    return DifferenceLine("omitted", [LinePart(text)])


def compare_words(old: str, new: str) -> tuple[list[LinePart], list[LinePart]]:
    """Return the parts of a removed line and of the line that replaced it."""
    before, after = WORDS.findall(old), WORDS.findall(new)
    removed, added = [], []
    for kind, old_start, old_end, new_start, new_end in match_sequences(before, after, MOST_WORDS):
        is_changed = kind != "equal"
        removed.append(LinePart("".join(before[old_start:old_end]), is_changed))
        added.append(LinePart("".join(after[new_start:new_end]), is_changed))
    return [part for part in removed if part.text], [part for part in added if part.text]
