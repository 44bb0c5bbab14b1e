"""The body of a request, read from its WSGI environ."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec
from django.utils.http import parse_header_parameters

from contentapi.conf import conf
from contentapi.core.errors import Malformed, TooLarge, UnsupportedMediaType

JSON = "application/json"
VALUE = msgspec.json.Decoder()
BACKSLASH = ord("\\")
B = TypeVar("B")


def is_json(content_type: str, media_types: tuple[str, ...] = (JSON,)) -> bool:
    """Say whether a Content-Type is one of these media types, in UTF-8."""
    if content_type in media_types:
        return True
    try:
        media_type, parameters = parse_header_parameters(content_type)
    except ValueError:
        return False
    return media_type in media_types and parameters.get("charset", "utf-8").lower() in ("utf-8", "utf8")


def read_bytes(environ: Mapping[str, Any]) -> bytes:
    """Return the body, also one sent in chunks, whose length nobody has announced.

    Raises `UnsupportedMediaType` for a compressed one, `TooLarge` and `Malformed`.
    """
    if environ.get("HTTP_CONTENT_ENCODING", "identity").strip().lower() != "identity":
        raise UnsupportedMediaType("Send the body as it is, without a Content-Encoding.")
    most = conf.environment.contentapi_max_body
    chunked = environ.get("HTTP_TRANSFER_ENCODING", "").lower() == "chunked"
    announced = environ.get("CONTENT_LENGTH") or "0"
    if not announced.isdecimal():
        raise Malformed("Content-Length must be a whole number.")
    length = most + 1 if chunked else int(announced)
    try:
        content: bytes = environ["wsgi.input"].read(length) if chunked or length <= most else b""
    except Exception:  # noqa: BLE001 - each server has its own, for chunks that are none and for clients that hang up
        raise Malformed("The body cannot be read to its end.") from None
    if max(len(content), 0 if chunked else length) > most:
        raise TooLarge(f"The body is larger than the {most} bytes that are allowed (CONTENTAPI_MAX_BODY).")
    if not chunked and len(content) < length:
        raise Malformed(f"The body ends after {len(content)} of the {length} bytes that Content-Length announces.")
    return content


def decode_json(content: bytes, decoder: msgspec.json.Decoder[B]) -> tuple[B, Any]:
    """Decode a body. Returns it as the decoder makes it, and all of its members.

    Raises `Malformed`, naming the place. No member may stand twice: two readers might each heed another one.
    """
    try:
        whole = VALUE.decode(content)
        if has_no_duplicate_keys(content, whole):
            return msgspec.convert(whole, decoder.type), whole
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass  # below it is told in which place, or that only a part of no interest is wrong
    try:
        text = content.decode()  # what is ignored must be UTF-8 too
        return decoder.decode(text), loads_without_duplicates(text)
    except (msgspec.DecodeError, DuplicateKey, UnicodeDecodeError, RecursionError) as trouble:
        raise Malformed(f"The body is not what is expected: {decode_error_reason(trouble)}.") from None


def has_no_duplicate_keys(content: bytes, whole: Any) -> bool:
    """Say whether it is plain that no member of an object stands twice in a JSON text, of which `whole` is the value.

    msgspec keeps the last of two. Where it writes the value with as many quotation marks as the text has, none has been
    left out: a mark within a text is written with one, or by its number. What only looks like that number is counted,
    too, and can only make a text less plain.
    """
    marks = content.count(b'"')
    if BACKSLASH in content:
        marks += content.count(b"\\u0022")
    return marks == msgspec.json.encode(whole).count(b'"')


def has_unicode_escapes(content: bytes) -> bool:
    """Say whether a JSON text may write a character by its number: only so can it say what cannot be stored as text."""
    return BACKSLASH in content and b"\\u" in content


def loads_without_duplicates(text: str) -> Any:
    """Return the value of a JSON text in which no member of an object stands twice. Raises `Repeated`."""
    return json.loads(text, object_pairs_hook=object_without_duplicates, parse_int=str)


class DuplicateKey(Exception):
    """A member stands twice."""


def object_without_duplicates(members: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in members:
        if name in found:
            raise DuplicateKey(f"Object contains field `{name[:50]}` twice")
        found[name] = value
    return found


def decode_error_reason(trouble: Exception) -> str:
    """Say why a body cannot be decoded: msgspec's words are for clients, Python's are not."""
    match trouble:
        case RecursionError():
            return "it is nested too deeply"
        case UnicodeDecodeError():
            return f"it is not UTF-8 (byte {trouble.start})"
        case _:
            return str(trouble).rstrip(".")
