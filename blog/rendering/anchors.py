"""Ids in a text, and the links that lead to them: `<h2 id="section-soup">` and `<a href="#section-soup">`.

This runs after the sanitiser, which gives a prefix to the ids that a person has written: a page could take an element
with another id for a variable.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from blog.rendering.images import TAG
from blog.rendering.summaries import extract_text

PREFIX = "section-"
HEADING = re.compile(r'<(h[1-6])((?: [a-z-]+="[^"]*")*)>(.*?)</\1>', re.DOTALL)
WRITTEN_ID = re.compile(r"\s*\{#([^\s{}<>\"'&]+)(?:\s[^{}<>]*)?\}\s*$")
ID = re.compile(r' id="([^"]*)"')
NAME = re.compile(r' name="([^"]*)"')
LINK = re.compile(r' href="#([^"]+)"')
IN_SLUGS = {"Ll", "Lm", "Lo", "Lt", "Lu", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc"}  # as on GitHub, beside - and spaces


def connect_places(sanitized: str) -> str:
    """Return sanitised HTML in which headings have ids, an id is that of one element, and links lead to them.

    The id of a heading is `{#name}` at its end, or made of its words. A link need not have the prefix, and may be as
    other programs make their ids: without accents, or without the signs and the number at the start.
    """
    ids: dict[str, int] = {}  # with the number of other headings that have the same words
    sanitized = HEADING.sub(read_written_id, sanitized)
    has_places = ' id="' in sanitized or ' name="' in sanitized
    if has_places:
        sanitized = TAG.sub(lambda tag: keep_first_id(tag[0], ids), sanitized)
    sanitized = HEADING.sub(lambda heading: add_id(heading, ids), sanitized)
    if ' href="#' not in sanitized:
        return sanitized
    places = map_places(ids)
    return TAG.sub(lambda tag: LINK.sub(lambda link: lead_to_place(link, places), tag[0]), sanitized)


def read_written_id(heading: re.Match[str]) -> str:
    """Return a heading that ends with `{#name}` with this id in its place."""
    level, attributes, text = heading.groups()
    written = WRITTEN_ID.search(text)
    if written is None:
        return heading[0]
    return f'<{level}{ID.sub("", attributes)} id="{PREFIX}{written[1]}">{text[: written.start()]}</{level}>'


def keep_first_id(tag: str, ids: dict[str, int]) -> str:
    """Return a tag without its id if an earlier one has it. The name of a link is an id."""
    if tag.startswith("<a "):
        tag = NAME.sub("" if ' id="' in tag else r' id="\1"', tag)
    found = ID.search(tag)
    if found and found[1] in ids:
        return ID.sub("", tag)
    if found:
        ids[found[1]] = 0
    return tag


def add_id(heading: re.Match[str], ids: dict[str, int]) -> str:
    """Return a heading with an id made of its words, and a number if another element has it."""
    level, attributes, text = heading.groups()
    if ' id="' in attributes:
        return heading[0]
    place = words = PREFIX + make_slug(text)
    while place in ids:
        ids[words] += 1
        place = f"{words}-{ids[words]}"
    ids[place] = 0
    return f'<{level}{attributes} id="{place}">{text}</{level}>'


def make_slug(heading: str) -> str:
    """Return the words of a heading as GitHub writes them in addresses: `1-soup--stew` for “1. Soup & Stew”."""
    text = extract_text(heading).lower()
    return "".join(each for each in text if each in "- " or unicodedata.category(each) in IN_SLUGS).replace(" ", "-")


def map_places(ids: Iterable[str]) -> Mapping[str, str]:
    """Return the ids by how links may name them. The exact ones come first."""
    places: dict[str, str] = {}
    for simplify in SIMPLIFICATIONS:
        for each in ids:
            places.setdefault(simplify(each.removeprefix(PREFIX)), each)
    places.pop("", None)
    return places


def lead_to_place(link: re.Match[str], places: Mapping[str, str]) -> str:
    """Return the attribute of a link with the id that it means, or as it is."""
    fragment = html.unescape(link[1])
    found = (places.get(simplify(fragment.removeprefix(PREFIX))) for simplify in SIMPLIFICATIONS)
    place = next(filter(None, found), None)
    return f' href="#{place}"' if place else link[0]


def fold(name: str) -> str:
    """Return the letters and numbers of a name, without case and accents."""
    return "".join(each for each in unicodedata.normalize("NFKD", unquote(name)).casefold() if each.isalnum())


def fold_from_letter(name: str) -> str:
    """Return the same from the first letter on, as Jekyll and pandoc do."""
    return fold(name).lstrip("0123456789")


SIMPLIFICATIONS = (unquote, fold, fold_from_letter)
