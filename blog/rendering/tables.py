"""Tables whose rows have more cells than their header. comrak leaves these out; here the last cell contains them."""

import re
from itertools import pairwise

# In linear time: nothing is read twice.
DELIMITERS = re.compile(r"[\s>]*+\|?(?:\s*+:?-++:?\s*+\|)*+(?:\s*+:?-++:?)?\s*+")
START = re.compile(r"[\s>]*+(?:(?:[-*+]|\d++[.)])\s++)*+\|?")  # of a row: the marks of quotes and lists
PIPE = re.compile(r"\\.|\|", re.DOTALL)


def escape_excess_cells(text: str, mark: str) -> str:
    """Return a Markdown text with a mark and a backslash before each `|` for which its table has no column.

    What only looks like a table, as in code, gets them too: the caller removes them from the HTML.
    """
    lines, columns = text.splitlines(keepends=True), 0
    if "|" not in text:
        return text
    for number, (header, line) in enumerate(pairwise(lines), 1):
        if "-" in line and "|" in line and DELIMITERS.fullmatch(line):
            columns = len(find_pipes(line)) + 1
            columns = columns if len(find_pipes(header)) + 1 == columns else 0
        elif not line.strip("> \t\r\n"):
            columns = 0
        elif columns:
            lines[number] = escape_pipes(line, find_pipes(line)[columns - 1 :], mark)
    return "".join(lines)


def find_pipes(row: str) -> list[int]:
    """Return where the cells of a row end, but for the last one."""
    start, end = next(START.finditer(row)).end(), len(row.rstrip())
    pipes = [pipe.start() for pipe in PIPE.finditer(row, start, end) if pipe[0] == "|"]
    return pipes[:-1] if pipes and pipes[-1] == end - 1 else pipes


def escape_pipes(line: str, pipes: list[int], mark: str) -> str:
    """Return a line with a mark and a backslash before each of these pipes."""
    return f"{mark}\\".join(line[start:end] for start, end in pairwise([0, *pipes, len(line)]))
