"""The addresses of a page in front matter: what its slug is, which it had before, and where its original is."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from blog import services
from blog.files.keys import ADDRESS_KEYS, ALIAS_KEYS, CANONICAL_KEYS
from blog.files.states import is_flag
from blog.files.syntax import Table
from blog.files.words import is_line, read_list
from blog.models import CONTENT_FIELDS, SLUG

MAX_ALIASES = 100
LAST_SEGMENT = re.compile(r"[^/]+?((?:\.html?)?/*)$")
VARIABLE = re.compile("[:{}]")  # in addresses such as /:year/:title/
CANONICAL_URL = next(field for field in CONTENT_FIELDS if field.name == "canonical_url")


def read_slug(meta: Table) -> str | None:
    """Return the slug that the front matter states, or the last segment of the page's address."""
    stated = meta.get("slug")
    if is_line(stated) and not isinstance(stated, bool) and (slug := adapt_slug(str(stated))):
        return slug
    keys = [key for key in ADDRESS_KEYS if key != "permalink" or not is_flag(meta.get(key))]  # Eleventy has false
    return next(filter(None, (read_address(meta.get(key)) for key in keys)), None)


def read_address(address: Any) -> str | None:
    """Return the slug in the last segment of an address; None if it is no address or has a variable there."""
    if not isinstance(address, str):
        return None
    try:
        path = unquote(urlsplit(address.strip()).path)
    except ValueError:
        return None
    names = [name for name in path.split("/") if name and not re.fullmatch(r"index(\.html?)?", name)]
    if not names or VARIABLE.search(names[-1]):
        return None
    return adapt_slug(re.sub(r"\.(html?|md|php)$", "", names[-1]))


def adapt_slug(text: str) -> str | None:
    """Return a slug of another program in our characters."""
    return text if SLUG.fullmatch(text) and text.strip("-") else services.slugs.spell_slug(text) or None


def read_old_slugs(meta: Table) -> list[str]:
    """Return the slugs of the page's earlier addresses."""
    found = [read_address(address) for key in ALIAS_KEYS for address in read_list(meta.get(key))]
    return list(dict.fromkeys(filter(None, found)))[:MAX_ALIASES]


def read_canonical_url(meta: Table) -> str | None:
    """Return the address of the original; None for a value that is no absolute URL, which stays in the file."""
    texts = (value for key in CANONICAL_KEYS if isinstance(value := meta.get(key), str))
    return next((text for text in texts if not services.list_problems(CANONICAL_URL, text)), None)


def refresh_address(address: Any, slug: str | None) -> Any:
    """Return an address whose last segment is the slug, perhaps without its number.

    The address from which a post got its slug with a number is another page of the site than the slug with the number.
    """
    stated = read_address(address)
    if not slug or not stated or re.fullmatch(rf"{re.escape(stated)}(-\d+)?", slug):
        return address
    return LAST_SEGMENT.sub(rf"{slug}\1", address.strip())


def add_old_slugs(other: Table, slugs: Sequence[str]) -> Table:
    """Return the other keys of a file, with those of the old slugs that it does not have yet."""
    missing = sorted(set(slugs) - set(read_old_slugs(other)))
    if not missing:
        return other
    return other | {"aliases": [*read_list(other.get("aliases")), *missing]}
