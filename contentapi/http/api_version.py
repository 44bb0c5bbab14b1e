"""Which version of the API a request asks for: by its path, by Accept, by X-API-Version. There is one."""

import re
from collections.abc import Mapping
from typing import Any

from contentapi.core.errors import Malformed, NotAcceptable
from contentapi.http.body import JSON
from contentapi.http.negotiation import select_media_type, wants_problem

VERSION = "1"
PREFIX = f"/v{VERSION}"
VENDOR = f"application/vnd.contentapi.v{VERSION}+json"
VENDOR_OF_ANY = re.compile(r"application/vnd\.contentapi\.v([0-9]+)\+json", re.ASCII | re.IGNORECASE)


def split_path(path: str) -> tuple[str, str]:
    """Return the prefix of a path that names the version, empty where there is none, and the rest."""
    return (PREFIX, path.removeprefix(PREFIX)) if path.startswith(f"{PREFIX}/") else ("", path)


def require_known_version(environ: Mapping[str, Any]) -> None:
    """Raise `Malformed` for an X-API-Version that is none."""
    marked = environ.get("HTTP_X_API_VERSION")
    if marked is not None and marked.strip() != VERSION:
        raise Malformed(f"X-API-Version must be {VERSION}: there is no other version.")


def negotiate_rest_media_type(environ: Mapping[str, Any], prefix: str) -> str:
    """Return the media type of the answer.

    Raises `NotAcceptable` where Accept allows none, and `Malformed` where it names another version than the rest does.
    """
    accept = environ.get("HTTP_ACCEPT", "")
    if accept in ("", "*/*", JSON):
        return JSON
    chosen = select_media_type(accept, [JSON, VENDOR])
    if chosen is not None or wants_problem(accept):
        return chosen or JSON
    other = VENDOR_OF_ANY.search(accept)
    if other and other[1] != VERSION and (prefix or "HTTP_X_API_VERSION" in environ):
        raise Malformed(f"Accept names version {other[1]}, and the path or X-API-Version version {VERSION}.")
    raise NotAcceptable(f"An answer is {JSON} or {VENDOR}, and Accept allows neither.")
