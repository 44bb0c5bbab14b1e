"""The explorer: the page for browsers at the endpoint's own address, GraphiQL from this server's own files.

The page's content security policy allows one script, and requests to this server only. The page stores no credential.
Where GraphiQL is not built (`contentapi.graphql.explorer.build`), a page without a script says how to build it.
Ariadne's own page cannot be used: it loads GraphiQL from another host.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from django.template.loader import render_to_string

from contentapi.conf import conf
from contentapi.graphql.explorer import BUILT, digest
from contentapi.http.negotiation import select_media_type

HTML = "text/html"
POLICY = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'nonce-{nonce}'",
    "img-src 'self' data:",  # signs and fonts are in the style sheet
    "font-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
]
# Looked up once, as the static files themselves are, when the server starts. Empty where GraphiQL is not built.
FOLDER = f"explorer/{digest()}/" if (BUILT / digest()).is_dir() else ""


def is_explorer_requested(environ: Mapping[str, Any], otherwise: Sequence[str]) -> bool:
    """Return whether a GET or HEAD request prefers HTML to the media types of the endpoint's other responses."""
    accept = environ.get("HTTP_ACCEPT", "")
    return environ["REQUEST_METHOD"] in ("GET", "HEAD") and select_media_type(accept, [*otherwise, HTML]) == HTML


def render_page(folder: str = FOLDER) -> tuple[dict[str, str], bytes]:
    """Return the page's headers and the page, with GraphiQL's files out of this folder of the static files."""
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
