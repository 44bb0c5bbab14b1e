"""Versions of resources: the entity tag that tells one (RFC 9110, section 8.8.3), and what a client believes it to be.

A tag is `"<version>-<hash of the representation>"`. The version alone says whether the resource itself has changed: a
new comment gives a post another tag, and does not stand in the way of an edit.
"""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from hashlib import blake2b
from typing import NamedTuple

from contentapi.core.errors import Conflict

VERSION = re.compile(r'(?P<quote>"?)(?P<version>[0-9]+)(-[^"\s]+)?(?P=quote)', re.ASCII)
UNCHANGING = 1  # the version of what no request changes: authors, comments, users

ExpectedVersion = (
    str | AbstractSet[str] | None
)  # a version or a whole tag as it was sent; versions, one of which it must be


def parse_version(text: str) -> str | None:
    """Return the version that stands alone or in a tag, with its quotes or without: `7`, `7-c0ffee`, `"7-c0ffee"`."""
    match = VERSION.fullmatch(text)
    return match["version"] if match else None


def require_version(name: str, version: int, expected: ExpectedVersion) -> None:
    """Raise `Conflict` where a version is expected, and it is not that of this resource. None expects nothing."""
    if expected is None:
        return
    believed = {parse_version(expected)} if isinstance(expected, str) else expected
    if str(version) not in believed:
        raise Conflict(f"This {name} is at version {version}, which is not the version that you expect.")


class Rendered(NamedTuple):
    """A representation in JSON, and the headers that belong to it: a resource's ETag, a page's Link."""

    body: bytes
    headers: Mapping[str, str] = {}


def with_etag(body: bytes, version: int, *, canonical: bytes | None = None) -> Rendered:
    """Return a representation with its tag, of a hash over what is canonical of it where that is not the whole."""
    digest = blake2b(body if canonical is None else canonical, digest_size=8).hexdigest()
    return Rendered(body, {"ETag": f'"{version}-{digest}"'})
