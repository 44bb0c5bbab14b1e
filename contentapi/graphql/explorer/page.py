"""Render the explorer, GraphiQL, for browsers at the path of the endpoint.

The page's content security policy allows one script, and requests to this server only. The page stores no credential.
If GraphiQL is not built, a page without a script explains how to build it. Ariadne's page is not used, because it loads
GraphiQL from another host.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from django.template.loader import render_to_string

from contentapi.conf import conf
from contentapi.graphql.explorer import BUILT, hash_sources
from contentapi.http.negotiation import select_media_type

HTML = "text/html"
POLICY = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'nonce-{nonce}'",
    "img-src 'self' data:",  # the style sheet contains icons and fonts
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
]
# Looked up once, like the static files, when the server starts. Empty if GraphiQL is not built.
FOLDER = f"explorer/{hash_sources()}/" if (BUILT / hash_sources()).is_dir() else ""


def is_explorer_requested(environ: Mapping[str, Any], media_types: Sequence[str]) -> bool:
    """Return whether a GET or HEAD request prefers HTML to the media types of the endpoint."""
    accept = environ.get("HTTP_ACCEPT", "")
    return environ["REQUEST_METHOD"] in ("GET", "HEAD") and select_media_type(accept, [*media_types, HTML]) == HTML


def render_page(folder: str = FOLDER) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of the page, which loads GraphiQL from this folder of static files."""
    nonce = secrets.token_urlsafe(16)
    context = {"folder": folder, "nonce": nonce, "introspection": conf.environment.contentapi_introspection}
    body = render_to_string(f"contentapi/{'explorer' if folder else 'no_explorer'}.html", context)
    headers = {
        "Content-Type": f"{HTML}; charset=utf-8",
        "Content-Security-Policy": "; ".join(POLICY).format(nonce=nonce),
        "Cache-Control": "no-cache",
        "Vary": "Accept",
    }
    return headers, body.encode()
