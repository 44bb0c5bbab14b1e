"""Conditional requests (RFC 9110, section 13): If-None-Match on reads, If-Match and `expectedVersion` on writes.

A condition of a write is held against the version in the transaction that writes. One that fails is 409, as any other
version that is not the expected one; 412 is not used.
"""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from contentapi.core.entity_tags import Expected, version_in
from contentapi.core.errors import Conflict, Malformed
from contentapi.http.response import Answer

# A member of If-Match: a tag as it should be, or a version alone and a tag that has lost its quotes.
TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
MEMBER = re.compile(rf"{TAG}|[0-9]+(?:-[\w-]+)?", re.ASCII)


def require_fitting_conditions(environ: Mapping[str, Any], *, creates: bool) -> None:
    """Raise `Malformed` for a condition of a write that nothing could be held against."""
    if "HTTP_IF_NONE_MATCH" in environ:
        raise Malformed("If-None-Match is for GET and HEAD; a change takes If-Match.")
    if creates and "HTTP_IF_MATCH" in environ:
        raise Malformed("If-Match is for a single resource, and this is a collection, which has no version.")


def expected_version(if_match: str | None, sent: str | None) -> Expected:
    """Return which version a write may find, by If-Match and by what was sent as `expectedVersion`.

    Raises `Malformed` for an If-Match that is none, and where the two exclude each other.
    """
    if if_match is None or if_match.strip() == "*":
        return sent
    allowed = versions_in(if_match)
    if sent is None:
        return allowed
    if version_in(sent) not in allowed:
        raise Malformed("If-Match and expectedVersion name different versions. Send one of them.")
    return sent


def versions_in(if_match: str) -> frozenset[str]:
    """Return the versions of all tags. A weak tag, and one of another form, matches nothing. Raises `Malformed`."""
    if {part.strip() for part in MEMBER.sub("tag", if_match).split(",")} - {""} != {"tag"}:
        raise Malformed('If-Match must be *, or ETags separated by commas, like "7-c0ffee".')
    return frozenset(filter(None, (version_in(member) for member in MEMBER.findall(if_match))))


def conditional(answer: Answer, environ: Mapping[str, Any]) -> Answer:
    """Return the answer to a read, or 304 for a client that has it. Raises `Conflict` where If-Match does not hold."""
    tag = answer.headers.get("ETag")
    if tag is None:
        return answer
    if "HTTP_IF_MATCH" in environ:
        require_match(environ["HTTP_IF_MATCH"], tag)
    if "HTTP_IF_NONE_MATCH" in environ and is_known(tag, environ["HTTP_IF_NONE_MATCH"]):
        return answer._replace(status=HTTPStatus.NOT_MODIFIED)
    return answer


def require_match(if_match: str, tag: str) -> None:
    expected = expected_version(if_match, None)
    if expected is not None and version_in(tag) not in expected:
        raise Conflict(f"This is at version {version_in(tag)}, which is not the version that you expect.")


def is_known(tag: str, if_none_match: str) -> bool:
    """Say whether a client has what this tag is of. Weak tags do for that, and what is no tag is passed over."""
    known = (member.removeprefix("W/") for member in re.findall(TAG, if_none_match))
    return if_none_match.strip() == "*" or tag in known
