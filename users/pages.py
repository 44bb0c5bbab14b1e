"""Pages for people who log in or are asked for consent."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from contentapi.core.errors import Forbidden

POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"


def render_page(
    request: HttpRequest,
    name: str,
    context: Mapping[str, Any],
    *,
    status: int = 200,
    leads_to: str = "",
) -> HttpResponse:
    """Render a page that runs no script and stands in no frame.

    Its form goes to this site. A browser also follows the answer to it there only, or to the origin that `leads_to`.
    """
    response = render(request, f"users/{name}.html", context, status=status)
    response["Content-Security-Policy"] = f"{POLICY}; form-action 'self' {leads_to}".rstrip()
    return response


def handle_csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 - Django's signature
    """Answer a form without the token of the page that it should come from: forged, or opened in another life."""
    return render_page(request, "stale", {}, status=Forbidden.status)
