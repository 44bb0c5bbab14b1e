"""The title of a file that states none: its first heading, or else its name."""

import re
from pathlib import PurePath

from blog.files.dates import split_file_name
from blog.files.syntax import Table
from blog.files.words import read_line
from blog.models import MAX_BODY
from blog.rendering import extract_text, render_markdown

HEADING = re.compile(r'<h1\b[^>]*data-sourcepos="(\d+):(\d+)-(\d+):\d+"[^>]*>(.*?)</h1>', re.DOTALL)
LINES = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")


def choose_title(meta: Table, body: str, path: PurePath) -> tuple[str, str, str]:
    """Return the title of a file, its text without the heading that is the title, and where the title comes from."""
    title = read_line(meta.get("title"), "title")
    if title.strip():
        return title, body, ""
    title, rest = take_heading(body) if len(body) <= MAX_BODY else ("", body)
    if title:
        return title, rest, "The title is the first heading."
    name = split_file_name(path)[1]
    words = name.replace("-", " ").replace("_", " ")
    title = name if " " in name else words
    return title.strip() or path.stem, body, "The title is the name of the file."


def take_heading(body: str) -> tuple[str, str]:
    """Return the words of the first heading of level 1, and the text without it. The heading is part of no list."""
    lines = LINES.findall(body)
    for found in HEADING.finditer(render_markdown(body, with_lines=True)):
        first, column, last = (int(found[group]) for group in (1, 2, 3))
        title = extract_text(found[4])
        if title and not lines[first - 1][: column - 1].strip():
            rest = "".join(lines[last:])
            before = "".join(lines[: first - 1])
            return title, before + rest if before.strip() else rest.lstrip("\r\n")
    return "", body
