"""Read the file that a request sends: as its body, or as the one file of a form. It is never in memory as a whole."""

import hashlib
import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing, suppress
from errno import ENOSPC
from re import Pattern
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.core.handlers.wsgi import WSGIRequest
from django.utils.http import parse_header_parameters

from contentapi.core.errors import ApiError, Malformed, TooLarge, Unavailable, UnsupportedMediaType
from contentapi.core.identity import Actor
from contentapi.http.body import UploadTooLarge

FORM = "multipart/form-data"
FORM_OVERHEAD = 100_000  # bytes of a form beside its file
DISPOSITION = re.compile(rb"^content-disposition:([^\r\n]*\bfilename\*?=[^\r\n]*)", re.IGNORECASE | re.MULTILINE)
BLOCK = 64 * 1024  # bytes
EXCESS = "The file is too large. At most {limit:,} bytes are allowed (CONTENTAPI_IMAGE_MAX_BYTES)."


class Upload(NamedTuple):
    """A kind of upload: its method, its paths, its limit in bytes, and the message for a body above the limit.

    `find_sender` returns the actor of a request; None without the permission. Uploads of the desk are not metered.
    """

    method: str
    paths: Pattern[str]
    limit: int
    find_sender: Callable[[Mapping[str, Any]], Actor | None]
    excess: str
    is_metered: bool = True

    def matches(self, environ: Mapping[str, Any]) -> bool:
        path = environ.get("PATH_INFO", "")
        return environ.get("REQUEST_METHOD") == self.method and self.paths.fullmatch(path) is not None


class SentFile(NamedTuple):
    """A file, its name as the client states it, and its SHA-256."""

    file: IO[bytes]
    name: str
    size: int
    sha256: bytes

    def close(self) -> None:
        """Delete the temporary file."""
        self.file.close()


class SpooledBody:
    """A body in a temporary file, which is deleted when it is closed."""

    def __init__(self) -> None:
        self.file = TemporaryFile()  # noqa: SIM115 - `close` closes it
        self.read = self.file.read
        self.readline = self.file.readline
        self.close = self.file.close

    def copy(self, stream: Any, most: int) -> int:
        """Copy at most some bytes of a stream. Return their number, which is smaller if the stream ends before."""
        missing = most
        while missing and (block := stream.read(min(BLOCK, missing))):
            self.file.write(block)
            missing -= len(block)
        self.file.seek(0)
        return most - missing


def read_sent_file(environ: Mapping[str, Any], family: str, limit: int) -> SentFile:
    """Return the file of a request, which has a type such as `image/png` of the family `image`, or is a form.

    Raises `UnsupportedMediaType`, `TooLarge`, and `Malformed` for an incomplete body and for a form without one file.
    """
    encoding = environ.get("HTTP_CONTENT_ENCODING", "identity")
    if encoding.strip().lower() != "identity":
        raise UnsupportedMediaType("Content-Encoding is not supported. Send the body uncompressed.")
    content_type = environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    if content_type != FORM and not content_type.startswith(f"{family}/"):
        raise UnsupportedMediaType(f"Send the file as the body with a type like {family}/png, or in a form ({FORM}).")
    if content_type != FORM:
        name = read_file_name(environ.get("HTTP_CONTENT_DISPOSITION", ""))
        file = spool(environ, limit, 0)
        return describe_file(file, name, limit)
    with spool(environ, limit, FORM_OVERHEAD) as body:
        name = take_file_name(body)
        file = read_form(environ, body)
        return describe_file(file, name, limit)


def spool(environ: Mapping[str, Any], limit: int, overhead: int) -> IO[bytes]:
    """Return the body as a file. `contentapi.server.complete_requests` has written a large one to a file already."""
    room = limit + overhead
    stream = environ["wsgi.input"]
    length = environ.get("CONTENT_LENGTH") or "0"
    expected = int(length) if length.isdecimal() and "HTTP_TRANSFER_ENCODING" not in environ else None
    if expected is not None and expected > room:
        raise build_size_error(limit)
    if isinstance(stream, SpooledBody):
        return stream.file
    with ExitStack() as opened:
        body = opened.enter_context(closing(SpooledBody()))
        size = copy_body(stream, body, room + 1 if expected is None else expected)
        if size > room:
            raise build_size_error(limit)
        if expected is not None and size < expected:
            raise Malformed(f"The body has {size} bytes, but Content-Length is {expected}.")
        opened.pop_all()
    return body.file


def copy_body(stream: Any, body: SpooledBody, most: int) -> int:
    """Copy at most some bytes of the body of a request. Raises `TooLarge`, `Malformed` and `Unavailable`."""
    try:
        return body.copy(stream, most)
    except UploadTooLarge as error:
        raise TooLarge(str(error), limit="size of a file") from None
    except ApiError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno == ENOSPC:  # of our temporary file
            raise Unavailable from error
        raise Malformed("The body could not be read completely.") from None


def describe_file(file: IO[bytes], name: str, limit: int) -> SentFile:
    """Return the file, measured. Raises `TooLarge`, and then closes it."""
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").digest()  # type: ignore[arg-type]  # any readable file
    size = file.tell()
    file.seek(0)
    if size > limit:
        file.close()
        raise build_size_error(limit)
    return SentFile(file, name, size, digest)


def build_size_error(limit: int) -> TooLarge:
    return TooLarge(EXCESS.format(limit=limit), limit="size of a file")


def read_file_name(disposition: str) -> str:
    """Return the name in a Content-Disposition: in UTF-8, in ISO-8859-1, or as RFC 8187 encodes it. It may be empty."""
    with suppress(UnicodeError):  # WSGI passes the bytes of a header as characters of ISO-8859-1
        disposition = disposition.encode("latin-1").decode()
    try:
        return str(parse_header_parameters(disposition)[1].get("filename", ""))
    except ValueError:
        return ""


def take_file_name(body: IO[bytes]) -> str:
    """Return the name of the file in a form, and make it plain there: Django's parser changes or refuses some names."""
    body.seek(0)
    found = DISPOSITION.search(body.read(FORM_OVERHEAD))
    if found is None:
        return ""
    body.seek(found.start(1))
    body.write(re.sub(rb"[^ -~]", b"_", found[1]))
    return read_file_name(found[1].decode("latin-1"))


def read_form(environ: Mapping[str, Any], body: IO[bytes]) -> IO[bytes]:
    """Return the only file of a form. Raises `Malformed`."""
    changes = {"CONTENT_LENGTH": str(body.seek(0, 2)), "wsgi.input": body, "REQUEST_METHOD": "POST"}
    body.seek(0)
    try:
        form = FORM + "; boundary=" + parse_header_parameters(environ["CONTENT_TYPE"])[1].get("boundary", "")
        request = WSGIRequest({**environ, **changes, "CONTENT_TYPE": form})
        request.upload_handlers = [TemporaryFileUploadHandler(request)]
        files = request.FILES
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - the parser has several
        raise Malformed(f"The form is malformed. {error}") from None
    found: list[IO[bytes]] = [file for _, sent in files.lists() for file in sent]
    if len(found) != 1:
        for file in found:
            file.close()
        raise Malformed(f"Send exactly one file in the form (got {len(found)}).")
    return found[0]
