"""Read the body of a request from its WSGI environ, with a size limit, and decode it as JSON without duplicate keys."""

import codecs
import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from django.core.exceptions import RequestDataTooBig
from django.utils.http import parse_header_parameters

from contentapi.conf import conf
from contentapi.core.errors import Malformed, TooLarge, UnsupportedMediaType
from contentapi.core.text import count_byte

JSON = "application/json"
VALUE = msgspec.json.Decoder()
BACKSLASH = ord("\\")
WholeNumber = Annotated[float, msgspec.Meta(multiple_of=1)]  # also 300.0, which JSON Schema calls an integer
B = TypeVar("B")


class UploadTooLarge(RequestDataTooBig):
    """The body of an upload is above the limit of this caller. The message is for the person."""


def is_json(content_type: str, media_types: tuple[str, ...] = (JSON,)) -> bool:
    """Return whether a Content-Type is one of these media types, in UTF-8."""
    if content_type in media_types:
        return True
    try:
        media_type, parameters = parse_header_parameters(content_type)
    except ValueError:
        return False
    return media_type in media_types and parameters.get("charset", "utf-8").lower() in ("utf-8", "utf8")


def read_request_body(environ: Mapping[str, Any]) -> bytes:
    """Return the body, with a Content-Length or chunked, without a byte order mark (RFC 8259, section 8.1).

    Raises `UnsupportedMediaType` if it is compressed, `TooLarge` over CONTENTAPI_MAX_BODY, `Malformed` if it is cut.
    """
    encoding = environ.get("HTTP_CONTENT_ENCODING")
    if encoding is not None and encoding.strip().lower() != "identity":
        raise UnsupportedMediaType("Content-Encoding is not supported. Send the body uncompressed.")
    limit = conf.environment.contentapi_max_body
    is_chunked = "HTTP_TRANSFER_ENCODING" in environ and environ["HTTP_TRANSFER_ENCODING"].lower() == "chunked"
    content_length = environ.get("CONTENT_LENGTH") or "0"
    if not content_length.isdecimal():
        raise Malformed("Content-Length must be a whole number.")
    length = limit + 1 if is_chunked else int(content_length)
    try:
        content: bytes = environ["wsgi.input"].read(length) if is_chunked or length <= limit else b""
    except Exception:  # noqa: BLE001 - each server raises its own, for wrong chunks and for clients that hang up
        raise Malformed("The body could not be read completely.") from None
    if len(content) > limit or (length > limit and not is_chunked):
        message = f"The body is too large. At most {limit} bytes are allowed (CONTENTAPI_MAX_BODY)."
        raise TooLarge(message, limit="size of the body")
    if len(content) < length and not is_chunked:
        raise Malformed(f"The body has {len(content)} bytes, but Content-Length is {length}.")
    return content.removeprefix(codecs.BOM_UTF8)


def decode_json(content: bytes, decoder: msgspec.json.Decoder[B], name: str = "body") -> tuple[B, Any]:
    """Decode a body. Return the decoded object, and the plain value of the whole body with its ignored members.

    Raises `Malformed`, which calls the content `name`, with the position of the error. A duplicate key is an error: two
    readers might use different values.
    """
    try:
        value = VALUE.decode(content)
        if has_no_duplicate_keys(content, value):
            return msgspec.convert(value, decoder.type), value
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    # Decode again, slowly. Either this finds the position of the error, or the first attempt rejected too much: an
    # out-of-range number is allowed in a member that is ignored.
    try:
        text = content.decode()  # ignored members must be UTF-8 too
        return decoder.decode(text), loads_without_duplicates(text)
    except (msgspec.DecodeError, DuplicateKey, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(f"Invalid {name}: {get_decode_error_reason(error)}.") from None


def has_no_duplicate_keys(content: bytes, value: Any) -> bool:
    r"""Return True only if no object of a JSON text has a duplicate key. `value` is the text, decoded by msgspec.

    msgspec keeps the last of two equal keys. If the re-encoded value is the text, as it is for most clients, or has as
    many quotation marks, no key was dropped. A mark inside a string is one mark in both forms, `\"` and `\u0022`.
    Text that only looks like `\u0022` can make the result False without duplicates, but never True with them.
    """
    encoded = msgspec.json.encode(value)
    if encoded == content:
        return True
    marks = count_byte(content, b'"')
    if BACKSLASH in content:
        marks += content.count(b"\\u0022")
    return marks == count_byte(encoded, b'"')


def has_unicode_escapes(content: bytes) -> bool:
    r"""Return whether a JSON text may contain a `\uXXXX` escape. NUL and lone surrogates need one."""
    return BACKSLASH in content and b"\\u" in content


def loads_without_duplicates(text: str) -> Any:
    """Return the value of a JSON text. Raises `DuplicateKey`."""
    return json.loads(text, object_pairs_hook=build_object_without_duplicates, parse_int=str)


class DuplicateKey(Exception):
    """An object of a JSON text has two equal keys."""


def build_object_without_duplicates(members: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    decoded: dict[str, Any] = {}
    for name, value in members:
        if name in decoded:
            raise DuplicateKey(f"Object contains field `{name[:50]}` twice")
        decoded[name] = value
    return decoded


def get_decode_error_reason(error: Exception) -> str:
    """Return why a body cannot be decoded, for the client. msgspec's messages are suitable, Python's are not."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return f"it is not UTF-8 (byte {error.start})" if isinstance(error, UnicodeDecodeError) else str(error).rstrip(".")
