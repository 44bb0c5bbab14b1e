"""Finds the texts whose rendering would take long, or much memory, by upper bounds that are cheap to calculate.

comrak adds the cells that are missing in the rows of a table, without a limit, and calls itself for each mail address.
The sanitiser parses like a browser: its work for an element grows with the number of elements that are open there, and
it opens some again after the ends of their parents.
"""

import re

from blog.rendering.raw_html import TAG

MAX_IMAGES = 100  # that a text may name. A text from before this limit shows more: `images.MOST`
MAX_MAIL_ADDRESSES = 1000  # each takes some hundred bytes of a stack, which has 2 MB
MAX_CELLS = 100_000  # of tables: as many as the longest body can have
MAX_WORK = 1_000_000  # of the sanitiser: the sum of the open elements at each start tag. Ordinary texts need a tenth
FEW = 1000  # tags, whose work is below the limit at every depth

AT_SIGN = re.compile("@|&(?:commat|#0*64|#[xX]0*40);")
LINE_END = re.compile(r"\r\n?|\n")
DELIMITERS = "|:- \t\v\f"
VOID = {
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen",
    "link", "meta", "param", "source", "track", "wbr",
}  # fmt: skip
IN_TABLES = {"tbody", "td", "tfoot", "th", "thead", "tr"}  # are inside of each other as deep as tables are
ENDED = {"p": (), "li": ("li",), "dt": ("dt", "dd"), "dd": ("dt", "dd")}  # what a start tag ends, after a paragraph
BLOCKS = {
    "address", "article", "aside", "blockquote", "center", "dd", "details", "dir", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "header", "hgroup", "li", "main", "menu", "nav", "ol",
    "pre", "section", "summary", "table", "ul",
}  # fmt: skip


def has_many_mail_addresses(text: str) -> bool:
    """Return whether a text may have more than `MAX_MAIL_ADDRESSES` mail addresses that are no links yet."""
    if text.count("@") + text.count("&") <= MAX_MAIL_ADDRESSES:
        return False
    return len(AT_SIGN.findall(text)) > MAX_MAIL_ADDRESSES


def has_too_many_cells(text: str) -> bool:
    """Return whether the tables of a text may have more than `MAX_CELLS` cells.

    The row of delimiters determines the number of columns. A table ends at an empty line, or earlier.
    """
    if "|" not in text:
        return False
    cells = columns = lines = 0
    for line in LINE_END.split(text):
        if not line.strip(" \t"):
            cells += columns * lines
            columns = lines = 0
            continue
        lines += 1
        if "|" in line:
            columns = max(columns, line.count("|", len(line.rstrip(DELIMITERS))) + 1)
    return cells + columns * lines > MAX_CELLS


def is_heavy(html: str) -> bool:
    """Return whether the sanitiser may take long for this HTML, in which every `<` starts a tag.

    An element counts as open until its end tag, if no other is open inside of it: a parser may ignore another end tag.
    """
    if html.count("<") <= FEW:
        return False
    opened: list[str] = []
    work = 0
    for is_end, name in TAG.findall(html):
        name = name.lower() if name.isascii() else name
        if is_end:
            close_element(opened, name)
            continue
        work += len(opened) + 1
        if work > MAX_WORK:
            return True
        if name not in VOID and name not in IN_TABLES:
            open_element(opened, name)
    return False


def open_element(opened: list[str], name: str) -> None:
    """Add an element, and remove what its start tag ends."""
    if name in ENDED:
        if opened and opened[-1] == "p":
            opened.pop()
        if opened and opened[-1] in ENDED[name]:
            opened.pop()
    opened.append(name)


def close_element(opened: list[str], name: str) -> None:
    """Remove the element that an end tag closes, with an item and a paragraph inside of it that have no end tag."""
    last = len(opened) - 1
    if name in BLOCKS:
        while last > len(opened) - 3 and last > 0 and opened[last] != name and opened[last] in ENDED:
            last -= 1
    if last >= 0 and opened[last] == name:
        del opened[last:]
