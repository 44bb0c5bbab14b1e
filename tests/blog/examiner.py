"""Reads sanitised HTML, and finds what must not be in it."""

import re
from html.parser import HTMLParser

from blog.rendering.markdown import ATTRIBUTES, CLASSES, ELEMENTS, ID, LANGUAGE, SCHEMES

ADDRESSES = {"href", "src"}


class Examiner(HTMLParser):
    """Collects the parts of sanitised HTML, and what must not be in it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.findings: list[str] = []
        self.parts: list[object] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append((tag, sorted(attrs)))
        if tag not in ELEMENTS.split():
            self.findings.append(f"element {tag}")
        for name, value in attrs:
            if not is_allowed(tag, name, value or ""):
                self.findings.append(f"attribute {tag} {name}={value}")
            if name in ADDRESSES and not is_safe_address(value or ""):
                self.findings.append(f"address {value}")

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(tag)

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def handle_comment(self, data: str) -> None:
        self.findings.append(f"comment {data}")

    def handle_decl(self, decl: str) -> None:
        self.findings.append(f"declaration {decl}")

    def handle_pi(self, data: str) -> None:
        self.findings.append(f"instruction {data}")


def is_allowed(tag: str, name: str, value: str) -> bool:
    if name == "class":
        return value in CLASSES.get(tag, set()) or (tag == "code" and LANGUAGE.fullmatch(value) is not None)
    if name == "id":
        return ID.fullmatch(value) is not None
    if tag == "input":
        return name == "aria-label" or (name, value) in [("type", "checkbox"), ("disabled", ""), ("checked", "")]
    if name == "name":  # of a link, which becomes an id
        return False
    return name in ATTRIBUTES["*"] | ATTRIBUTES.get(tag, set()) | {"data-sourcepos"} or (tag, name) == ("a", "rel")


def is_safe_address(address: str) -> bool:
    """Whether a browser, which ignores control characters and blanks, reads an allowed scheme or none."""
    scheme = re.match(r"([a-z][a-z0-9+.-]*):", re.sub(r"[\x00-\x20]", "", address).lower())
    return scheme is None or scheme[1] in SCHEMES
