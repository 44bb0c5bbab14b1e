"""The addresses that a rendered text shows: of its images and its links."""

from typing import NamedTuple

import nh3

from blog.rendering.limits import is_heavy
from blog.rendering.markdown import ELEMENTS, MAX_HTML, render_unsafe

ADDRESSES = {"a": {"href"}, "img": {"src"}}


class ShownAddress(NamedTuple):
    """An address as the element `a` or `img` has it."""

    element: str
    address: str


def list_addresses(text: str) -> list[ShownAddress]:
    """Return the addresses of the images and links that a Markdown text shows; none if it is shown as it is written."""
    found = []

    def keep(element: str, _: str, value: str) -> str:
        found.append(ShownAddress(element, value))
        return value

    html = render_unsafe(text, with_lines=False)
    if html is not None and len(html) <= MAX_HTML and not is_heavy(html):
        elements = set(ELEMENTS.split())
        nh3.clean(html, tags=elements, attributes=ADDRESSES, attribute_filter=keep, clean_content_tags=set())
    return found
