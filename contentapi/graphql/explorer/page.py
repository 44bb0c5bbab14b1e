"""Render the explorer, GraphiQL, for browsers at the path of the endpoint.

The page's content security policy allows the scripts of this server, and requests to this server only. The page stores
no credential beyond the tab. If GraphiQL is not built, a page without a script explains how to build it. Ariadne's page
is not used, because it loads GraphiQL from another host.
"""

import secrets
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from django.template.loader import render_to_string

from contentapi.conf import conf
from contentapi.frontend import find_built_folder
from contentapi.http.documents import HTML, build_page_headers
from contentapi.http.negotiation import select_media_type

EXAMPLES = Path(__file__).with_name("examples.yaml")


@cache
def load_examples() -> list[dict[str, Any]]:
    """Return the groups of examples, in the order of the file, as the page gets them."""
    groups: list[dict[str, Any]] = yaml.safe_load(EXAMPLES.read_text(encoding="utf-8"))
    for example in (example for group in groups for example in group["examples"]):
        lookups = [{"path": path, "query": query} for path, query in example.get("lookups", {}).items()]
        example |= {"variables": {}, "credential": "", **example, "lookups": lookups}
    return groups


def is_explorer_requested(environ: Mapping[str, Any], media_types: Sequence[str]) -> bool:
    """Return whether a GET or HEAD request prefers HTML to the media types of the endpoint."""
    accept = environ.get("HTTP_ACCEPT", "")
    return environ["REQUEST_METHOD"] in ("GET", "HEAD") and select_media_type(accept, [*media_types, HTML]) == HTML


def render_page(folder: str | None = None) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of the page, which loads GraphiQL from this folder of static files.

    Without a folder it looks for the built one: `make run` builds while the server runs.
    """
    folder = find_built_folder() if folder is None else folder
    nonce = secrets.token_urlsafe(16)
    context = {
        "folder": folder,
        "nonce": nonce,
        "introspection": conf.environment.contentapi_introspection,
        "documents": conf.environment.contentapi_documents,
        "examples": load_examples(),
        "page": "explorer",
    }
    body = render_to_string(f"contentapi/{'explorer' if folder else 'no_explorer'}.html", context)
    return {**build_page_headers(nonce), "Vary": "Accept"}, body.encode()
