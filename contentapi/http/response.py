"""The response type of both transports. The endpoint or the fast path sends it."""

from collections.abc import Mapping
from hashlib import blake2b
from http import HTTPStatus
from wsgiref.types import StartResponse

import msgspec

from contentapi.monitoring.records import current_record

# Statuses of most responses. Python 3.11 calls a function for each look into an enumeration.
OK = HTTPStatus.OK.value
NO_CONTENT = HTTPStatus.NO_CONTENT.value
NOT_MODIFIED = HTTPStatus.NOT_MODIFIED.value


class Response(msgspec.Struct):
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = {}


def build_tagged_response(body: bytes, version: int, *, canonical: bytes | None = None) -> Response:
    """Return a response with the representation and its entity tag.

    The tag contains a hash of `canonical`, by default of the body.
    """
    digest = blake2b(body if canonical is None else canonical, digest_size=8).hexdigest()
    return Response(OK, body, {"ETag": f'"{version}-{digest}"'})


def created(location: str, response: Response) -> Response:
    """Return the response to a POST that created the resource at `location`."""
    return Response(HTTPStatus.CREATED, response.body, {"Location": location, **response.headers})


def put(response: Response, location: str, *, is_new: bool) -> Response:
    """Return the response to a PUT: as to a POST if it created the resource at `location`."""
    return created(location, response) if is_new else response


def moved(location: str) -> Response:
    """Return the response to a request for a resource that has another path now."""
    return Response(HTTPStatus.PERMANENT_REDIRECT, headers={"Location": location})


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


def send(response: Response, start_response: StartResponse) -> list[bytes]:
    """Send a response without Django and its middleware. Note its status and size."""
    record = current_record.get()
    record.status, record.size = response.status, len(response.body)
    headers = [*response.headers.items(), ("X-Request-ID", record.id)]
    start_response(f"{response.status:d} {HTTPStatus(response.status).phrase}", headers)
    return [response.body]
