"""Views of documents that are equal for all callers, such as openapi.json, and headers of web pages for developers."""

import hashlib
from collections.abc import Callable, Mapping
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from contentapi.core.errors import MethodNotAllowed
from contentapi.http.conditional import etag_matches
from contentapi.http.error_response import django_error_response

HTML = "text/html"
ALLOWED_METHODS = ("GET", "HEAD", "OPTIONS")
View = Callable[[HttpRequest], HttpResponse]


def build_document_view(media_type: str, text: Callable[[], bytes], headers: Mapping[str, str] | None = None) -> View:
    """Return the view of a document, with an ETag. Caches must revalidate it unless `headers` allow otherwise."""
    all_headers = {"Cache-Control": "no-cache", **(headers or {})}
    return for_readers(
        lambda request: respond_with_etag(request, HttpResponse(text(), content_type=media_type, headers=all_headers))
    )


def for_readers(handle: View) -> View:
    """Return a view that responds to GET and HEAD by `handle`, to OPTIONS itself, and to other methods with 405."""

    @csrf_exempt  # a POST gets 405 with Allow instead of 403
    def view(request: HttpRequest) -> HttpResponse:
        if request.method == "OPTIONS":
            return HttpResponse(status=HTTPStatus.NO_CONTENT, headers={"Allow": ", ".join(ALLOWED_METHODS)})
        if request.method not in ALLOWED_METHODS:
            return django_error_response(MethodNotAllowed(str(request.method), ALLOWED_METHODS), request)
        return handle(request)

    return view


def respond_with_etag(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Add the ETag of the content to a response. It becomes 304 if the request has this ETag in If-None-Match."""
    response["ETag"] = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
    if etag_matches(response["ETag"], request.headers.get("If-None-Match", "")):
        response.status_code, response.content = HTTPStatus.NOT_MODIFIED, b""
    return response


def build_page_headers(nonce: str = "") -> dict[str, str]:
    """Return the headers of a page. With a nonce, scripts of this server may add styles, and no cache may store it.

    The editors of the explorer and the API reference add style elements, which carry the nonce, and style attributes,
    which no nonce can allow. Neither can run a script.
    """
    styles = f"'self' 'nonce-{nonce}'; style-src-attr 'unsafe-inline'" if nonce else "'self'"
    scripts = "script-src 'self'; worker-src 'self'; connect-src 'self'; " if nonce else ""
    return {
        "Content-Type": f"{HTML}; charset=utf-8",
        "Content-Security-Policy": (
            f"default-src 'none'; {scripts}style-src {styles}; img-src 'self' data:; font-src 'self' data:; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        "Cache-Control": "no-store" if nonce else "no-cache",
    }
