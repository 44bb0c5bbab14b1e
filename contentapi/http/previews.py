"""Responses to requests with a preview token: no cache stores them, and no search engine shows them."""

from collections.abc import Mapping
from typing import Any

from contentapi.http.response import Response

HEADER = "Preview-Token"
TOKEN = "HTTP_PREVIEW_TOKEN"  # noqa: S105 - its name in a WSGI environ
PRIVATE = {"Cache-Control": "private, no-store", "X-Robots-Tag": "noindex"}


def keep_preview_private(response: Response, environ: Mapping[str, Any], vary: str) -> Response:
    """Return the response with the headers that each request with a preview token gets, whether it succeeds or not."""
    if TOKEN not in environ:
        return response
    return Response(response.status, response.body, {**response.headers, **PRIVATE, "Vary": vary})
