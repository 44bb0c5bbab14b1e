"""Unusual bodies on the wire, sent to gunicorn."""

import gzip
import json
import re
import socket
from typing import Any, NamedTuple

import pytest

from tests.deployment.checkout import Checkout, Run

pytestmark = [pytest.mark.servers, pytest.mark.thorough]

HELLO = b'{"query": "{ __typename }"}'
LONG = b'{"query": "{ __typename }", "more": "' + b"x" * 2**20 + b'"}'


class Case(NamedTuple):
    """The bytes after the request line, Host and Content-Type, and the expected status and code."""

    content: bytes
    status: int
    code: str = ""


def build_body_with_length(body: bytes, length: int | str | None = None, *headers: bytes) -> bytes:
    announced = str(len(body) if length is None else length).encode()
    return b"".join(
        [b"Content-Length: " + announced + b"\r\n", *(header + b"\r\n" for header in headers), b"\r\n", body]
    )


def build_chunked_body(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    parts = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"Transfer-Encoding: chunked\r\n\r\n" + parts + end


CASES = {
    "in chunks": Case(build_chunked_body(HELLO[:9], HELLO[9:]), 200),
    "in chunks with extensions and a trailer": Case(
        b"Transfer-Encoding: chunked\r\n\r\n%x;a=b\r\n%s\r\n0\r\nX-End: 1\r\n\r\n" % (len(HELLO), HELLO), 200
    ),
    "no chunk": Case(build_chunked_body(), 400, "BAD_REQUEST"),
    "chunks that are none": Case(build_chunked_body(end=b"zz\r\n" + HELLO + b"\r\n"), 400, "BAD_REQUEST"),
    "a chunk of a negative size": Case(
        build_chunked_body(end=b"-5\r\n" + HELLO + b"\r\n0\r\n\r\n"), 400, "BAD_REQUEST"
    ),
    "chunks that end in the middle": Case(build_chunked_body(HELLO[:9], end=b"ff\r\nabc"), 400, "BAD_REQUEST"),
    "chunks over the limit": Case(build_chunked_body(LONG), 413, "TOO_LARGE"),
    "neither a length nor chunks": Case(b"\r\n" + HELLO, 400, "BAD_REQUEST"),
    "a length too small": Case(build_body_with_length(HELLO, 5), 400, "BAD_REQUEST"),
    "a length too large": Case(build_body_with_length(HELLO, 500), 400, "BAD_REQUEST"),
    "a length over the limit, and no body": Case(build_body_with_length(b"", 10**12), 413, "TOO_LARGE"),
    "a body over the limit": Case(build_body_with_length(LONG), 413, "TOO_LARGE"),
    "a length that is no number": Case(build_body_with_length(HELLO, "many"), 400),
    "a negative length": Case(build_body_with_length(HELLO, "-5"), 400),
    "two lengths": Case(build_body_with_length(HELLO, None, b"Content-Length: 5"), 400),
    "a length and chunks": Case(build_body_with_length(HELLO, None, b"Transfer-Encoding: chunked"), 400),
    "compressed in chunks": Case(
        b"Content-Encoding: gzip\r\n" + build_chunked_body(gzip.compress(HELLO)), 415, "UNSUPPORTED_MEDIA_TYPE"
    ),
}


def send_body(run: Run, content: bytes) -> tuple[int, str]:
    """Send the bytes of a request and shut down the sending side. Return the status and body of the response."""
    with socket.create_connection(("127.0.0.1", int(run.port)), timeout=30) as connection:
        connection.sendall(b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n")
        connection.sendall(b"Content-Type: application/json\r\n" + content)
        connection.shutdown(socket.SHUT_WR)
        response = b""
        while part := connection.recv(65536):
            response += part
    head, _, body = response.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), body.decode()


def get_error_code(text: str) -> Any:
    """Return the code of the only error, or an empty text if gunicorn rejected invalid HTTP."""
    if text.startswith("<html>"):
        return ""
    [error] = json.loads(text).get("errors", [{"extensions": {"code": ""}}])
    return error["extensions"]["code"]


def test_every_body_gets_the_documented_status(checkout: Checkout) -> None:
    run = checkout.run("SERVER=gunicorn").wait_until_ready()

    responses = {case: send_body(run, expected.content) for case, expected in CASES.items()}

    assert {case: (status, get_error_code(text)) for case, (status, text) in responses.items()} == {
        case: (expected.status, expected.code) for case, expected in CASES.items()
    }
    assert not [text for _, text in responses.values() if re.search(r"Traceback|File \"|codec|\.py\b", text)]
    assert "Traceback" not in run.printed
