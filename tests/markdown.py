"""Reads Markdown files: fenced blocks, headings and links."""

import re
from typing import NamedTuple

FENCED_BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```[ \t]*$", re.MULTILINE | re.DOTALL
)
CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
HEADING = re.compile(r"^#{1,6} +(?P<title>.+?)[ #]*$", re.MULTILINE)
ANCHOR_TAG = re.compile(r"<a (?:id|name)=\"(?P<anchor>[^\"]+)\"")
INLINE_LINK = re.compile(r"\]\(\s*<?(?P<target>[^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE_LINK = re.compile(r"^ {0,3}\[[^\]]+\]: *<?(?P<target>[^\s>]+)", re.MULTILINE)
LINK_TEXT = re.compile(r"\[(?P<text>[^\]]*)\]\([^)]*\)")
NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


class FencedBlock(NamedTuple):
    """A block between two lines of three backticks. `info` is the rest of the first line, such as `sh runnable`."""

    info: str
    text: str
    line: int


def find_fenced_blocks(document: str) -> list[FencedBlock]:
    return [
        FencedBlock(match["info"].strip(), match["text"], document.count("\n", 0, match.start()) + 1)
        for match in FENCED_BLOCK.finditer(document)
    ]


def find_link_targets(document: str) -> list[str]:
    """Return the targets of all links outside of code, in the order of each kind."""
    text = CODE_SPAN.sub("`code`", FENCED_BLOCK.sub("", document))
    return [match["target"] for pattern in (INLINE_LINK, REFERENCE_LINK) for match in pattern.finditer(text)]


def find_anchors(document: str) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them, and those of `<a id="…">`.

    A heading that occurs twice gets the suffix -1 the second time.
    """
    text = FENCED_BLOCK.sub("", document)
    found = {match["anchor"] for match in ANCHOR_TAG.finditer(text)}
    counts: dict[str, int] = {}
    for match in HEADING.finditer(text):
        slug = build_heading_slug(match["title"])
        number = counts.get(slug, 0)
        counts[slug] = number + 1
        found.add(f"{slug}-{number}" if number else slug)
    return found


def build_heading_slug(title: str) -> str:
    plain = LINK_TEXT.sub(r"\g<text>", title).lower()
    return NOT_IN_ANCHORS.sub("", plain).replace(" ", "-")
