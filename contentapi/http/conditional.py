"""Conditional requests (RFC 9110, section 13): If-None-Match on reads, If-Match and `expectedVersion` on writes.

The transaction of a write checks its condition. A condition that fails is 409, as for every version mismatch, and never
412 (docs/decisions/0002-conflict-for-if-match.md).
"""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from contentapi.core.entity_tags import ExpectedVersion, parse_version, require_version
from contentapi.core.errors import Malformed
from contentapi.http.response import Response

TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
# A member of If-Match. A version alone, or a tag without its quotes, is also accepted.
MEMBER = re.compile(rf"{TAG}|[0-9]+(?:-[\w-]+)?", re.ASCII)


def reject_misplaced_preconditions(environ: Mapping[str, Any], *, creates: bool) -> None:
    """Raise `Malformed` for a condition that a write cannot check. `creates` is True for a POST to a collection."""
    if "HTTP_IF_NONE_MATCH" in environ:
        raise Malformed("If-None-Match is for GET and HEAD. Send If-Match with a write.")
    if creates and "HTTP_IF_MATCH" in environ:
        raise Malformed("If-Match is for a single resource. A collection has no version.")


def resolve_expected_version(if_match: str | None, sent: str | None) -> ExpectedVersion:
    """Return the version that If-Match and `expectedVersion` (`sent`) name. Raises `Malformed` if they differ."""
    if if_match is None or if_match.strip() == "*":
        return sent
    allowed = parse_if_match(if_match)
    if sent is None:
        return allowed
    if parse_version(sent) not in allowed:
        raise Malformed("If-Match and expectedVersion name different versions. Send one of them.")
    return sent


def parse_if_match(if_match: str) -> frozenset[str]:
    """Return the versions of the tags. A weak tag or a tag without a version matches nothing. Raises `Malformed`."""
    if {part.strip() for part in MEMBER.sub("tag", if_match).split(",")} - {""} != {"tag"}:
        raise Malformed('If-Match must be *, or ETags separated by commas, like "7-c0ffee".')
    return frozenset(filter(None, (parse_version(member) for member in MEMBER.findall(if_match))))


def apply_conditions(response: Response, environ: Mapping[str, Any]) -> Response:
    """Return the response to a read, or 304 if the client has the representation. Raises `Conflict` for If-Match."""
    tag = response.headers.get("ETag")
    if tag is None:
        return response
    if "HTTP_IF_MATCH" in environ:
        expected = resolve_expected_version(environ["HTTP_IF_MATCH"], None)
        require_version("resource", int(parse_version(tag) or 0), expected)
    if "HTTP_IF_NONE_MATCH" in environ and etag_matches(tag, environ["HTTP_IF_NONE_MATCH"]):
        return Response(HTTPStatus.NOT_MODIFIED, response.body, response.headers)
    return response


def etag_matches(tag: str, if_none_match: str) -> bool:
    """Return whether If-None-Match contains a tag. Weak tags also match. Members that are not tags are ignored."""
    client_tags = (member.removeprefix("W/") for member in re.findall(TAG, if_none_match))
    return if_none_match.strip() == "*" or tag in client_tags
