"""The file of a request: the body, or the one file of a form."""

import hashlib
import io
from contextlib import closing
from errno import ENOSPC
from typing import Any

import pytest

from contentapi.core.errors import ApiError, Malformed, TooLarge, Unavailable, UnsupportedMediaType
from contentapi.http.body import UploadTooLarge
from contentapi.http.uploads import FORM_OVERHEAD, SpooledBody, read_sent_file

CONTENT = b"\xff\xd8\xff" + b"x" * 1000
FORM = "multipart/form-data; boundary=b"


def build_form(*names: str) -> bytes:
    part = '--b\r\nContent-Disposition: form-data; name="file"; filename="{}"\r\nContent-Type: image/jpeg\r\n\r\n'
    return b"".join(part.format(name).encode() + CONTENT + b"\r\n" for name in names) + b"--b--\r\n"


def send(header: str, encoding: str = "utf-8") -> str:
    """Return the bytes of a header as WSGI passes them."""
    return header.encode(encoding).decode("latin-1")


def read(content: bytes = CONTENT, *, limit: int = 2000, **changes: Any) -> Any:
    length = {"CONTENT_LENGTH": str(len(content)), "CONTENT_TYPE": "image/jpeg"}
    return read_sent_file({"wsgi.input": io.BytesIO(content), **length, **changes}, "image", limit)


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('attachment; filename="boat.jpg"', "boat.jpg"),
        ("inline; filename=boat.jpg", "boat.jpg"),
        ("attachment; filename*=UTF-8''b%C3%B6t.jpg", "böt.jpg"),
        ("attachment; filename=\"b_t.jpg\"; filename*=UTF-8''b%C3%B6t.jpg", "böt.jpg"),
        ("attachment; filename*=UTF-8''b%C3%B6t.jpg; filename=\"b_t.jpg\"", "böt.jpg"),
        ("attachment; filename*=iso-8859-1'en'b%F6t.jpg", "böt.jpg"),
        (send('attachment; filename="böt 日本.jpg"'), "böt 日本.jpg"),
        (send('attachment; filename="böt.jpg"', "latin-1"), "böt.jpg"),
        (send('attachment; filename="क्\u200dष.jpg"'), "क्\u200dष.jpg"),
        ('attachment; filename="b&ouml;t \\"1\\".jpg"', 'b&ouml;t "1".jpg'),
        ("attachment", ""),
        ("", ""),
    ],
)
def test_body_is_the_file(disposition: str, name: str) -> None:
    with closing(read(HTTP_CONTENT_DISPOSITION=disposition)) as sent:
        assert (sent.name, sent.size, sent.sha256) == (name, len(CONTENT), hashlib.sha256(CONTENT).digest())
        assert sent.file.read() == CONTENT


def test_name_of_a_form_may_be_in_latin_1() -> None:
    with closing(read(build_form("böt.jpg").replace("ö".encode(), b"\xf6"), CONTENT_TYPE=FORM)) as sent:
        assert (sent.name, sent.file.read()) == ("böt.jpg", CONTENT)


@pytest.mark.parametrize("name", ["boat.jpg", "böt 日本.jpg", "क्\u200dष.jpg", "b&ouml;t.jpg"])
def test_form_has_the_file(name: str) -> None:
    with closing(read(build_form(name), CONTENT_TYPE=FORM)) as sent:
        assert (sent.name, sent.file.read()) == (name, CONTENT)


def test_body_that_the_server_has_written_to_a_file_is_not_copied() -> None:
    body = SpooledBody()
    body.copy(io.BytesIO(CONTENT), len(CONTENT))

    changes: dict[str, Any] = {"wsgi.input": body}
    with closing(read(**changes)) as sent:
        assert sent.file is body.file


def test_chunked_body_is_read_to_its_end() -> None:
    with closing(read(CONTENT_LENGTH="", HTTP_TRANSFER_ENCODING="chunked")) as sent:
        assert sent.size == len(CONTENT)
    with pytest.raises(TooLarge):
        read(CONTENT_LENGTH="", HTTP_TRANSFER_ENCODING="chunked", limit=len(CONTENT) - 1)


class Refused:
    def read(self, _: int = -1) -> bytes:
        raise UploadTooLarge("You may not send a body of this size.")


class Broken:
    def __init__(self, error: Exception | None = None) -> None:
        self.error = error or OSError("reset by peer")

    def read(self, _: int = -1) -> bytes:
        raise self.error


@pytest.mark.parametrize(
    ("error", "content", "changes"),
    [
        (UnsupportedMediaType, CONTENT, {"CONTENT_TYPE": "application/json"}),
        (UnsupportedMediaType, CONTENT, {"CONTENT_TYPE": ""}),
        (UnsupportedMediaType, CONTENT, {"HTTP_CONTENT_ENCODING": "gzip"}),
        (TooLarge, CONTENT * 3, {}),
        (TooLarge, CONTENT, {"wsgi.input": Refused()}),
        (TooLarge, build_form("a.jpg"), {"CONTENT_TYPE": FORM, "limit": len(CONTENT) - 1}),
        (Malformed, CONTENT, {"CONTENT_LENGTH": "1100"}),
        (Malformed, CONTENT, {"wsgi.input": Broken()}),
        (Unavailable, CONTENT, {"wsgi.input": Broken(OSError(ENOSPC, "No space left on device"))}),
        (Unavailable, CONTENT, {"wsgi.input": Broken(Unavailable())}),
        (Malformed, build_form("a.jpg", "b.jpg"), {"CONTENT_TYPE": FORM}),
        (Malformed, build_form(), {"CONTENT_TYPE": FORM}),
        (Malformed, CONTENT, {"CONTENT_TYPE": "multipart/form-data"}),
        (Malformed, CONTENT, {"CONTENT_TYPE": "multipart/form-data; boundary*=nosuch''x"}),
    ],
)
def test_other_requests_are_refused(error: type[ApiError], content: bytes, changes: dict[str, Any]) -> None:
    with pytest.raises(error):
        read(content, **changes)


def test_limit_in_the_message_is_that_of_the_file_also_for_a_form() -> None:
    content = build_form("a.jpg") + b"x" * FORM_OVERHEAD

    with pytest.raises(TooLarge, match="At most 1,003 bytes are allowed"):
        read(content, CONTENT_TYPE=FORM, limit=len(CONTENT))
