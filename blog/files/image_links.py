"""The addresses of the images of a Markdown text, and of links to images: those that a reader would see, and no others.

The renderer decides which these are: it renders the text with a mark before everything that may be an address. In the
rendered text, `![a](/at0x7/pic.png)` is an image with the mark 7, and the same in code is none.
"""

import re
from collections.abc import Callable
from itertools import count
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import unquote

from blog.rendering import list_addresses

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".avif", ".gif")
# Where an address may begin: after ](, after ]:, also on the next line, or in HTML
START = re.compile(
    r"(?:(?P<markdown>\](?:\(|:)[ \t]*(?:(?:\r\n?|\n)[ \t>]*)?)(?:<(?![!?/]))?|\b(?:src|href)\s*=\s*[\"']?)"
    r"(?=[^\s<>\"')])",
    re.IGNORECASE,
)
PLAIN = r"\\.|[^\s()\\]"
END = {  # of what an address consists, by the character before it
    "<": re.compile(r"(?:\\.|[^<>\\\r\n])*"),
    '"': re.compile(r'[^"]*'),
    "'": re.compile(r"[^']*"),
    "markdown": re.compile(rf"(?:{PLAIN}|\((?:{PLAIN}|\((?:{PLAIN})*\))*\))*"),
    "html": re.compile(r"[^\s>]*"),
}
REMOTE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)
TEMPLATES = ("{{", "{%")  # the site generator computes this address


class Place(NamedTuple):
    """Where an address is in a text, as it is written there, and what it means. `is_image` is false for a link."""

    begin: int
    written: str
    address: str
    is_image: bool


def rewrite_addresses(text: str, rewrite: Callable[[Place], str]) -> str:
    """Return a Markdown text with other addresses of its images and links."""
    pieces, last = [], 0
    for place in find_addresses(text):
        pieces += [text[last : place.begin], rewrite(place)]
        last = place.begin + len(place.written)
    return "".join([*pieces, text[last:]])


def find_addresses(text: str) -> list[Place]:
    """Return the addresses that the rendered text shows, in the order of the text."""
    mark = next(f"at{number}x" for number in count() if f"at{number}x" not in text)
    starts = list(START.finditer(text))
    numbers = count()
    marked = START.sub(lambda start: f"{start[0]}/{mark}{next(numbers)}/", text)
    found: dict[int, Place] = {}
    for element, address in list_addresses(marked) if starts else ():
        shown = re.match(rf"/{mark}(\d+)/(.*)", address, re.DOTALL)
        if shown and (element == "img" or int(shown[1]) not in found):
            start = starts[int(shown[1])]
            found[int(shown[1])] = Place(start.end(), read_written(text, start), shown[2], element == "img")
    return [found[number] for number in sorted(found)]


def read_written(text: str, start: re.Match[str]) -> str:
    """Return the address that begins after this match, as it is written."""
    kind = "html" if start["markdown"] is None else "markdown"
    found = END.get(start[0][-1], END[kind]).match(text, start.end())
    return found[0] if found else ""


def is_local(address: str) -> bool:
    return not REMOTE.match(address) and not any(mark in address for mark in TEMPLATES)


def is_image_name(path: str) -> bool:
    return path.lower().endswith(SUFFIXES)


def read_path(address: str) -> str:
    """Return the path of an address. macOS and other systems write the same name in two ways: here it is in NFC."""
    return normalize("NFC", unquote(re.split("[?#]", address, maxsplit=1)[0]))
