"""Views of documents that are equal for all callers: openapi.json, the SDL, the JWKS. Credentials have no effect."""

import hashlib
from collections.abc import Callable, Mapping
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from contentapi.core.errors import MethodNotAllowed
from contentapi.http.conditional import etag_matches
from contentapi.http.error_response import django_error_response, get_accept

METHODS = ("GET", "HEAD", "OPTIONS")


def build_document_view(
    media_type: str, text: Callable[[], bytes], headers: Mapping[str, str] | None = None
) -> Callable[[HttpRequest], HttpResponse]:
    """Return the view of a document, with an ETag. Caches must revalidate it unless `headers` allow otherwise."""
    all_headers = {"Cache-Control": "no-cache", **(headers or {})}

    @csrf_exempt  # a POST gets 405 with Allow instead of 403
    def view(request: HttpRequest) -> HttpResponse:
        if request.method == "OPTIONS":
            return HttpResponse(status=HTTPStatus.NO_CONTENT, headers={"Allow": ", ".join(METHODS)})
        if request.method not in METHODS:
            return django_error_response(MethodNotAllowed(str(request.method), METHODS), get_accept(request))
        content = text()
        etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        response = HttpResponse(content, content_type=media_type, headers={**all_headers, "ETag": etag})
        if etag_matches(etag, request.headers.get("If-None-Match", "")):
            response.status_code, response.content = HTTPStatus.NOT_MODIFIED, b""
        return response

    return view
