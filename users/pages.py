"""HTML pages for login, consent and errors."""

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
    """Render a page that runs no script and cannot be framed.

    Its form is sent to this site. The browser follows a redirect to this site only, or to the origin `leads_to`.
    """
    response = render(request, f"users/{name}.html", context, status=status)
    response["Content-Security-Policy"] = f"{POLICY}; form-action 'self' {leads_to}".rstrip()
    return response


def handle_csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 - Django's signature
    """Render the response to a form without a valid CSRF token: forged or expired."""
    return render_page(request, "stale", {}, status=Forbidden.status)
