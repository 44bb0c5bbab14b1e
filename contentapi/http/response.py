"""The response type of both transports. The endpoint or the fast path sends it."""

from collections.abc import Mapping
from hashlib import blake2b
from http import HTTPStatus
from http.client import responses
from typing import Any
from wsgiref.types import StartResponse

import msgspec

from contentapi.monitoring.records import current_record

# Statuses of most responses. Python 3.11 calls a function for each look into an enumeration.
OK = HTTPStatus.OK.value
NO_CONTENT = HTTPStatus.NO_CONTENT.value
NOT_MODIFIED = HTTPStatus.NOT_MODIFIED.value
STATUS_LINES = {status: f"{status} {phrase}" for status, phrase in responses.items()}
PREVIEW_TOKEN = "HTTP_PREVIEW_TOKEN"  # noqa: S105 - the name of a header in a WSGI environ
# Of responses to requests with it: no cache stores them, and no search engine shows them
PRIVATE = {"Cache-Control": "private, no-store", "X-Robots-Tag": "noindex"}


class Response(msgspec.Struct):
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = {}


def build_tagged_response(body: bytes, version: int) -> Response:
    """Return a response with the representation and its entity tag."""
    digest = blake2b(body, digest_size=8).hexdigest()
    return Response(OK, body, {"ETag": f'"{version}-{digest}"'})


def created(location: str, response: Response) -> Response:
    """Return the response to a POST that created the resource at `location`."""
    return Response(HTTPStatus.CREATED, response.body, {"Location": location, **response.headers})


def put(response: Response, location: str, *, is_new: bool) -> Response:
    """Return the response to a PUT: as to a POST if it created the resource at `location`."""
    return created(location, response) if is_new else response


def moved(location: str, fields: str = "") -> Response:
    """Return the response to a request for a resource that has another path now; `fields` is the parameter."""
    query = f"?fields={fields}" if fields else ""
    return Response(HTTPStatus.PERMANENT_REDIRECT, headers={"Location": location + query})


def no_content() -> Response:
    return Response(NO_CONTENT)


def finalize_response(response: Response, headers: dict[str, str], method: str) -> Response:
    """Return the response to send. One to HEAD, and a 304, has the length of the body that it omits."""
    status, body = response.status, response.body
    if status == NO_CONTENT:
        return Response(status, b"", headers)
    headers["Content-Length"] = str(len(body))
    if status == NOT_MODIFIED:
        del headers["Content-Type"]
    return Response(status, b"" if method == "HEAD" or status == NOT_MODIFIED else body, headers)


def keep_preview_private(response: Response, environ: Mapping[str, Any], vary: str) -> Response:
    """Return the response with the headers that each request with a preview token gets, whether it succeeds or not."""
    if PREVIEW_TOKEN not in environ:
        return response
    return Response(response.status, response.body, {**response.headers, **PRIVATE, "Vary": vary})


def send(response: Response, start_response: StartResponse, shared: Mapping[str, str] = {}) -> list[bytes]:
    """Send a response without Django, and note its status and size. `shared` are the headers of Django's middleware."""
    record, status, own = current_record.get(), response.status, response.headers
    record.status, record.size = status, len(response.body)
    headers = {**shared, **own, "X-Request-ID": record.id}
    if "Vary" in own and "Vary" in shared:
        headers["Vary"] = f"{own['Vary']}, {shared['Vary']}"
    start_response(STATUS_LINES.get(status) or f"{status} Unknown", [*headers.items()])
    return [response.body]
