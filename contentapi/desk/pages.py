"""HTML pages for login, consent and errors."""

import sys
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from contentapi.core.errors import Forbidden, Internal, Malformed, TooLarge
from contentapi.http import error_response
from contentapi.http.body import UploadTooLarge
from contentapi.http.request_log import classify_and_record
from contentapi.media.access import get_media_source

POLICY = "default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; frame-ancestors 'none'"
ADMIN_POLICY = (
    f"{POLICY}; script-src 'self'; connect-src 'self'; form-action 'self'; "
    "img-src 'self' data:"  # data: the icons of the theme's stylesheet
)
ADMIN = "/admin/"


def render_page(
    request: HttpRequest,
    template: str,
    context: Mapping[str, Any],
    *,
    status: int = 200,
    leads_to: str = "",
    images: str = "",
) -> HttpResponse:
    """Render a page that runs no script and cannot be framed.

    Its form is sent to this site. The browser follows a redirect to this site only, or to the origin `leads_to`.
    `images` are the sources of images.
    """
    response = render(request, template, context, status=status)
    shown = f"; img-src {images}" if images else ""
    response["Content-Security-Policy"] = f"{POLICY}; form-action 'self' {leads_to}".rstrip() + shown
    return response


def restrict_admin_page(response: HttpResponseBase, *, images: str = "") -> HttpResponseBase:
    """Let a page of the admin run the scripts of this site only, and neither code in the page nor `eval`.

    A response that has a policy already keeps it. `images` are sources of images, by default that of uploaded ones.
    """
    sources = images or get_media_source()
    response.headers.setdefault("Content-Security-Policy", f"{ADMIN_POLICY} {sources}".rstrip())
    return response


def handle_csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Render the response to a form without a valid CSRF token: forged or expired."""
    return render_page(request, "desk/stale.html", {}, status=Forbidden.status)


def render_error(request: HttpRequest, exception: BaseException) -> HttpResponse:
    """Render the page of an error, and record it for the log. It needs neither a session nor the database."""
    error = classify_and_record(exception)
    context = {"title": HTTPStatus(error.status).phrase, "message": error.message}
    response = render_page(request, "desk/error.html", context, status=error.status)
    for name, value in error.headers.items():
        response[name] = value
    return response


# Errors outside of views: HTML below /admin/, JSON elsewhere. Django calls these functions (`handler404` and others).


def handle_bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not request.path_info.startswith(ADMIN):
        return error_response.bad_request(request, exception)
    is_large = isinstance(exception, UploadTooLarge)
    return render_error(request, TooLarge(str(exception)) if is_large else Malformed("The request is malformed."))


def handle_error(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if not request.path_info.startswith(ADMIN):
        return error_response.respond_to_error(request, exception)
    return render_error(request, exception or sys.exc_info()[1] or Internal())
