"""Versions of resources: parse an entity tag (RFC 9110, section 8.8.3), and compare with the version a client expects.

A tag is `"<version>-<hash of the representation>"`. Only the version decides conflicts: a new comment changes the tag
of its post, but does not block an edit of the post.
"""

import re
from collections.abc import Set as AbstractSet

from contentapi.core.errors import VersionConflict

VERSION = re.compile(r'(?P<quote>"?)(?P<version>[0-9]+)(-[^"\s]+)?(?P=quote)', re.ASCII)
UNCHANGING = 1  # the version of resources without a version column: authors, comments, users

# A version or a whole tag as the client sent it, a set of allowed versions, or None for any version.
ExpectedVersion = str | AbstractSet[str] | None


def parse_version(text: str) -> str | None:
    """Return the version of a tag or of a version alone: `7`, `7-c0ffee`, `"7-c0ffee"`. None for other text."""
    match = VERSION.fullmatch(text)
    return match["version"] if match else None


def require_version(name: str, version: int, expected: ExpectedVersion) -> None:
    """Raise `VersionConflict` unless the resource has the expected version."""
    if expected is None:
        return
    allowed = {parse_version(expected)} if isinstance(expected, str) else expected
    if str(version) not in allowed:
        raise VersionConflict(f"Version conflict: the {name} is at version {version}.")
