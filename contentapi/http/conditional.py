"""Conditional requests (RFC 9110, section 13): If-None-Match on reads, If-Match and `expectedVersion` on writes.

A condition of a write is held against the version in the transaction that writes. One that fails is 409, as any other
version that is not the expected one; 412 is not used.
"""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from contentapi.core.entity_tags import ExpectedVersion, parse_version
from contentapi.core.errors import Conflict, Malformed
from contentapi.http.response import Answer

# A member of If-Match: a tag as it should be, or a version alone and a tag that has lost its quotes.
TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
MEMBER = re.compile(rf"{TAG}|[0-9]+(?:-[\w-]+)?", re.ASCII)


def reject_misplaced_preconditions(environ: Mapping[str, Any], *, creates: bool) -> None:
    """Raise `Malformed` for a condition of a write that nothing could be held against."""
    if "HTTP_IF_NONE_MATCH" in environ:
        raise Malformed("If-None-Match is for GET and HEAD; a change takes If-Match.")
    if creates and "HTTP_IF_MATCH" in environ:
        raise Malformed("If-Match is for a single resource, and this is a collection, which has no version.")


def resolve_expected_version(if_match: str | None, sent: str | None) -> ExpectedVersion:
    """Return which version a write may find, by If-Match and by what was sent as `expectedVersion`.

    Raises `Malformed` for an If-Match that is none, and where the two exclude each other.
    """
    if if_match is None or if_match.strip() == "*":
        return sent
    allowed = parse_if_match(if_match)
    if sent is None:
        return allowed
    if parse_version(sent) not in allowed:
        raise Malformed("If-Match and expectedVersion name different versions. Send one of them.")
    return sent


def parse_if_match(if_match: str) -> frozenset[str]:
    """Return the versions of all tags. A weak tag, and one of another form, matches nothing. Raises `Malformed`."""
    if {part.strip() for part in MEMBER.sub("tag", if_match).split(",")} - {""} != {"tag"}:
        raise Malformed('If-Match must be *, or ETags separated by commas, like "7-c0ffee".')
    return frozenset(filter(None, (parse_version(member) for member in MEMBER.findall(if_match))))


def apply_conditions(answer: Answer, environ: Mapping[str, Any]) -> Answer:
    """Return the answer to a read, or 304 for a client that has it. Raises `Conflict` where If-Match does not hold."""
    tag = answer.headers.get("ETag")
    if tag is None:
        return answer
    if "HTTP_IF_MATCH" in environ:
        require_match(environ["HTTP_IF_MATCH"], tag)
    if "HTTP_IF_NONE_MATCH" in environ and etag_matches(tag, environ["HTTP_IF_NONE_MATCH"]):
        return answer._replace(status=HTTPStatus.NOT_MODIFIED)
    return answer


def require_match(if_match: str, tag: str) -> None:
    expected = resolve_expected_version(if_match, None)
    if expected is not None and parse_version(tag) not in expected:
        raise Conflict(f"This is at version {parse_version(tag)}, which is not the version that you expect.")


def etag_matches(tag: str, if_none_match: str) -> bool:
    """Say whether a client has what this tag is of. Weak tags do for that, and what is no tag is passed over."""
    known = (member.removeprefix("W/") for member in re.findall(TAG, if_none_match))
    return if_none_match.strip() == "*" or tag in known
