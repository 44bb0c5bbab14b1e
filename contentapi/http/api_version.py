"""The version of the API that a request names in its path, in Accept or in X-API-Version. The only version is 1."""

import re
from collections.abc import Mapping
from typing import Any

from contentapi.core.errors import Malformed, NotAcceptable
from contentapi.http.body import JSON
from contentapi.http.negotiation import select_media_type, wants_problem

VERSION = "1"
VERSION_PREFIX = f"/v{VERSION}"
VENDOR = f"application/vnd.contentapi.v{VERSION}+json"
VENDOR_OF_ANY = re.compile(r"application/vnd\.contentapi\.v([0-9]+)\+json", re.ASCII | re.IGNORECASE)


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
