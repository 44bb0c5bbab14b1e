"""The body of a request, read from its WSGI environ."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.http import parse_header_parameters

from contentapi.errors import Malformed, TooLarge

JSON = "application/json"


def is_json(content_type: str, media_types: tuple[str, ...] = (JSON,)) -> bool:
    """Say whether a Content-Type is one of these media types, in UTF-8."""
    if content_type in media_types:
        return True
    try:
        media_type, parameters = parse_header_parameters(content_type)
    except ValueError:
        return False
    return media_type in media_types and parameters.get("charset", "utf-8").lower() in ("utf-8", "utf8")


def read_bytes(environ: Mapping[str, Any]) -> bytes:
    """Return the body, also one sent in chunks, whose length nobody has announced."""
    most = settings.ENVIRONMENT.contentapi_max_body
    chunked = environ.get("HTTP_TRANSFER_ENCODING", "").lower() == "chunked"
    length = most + 1 if chunked else int(environ.get("CONTENT_LENGTH") or 0)
    try:
        content: bytes = environ["wsgi.input"].read(length) if chunked or length <= most else b""
    except Exception:  # noqa: BLE001 - each server has its own, for chunks that are none and for clients that hang up
        raise Malformed("The body cannot be read to its end.") from None
    if max(len(content), 0 if chunked else length) > most:
        raise TooLarge(f"The body is larger than the {most} bytes that are allowed (CONTENTAPI_MAX_BODY).")
    return content
