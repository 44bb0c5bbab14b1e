"""Delivery of public files from the folder, where no proxy does it. It takes no connection slot and no database.

The address of a file is not guessable, and changes with its content. So a client that has it may cache it for good.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from http import HTTPStatus
from typing import IO, Any
from wsgiref.types import StartResponse

from contentapi.core.errors import MethodNotAllowed, NotFound
from contentapi.http.conditional import etag_matches
from contentapi.http.error_response import error_response
from contentapi.media.access import get_storage
from contentapi.media.storage import BLOCK, CACHED_FOR_GOOD, PUBLIC, PUBLIC_NAME, get_content_type
from contentapi.monitoring.records import current_record

ALLOWED_METHODS = ("GET", "HEAD", "OPTIONS")
RANGE = re.compile(r"bytes=(?=.*\d)(\d{0,15})-(\d{0,15})")
PATH = f"/{PUBLIC}"
ROUTE = f"{PATH}{{file}}"  # the name of these requests in metrics
SAFETY = {  # whatever a browser takes the file for, it runs no script of it
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


def is_for_delivery(environ: Mapping[str, Any]) -> bool:
    return str(environ["PATH_INFO"]).startswith(PATH)


def deliver_file(environ: Mapping[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    """Respond to a request for a public file: the file, a range of it, 304, or an error in the format of REST."""
    current_record.get().operation = ROUTE
    method, name = environ["REQUEST_METHOD"], str(environ["PATH_INFO"])[1:]
    if method not in ALLOWED_METHODS:
        return send_error(MethodNotAllowed(method, ALLOWED_METHODS), environ, start_response)
    if method == "OPTIONS":
        return send(HTTPStatus.NO_CONTENT, {"Allow": ", ".join(ALLOWED_METHODS)}, start_response)
    file = open_public_file(name)
    if file is None:
        return send_error(NotFound("There is nothing at this address."), environ, start_response)
    status, headers, found = choose_response(name, os.fstat(file.fileno()).st_size, environ)
    if method == "HEAD" or not found:
        file.close()
        return send(status, headers, start_response)
    current_record.get().size = len(found)
    return send(status, headers, start_response, read_blocks(file, found))


def open_public_file(name: str) -> IO[bytes] | None:
    storage = get_storage()
    if not storage.is_served_here or not PUBLIC_NAME.fullmatch(name):
        return None
    try:
        return storage.open(name)
    except FileNotFoundError:
        return None


def choose_response(name: str, size: int, environ: Mapping[str, Any]) -> tuple[HTTPStatus, dict[str, str], range]:
    """Return the status, the headers and the bytes of the response for a file of this size."""
    tag = f'"{name.removeprefix(PUBLIC)}"'
    headers = {"ETag": tag, "Cache-Control": CACHED_FOR_GOOD, **SAFETY}
    if etag_matches(tag, environ.get("HTTP_IF_NONE_MATCH", "")):
        return HTTPStatus.NOT_MODIFIED, headers, range(0)
    found = find_range(environ, tag, size)
    if not found:
        nothing = f"bytes */{size}"
        headers |= {"Content-Range": nothing, "Content-Length": "0", "Cache-Control": "no-store"}
        return HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, headers, found
    length = str(len(found))
    kind = get_content_type(name)
    headers |= {"Content-Type": kind, "Accept-Ranges": "bytes", "Content-Length": length}
    if len(found) == size:
        return HTTPStatus.OK, headers, found
    headers["Content-Range"] = f"bytes {found[0]}-{found[-1]}/{size}"
    return HTTPStatus.PARTIAL_CONTENT, headers, found


def find_range(environ: Mapping[str, Any], tag: str, size: int) -> range:
    """Return the bytes that a request asks for; an empty range if the file has none of them.

    As RFC 9110 permits, several ranges, and one of a file that has changed (If-Range), get the whole file.
    """
    header = environ.get("HTTP_RANGE", "").strip()
    asked = RANGE.fullmatch(header)
    has_changed = environ.get("HTTP_IF_RANGE", tag) != tag
    if asked is None or environ["REQUEST_METHOD"] != "GET" or has_changed:
        return range(size)
    first, last = asked.groups()
    if not first:
        return range(max(0, size - int(last)), size)
    start = int(first)
    end = int(last) + 1 if last else size
    if last and end <= start:
        return range(size)
    return range(start, min(size, end))


def read_blocks(file: IO[bytes], found: range) -> Iterator[bytes]:
    with closing(file):
        file.seek(found.start)
        missing = len(found)
        while missing and (block := file.read(min(BLOCK, missing))):
            missing -= len(block)
            yield block


def send(
    status: HTTPStatus, headers: Mapping[str, str], start_response: StartResponse, body: Iterable[bytes] = ()
) -> Iterable[bytes]:
    record = current_record.get()
    record.status = status
    start_response(f"{status:d} {status.phrase}", [*headers.items(), ("X-Request-ID", record.id)])
    return body


def send_error(error: Exception, environ: Mapping[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    response = error_response(error, environ.get("HTTP_ACCEPT", ""))
    headers = {**response.headers, "Content-Length": str(len(response.body)), "Cache-Control": "no-store"}
    current_record.get().size = len(response.body)
    return send(HTTPStatus(response.status), headers, start_response, [response.body])
