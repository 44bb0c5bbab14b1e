"""Delivery of public files from the folder, where no proxy does it. It takes no connection slot and no database.

The address of a file is not guessable, and changes with its content. So a client that has it may cache it for good.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any
from wsgiref.types import StartResponse

from contentapi.core.errors import ApiError, MethodNotAllowed, NotFound
from contentapi.http.conditional import etag_matches
from contentapi.http.error_response import error_response
from contentapi.http.response import NO_CONTENT, NOT_MODIFIED, OK, Response, send
from contentapi.media.access import find_media_folder
from contentapi.media.storage import BLOCK, CACHED_FOR_GOOD, PUBLIC, PUBLIC_NAME, get_content_type
from contentapi.monitoring.records import current_record

ALLOWED_METHODS = ("GET", "HEAD", "OPTIONS")
RANGE = re.compile(r"bytes=(?=.*\d)(\d{0,15})-(\d{0,15})")
PATH = f"/{PUBLIC}"
ROUTE = f"{PATH}{{file}}"  # the name of these requests in metrics
HEADERS = {  # whatever a browser takes the file for, it runs no script of it
    "Cache-Control": CACHED_FOR_GOOD,
    "Accept-Ranges": "bytes",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


def deliver_file(environ: Mapping[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    """Respond to a request for a public file: the file, a range of it, 304, or an error in the format of REST."""
    record = current_record.get()
    record.operation = ROUTE
    if environ["REQUEST_METHOD"] == "OPTIONS":
        return send(Response(NO_CONTENT, headers={"Allow": ", ".join(ALLOWED_METHODS)}), start_response)
    try:
        file = open_public_file(environ)
    except ApiError as error:
        response = error_response(error, environ.get("HTTP_ACCEPT", ""))
        changes = {"Content-Length": str(len(response.body)), "Cache-Control": "no-store"}
        return send(Response(response.status, response.body, {**response.headers, **changes}), start_response)
    response, found = choose_response(environ, os.fstat(file.fileno()).st_size)
    no_body = send(response, start_response)
    if environ["REQUEST_METHOD"] == "HEAD" or not found:
        file.close()
        return no_body
    record.size = len(found)
    return read_blocks(file, found)


def open_public_file(environ: Mapping[str, Any]) -> IO[bytes]:
    """Return the file of a request. Raises `MethodNotAllowed` and `NotFound`."""
    method, name, folder = environ["REQUEST_METHOD"], environ["PATH_INFO"][1:], find_media_folder()
    if method not in ALLOWED_METHODS:
        raise MethodNotAllowed(method, ALLOWED_METHODS)
    if folder is not None and PUBLIC_NAME.fullmatch(name):
        with suppress(FileNotFoundError):
            return Path(folder, name).open("rb")
    raise NotFound("There is nothing at this address.")


def choose_response(environ: Mapping[str, Any], size: int) -> tuple[Response, range]:
    """Return the status and the headers of the response for a file of this size, and which of its bytes are sent."""
    name = environ["PATH_INFO"][1:]
    tag = f'"{name.removeprefix(PUBLIC)}"'
    headers = {**HEADERS, "ETag": tag}
    if etag_matches(tag, environ.get("HTTP_IF_NONE_MATCH", "")):
        return Response(NOT_MODIFIED, headers=headers), range(0)
    found = find_range(environ, tag, size)
    headers["Content-Type"] = get_content_type(name)
    headers["Content-Length"] = str(len(found))
    if len(found) == size:
        return Response(OK, headers=headers), found
    if found:
        headers["Content-Range"] = f"bytes {found[0]}-{found[-1]}/{size}"
        return Response(HTTPStatus.PARTIAL_CONTENT, headers=headers), found
    headers["Content-Range"] = f"bytes */{size}"
    headers["Cache-Control"] = "no-store"
    return Response(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, headers=headers), found


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
