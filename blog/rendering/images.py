"""The images of a text: `<img src="image:7">` in sanitised HTML becomes an element with addresses and sizes, and
`<a href="image:7">` a link to the largest of its files.

This runs after the sanitiser, which lets no other element have such an address.
"""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from django.utils.html import escape

SCHEME = "image"
OURS = re.compile(f"{SCHEME}:", re.IGNORECASE)
MARK = f'="{SCHEME}:'
REFERENCE = re.compile(rf"{SCHEME}:([0-9]{{1,19}})")
TAG = re.compile(r'<[a-z](?:[^>"]|"[^"]*")*>')  # from left to right, so that none begins inside of an attribute
ATTRIBUTE = re.compile(r' ([a-z-]+)="([^"]*)"')
MOST = 1000  # images that are shown of a text that has more than it may have; the others are their texts


class ShownImage(NamedTuple):
    """What an element needs of an image that is ready. `alt` is its own text."""

    src: str
    srcset: str
    width: int
    height: int
    alt: str

    @property
    def largest(self) -> str:
        """The address of the widest file, which is the last one."""
        return self.srcset.rpartition(", ")[2].partition(" ")[0] or self.src


class UsedImage(NamedTuple):
    """An image that a text uses, and its text there."""

    id: int
    alt: str


FindImages = Callable[[Sequence[int]], Mapping[int, ShownImage]]


def find_no_images(_: Sequence[int]) -> dict[int, ShownImage]:
    """Find no images: each is its text."""
    return {}


def list_used_images(sanitized: str) -> list[UsedImage]:
    """Return the images of a text, each at its first place, with the text there. A link uses it without a text."""
    used: dict[int, str | None] = {}
    if MARK in sanitized:
        for tag in TAG.finditer(sanitized):
            pk, attributes = read_reference(tag[0])
            if pk and used.get(pk) is None:
                used[pk] = None if "href" in attributes else html.unescape(attributes.get("alt", ""))
    return [UsedImage(pk, alt or "") for pk, alt in used.items()]


def read_reference(tag: str) -> tuple[int, Mapping[str, str]]:
    """Return the id of an image, and the attributes of its element; zero for another element."""
    if MARK not in tag:
        return 0, {}
    attributes = dict(ATTRIBUTE.findall(tag))
    found = REFERENCE.fullmatch(attributes.get("src") or attributes.get("href", ""))
    number = int(found[1]) if found else 0
    return (number if number < 2**63 else 0), attributes


def show_images(sanitized: str, images: Mapping[int, ShownImage]) -> str:
    """Return the HTML with the elements of these images. The others are their texts."""
    if MARK not in sanitized:
        return sanitized

    def replace(tag: re.Match[str]) -> str:
        if MARK not in tag[0]:
            return tag[0]
        pk, attributes = read_reference(tag[0])
        if "href" in attributes:
            place = f' href="{escape(images[pk].largest)}"' if pk in images else ""
            return tag[0].replace(f' href="{attributes["href"]}"', place)
        alt = html.unescape(attributes.get("alt", ""))
        return build_element(images[pk], alt, attributes.get("title")) if pk in images else escape(alt)

    return TAG.sub(replace, sanitized)


def build_element(image: ShownImage, alt: str, title: str | None) -> str:
    """Return the element. `title` is the value of the attribute as it is in the HTML."""
    attributes = {
        "src": escape(image.src),
        "srcset": escape(image.srcset),
        "sizes": f"(max-width: {image.width}px) 100vw, {image.width}px",
        "width": image.width,
        "height": image.height,
        "alt": escape(alt or image.alt),
        **({} if title is None else {"title": title}),
        "loading": "lazy",
    }
    written = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<img{written}>"
