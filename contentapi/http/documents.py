"""Views of documents that are equal for all callers: openapi.json, the SDL, the JWKS. Credentials have no effect."""

import hashlib
from collections.abc import Callable, Mapping
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from contentapi.core.errors import MethodNotAllowed
from contentapi.http.conditional import etag_matches
from contentapi.http.error_response import django_error_response, get_accept

ALLOWED_METHODS = ("GET", "HEAD", "OPTIONS")
View = Callable[[HttpRequest], HttpResponse]


def build_document_view(media_type: str, text: Callable[[], bytes], headers: Mapping[str, str] | None = None) -> View:
    """Return the view of a document, with an ETag. Caches must revalidate it unless `headers` allow otherwise."""
    all_headers = {"Cache-Control": "no-cache", **(headers or {})}

    def handle(request: HttpRequest) -> HttpResponse:
        return respond_with_etag(request, HttpResponse(text(), content_type=media_type, headers=all_headers))

    return for_readers(handle)


def for_readers(handle: View) -> View:
    """Return a view that responds to GET and HEAD by `handle`, to OPTIONS itself, and to other methods with 405."""

    @csrf_exempt  # a POST gets 405 with Allow instead of 403
    def view(request: HttpRequest) -> HttpResponse:
        if request.method == "OPTIONS":
            return HttpResponse(status=HTTPStatus.NO_CONTENT, headers={"Allow": ", ".join(ALLOWED_METHODS)})
        if request.method not in ALLOWED_METHODS:
            return django_error_response(MethodNotAllowed(str(request.method), ALLOWED_METHODS), get_accept(request))
        return handle(request)

    return view


def respond_with_etag(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Add the ETag of the content to a response. It becomes 304 if the request has this ETag in If-None-Match."""
    response["ETag"] = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
    if etag_matches(response["ETag"], request.headers.get("If-None-Match", "")):
        response.status_code, response.content = HTTPStatus.NOT_MODIFIED, b""
    return response
