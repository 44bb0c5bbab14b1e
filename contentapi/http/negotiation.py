"""Choose the media type of a response by Accept (RFC 9110, section 12.5.1), and the version of the API, which is 1.

A request names the version in its path, in Accept or in X-API-Version.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.http.request import MediaType

from contentapi.core.errors import Malformed, NotAcceptable
from contentapi.http.body import JSON

PROBLEM = "application/problem+json"  # RFC 9457
VERSION = "1"
VERSION_PREFIX = f"/v{VERSION}"
VENDOR = f"application/vnd.contentapi.v{VERSION}+json"
VENDOR_OF_ANY = re.compile(r"application/vnd\.contentapi\.v([0-9]+)\+json", re.ASCII | re.IGNORECASE)


def select_media_type(accept: str, offered: Sequence[str]) -> str | None:
    """Return the offered type that Accept prefers, or None if it allows none. The first of equal types wins.

    Django's own selection compares parameters, which the offered types do not have, and ignores `q=0`.
    """
    ranges = [MediaType(text) for text in accept.split(",") if text.strip()] or [MediaType("*/*")]
    best = max(offered, key=lambda media_type: get_quality(ranges, media_type))
    return best if get_quality(ranges, best)[0] > 0 else None


def get_quality(ranges: Sequence[MediaType], media_type: str) -> tuple[float, int]:
    """Return the quality of the most specific range that covers a type, and minus the index of that range."""
    main, sub = media_type.split("/")
    covering = [
        ((kind.main_type != "*") + (kind.sub_type != "*"), -index, kind.quality)
        for index, kind in enumerate(ranges)
        if kind.main_type in ("*", main) and kind.sub_type in ("*", sub)
    ]
    _, earliness, quality = max(covering, default=(0, 0, 0.0))
    return quality, earliness


def wants_problem(accept: str) -> bool:
    """Return whether Accept names problem details. A range such as `application/*` does not name them."""
    return PROBLEM in accept.lower() and select_media_type(accept, [PROBLEM]) is not None


def split_version_prefix(path: str) -> tuple[str, str]:
    """Return the version prefix of a path and the rest. The prefix is empty in a path without a version."""
    return (VERSION_PREFIX, path.removeprefix(VERSION_PREFIX)) if path.startswith(f"{VERSION_PREFIX}/") else ("", path)


def add_version_prefix(body: bytes, prefix: str) -> bytes:
    """Add the prefix to the paths of the links in a JSON text. A text in it has no quotation mark without a `\\`."""
    return body.replace(b'"href":"/', b'"href":"%s/' % prefix.encode())


def require_known_version(environ: Mapping[str, Any]) -> None:
    """Raise `Malformed` if X-API-Version names an unknown version."""
    version = environ.get("HTTP_X_API_VERSION")
    if version is not None and version.strip() != VERSION:
        raise Malformed(f"X-API-Version must be {VERSION}. There is no other version.")


def negotiate_rest_media_type(environ: Mapping[str, Any], prefix: str) -> str:
    """Return the media type of the response. `prefix` is the version prefix of the path.

    Raises `NotAcceptable` if Accept allows none, and `Malformed` if it names another version than the path or
    X-API-Version.
    """
    accept = environ.get("HTTP_ACCEPT", "")
    if accept in ("", "*/*", JSON):
        return JSON
    media_type = select_media_type(accept, [JSON, VENDOR])
    if media_type is not None or wants_problem(accept):
        return media_type or JSON
    other = VENDOR_OF_ANY.search(accept)
    if other and other[1] != VERSION and (prefix or "HTTP_X_API_VERSION" in environ):
        raise Malformed(f"Accept names version {other[1]}, but the path or X-API-Version names version {VERSION}.")
    raise NotAcceptable(f"Accept must allow {JSON} or {VENDOR}.")
