"""Read the body of a request completely: into memory, into a temporary file, or to discard it.

A server has no time limit for reading a body. Where there is one, a thread reads, which ends with the connection: that
is closed after the response.
"""

import sys
from collections.abc import Mapping
from io import BytesIO
from typing import Any, NoReturn

from contentapi.conf import conf
from contentapi.conf.timeouts import REFUSED_LIMIT, UPLOAD_LIMIT
from contentapi.db.watch.link import call_in_thread
from contentapi.http.body import UploadTooLarge
from contentapi.http.uploads import SpooledBody

DRAIN_LIMIT = 8  # times CONTENTAPI_MAX_BODY. A body up to this size is read and discarded, to keep the connection
CHUNK = 64 * 1024  # bytes
UPLOAD_RATE = 100_000  # bytes a second that a client must send of an upload at least


def buffer_body(environ: dict[str, Any], length: int) -> bool:
    """Replace `wsgi.input` by the bytes of the body. Return whether the whole body was read from the connection.

    `length` is the announced one. A body over the limit is read and discarded up to `DRAIN_LIMIT`. The application
    refuses it by its length.
    """
    limit = conf.environment.contentapi_max_body
    stream = environ["wsgi.input"]
    try:
        if "HTTP_TRANSFER_ENCODING" in environ:
            content = stream.read(limit + 1)
            environ["wsgi.input"] = BytesIO(content)
            return len(content) <= limit or drain_stream(stream, DRAIN_LIMIT * limit)
        if length <= limit:
            environ["wsgi.input"] = BytesIO(stream.read(length) if length else b"")
            return True
        environ["wsgi.input"] = BytesIO()
        return length <= DRAIN_LIMIT * limit and drain_stream(stream, length)
    except Exception as error:  # noqa: BLE001 - each server raises its own for a body that ends early
        environ["wsgi.input"] = BrokenBody(error)
        return False


def get_announced_length(environ: Mapping[str, Any]) -> int:
    announced = environ.get("CONTENT_LENGTH", "")
    return int(announced) if announced.isdecimal() else 0


def spool_body(environ: dict[str, Any], limit: int, excess: str) -> bool:
    """Write the body to a temporary file, which replaces `wsgi.input`. Return whether the whole body was read.

    A body over the limit is read and discarded, up to twice the limit, so that the browser shows the response.
    """
    stream, length = environ["wsgi.input"], get_announced_length(environ)
    is_chunked = "HTTP_TRANSFER_ENCODING" in environ
    too_large = BrokenBody(UploadTooLarge(excess.format(limit=limit)))
    spooled = SpooledBody()
    try:
        if length > limit:
            environ["wsgi.input"] = too_large
            return length <= 2 * limit and drain_stream(stream, length)
        most = limit + 1 if is_chunked else length
        size = call_in_thread(spooled.copy, stream, most).result(UPLOAD_LIMIT + most / UPLOAD_RATE)
        if size > limit:
            environ["wsgi.input"] = too_large
            return drain_stream(stream, limit)
        if not is_chunked:
            require_complete(size, length)
    except Exception as error:  # noqa: BLE001 - see `buffer_body`
        environ["wsgi.input"] = BrokenBody(error)
        return False
    finally:
        if isinstance(environ["wsgi.input"], BrokenBody):
            spooled.close()
    environ["wsgi.input"], environ["CONTENT_LENGTH"] = spooled, str(size)
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    return True


def refuse_body(environ: dict[str, Any], refusal: Exception) -> bool:
    """Discard a body for a while, so that the client reads the response. Return whether the whole body was read."""
    stream, environ["wsgi.input"] = environ["wsgi.input"], BrokenBody(refusal)
    try:
        most = get_announced_length(environ) or sys.maxsize
        return bool(call_in_thread(drain_stream, stream, most).result(REFUSED_LIMIT))
    except TimeoutError:
        return False


def require_complete(size: int, length: int) -> None:
    if size < length:
        raise OSError("The body ended early.")


def drain_stream(stream: Any, limit: int) -> bool:
    """Read up to `limit` bytes. Return whether the stream ended within them."""
    while limit > 0:
        part = stream.read(min(CHUNK, limit))
        if not part:
            return True
        limit -= len(part)
    return not stream.read(1)


class BrokenBody:
    """A body that could not be read. Reading it raises the server's exception again."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def read(self, _: int = -1) -> NoReturn:
        raise self.error

    readline = read
