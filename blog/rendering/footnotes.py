"""Footnotes whose labels have several definitions, or that no text refers to.

comrak writes the first of two definitions, and the text after it, into the list of footnotes, and leaves out those
without references. Here the first one counts, as for links, and the others are shown as they are written.
"""

import re
from collections.abc import Callable
from urllib.parse import quote, unquote

from blog.rendering.raw_html import OWN

DEFINITION = re.compile(r"\[\^([^\]\s]+)\]:")
FOOTNOTE = re.compile(rf'{OWN}li id="fn-([^"]+)"')
REFERENCE = re.compile(rf'{OWN}a href="#fn-([^"]+)" id="(fnref-[^"]+)"')
# The ids of the second reference to a footnote, and the link back to it, end with -2.
REPEATED = re.compile(rf'({OWN}a href="#fn-([^"]+)" id="fnref-\2)-(?=\d+")')
BACK = re.compile(rf'({OWN}a href="#fnref-[^"]+)-(?=(\d+)" class="footnote-backref" [^>]*idx="\d+-\2")')


def has_unused_definitions(text: str, marked: str) -> bool:
    """Return whether a definition in the text may be no footnote of its HTML, or two the same."""
    labels = [normalize(label) for label in FOOTNOTE.findall(marked)]
    return not len(DEFINITION.findall(text)) == len(labels) == len(set(labels))


def escape_unused_definitions(text: str, marked: str, mark: str, render_all: Callable[[str], str]) -> str:
    """Return the text with a mark in each definition that does not count, which makes it text.

    `render_all` returns the HTML with all footnotes: the numbers in their labels tell definitions from what only looks
    like one, as in code.
    """
    pieces, sign = DEFINITION.split(text), quote(mark)  # every other one is a label
    numbered = [f"[^{mark}{at}{mark}{each}]:" if at % 2 else each for at, each in enumerate(pieces)]
    found = re.findall(rf'{OWN}li id="fn-{sign}(\d+){sign}([^"]+)"', render_all("".join(numbered)))
    unused = {normalize(label) for label, _ in REFERENCE.findall(marked)}
    escaped = [f"[^{each}]:" if at % 2 else each for at, each in enumerate(pieces)]
    for at, label in sorted((int(number), normalize(label)) for number, label in found):
        if label not in unused:
            escaped[at] = f"+ [{mark}^{pieces[at]}]{mark}:"  # an item of a list: in no other footnote
        unused.discard(label)
    return "".join(escaped)


def normalize(label: str) -> str:
    """Return a label of an address as comrak compares it."""
    return unquote(label).casefold()


def separate_references(marked: str) -> str:
    """Return the HTML with other ids if the second reference to `[^a]` has the id of that to `[^a-2]`."""
    ids = [found for _, found in REFERENCE.findall(marked)]
    return marked if len(ids) == len(set(ids)) else BACK.sub(r"\1^", REPEATED.sub(r"\1^", marked))
