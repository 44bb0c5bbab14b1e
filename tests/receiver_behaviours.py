"""What receivers of webhooks do with a request: respond well, fail, respond slowly, without end, or not by HTTP."""

import gzip
import socket
import struct
from collections.abc import Callable, Iterable
from itertools import chain, repeat

from tests.webhook_receivers import Behaviour, Exchange

CLOSED = b"Connection: close\r\n\r\n"
BLOCK = 65_536 * b"x"
LIMIT = 200_000_000  # bytes, after which an endless response ends, so that a wrong sender fails a test and no machine
PAUSE = 0.2  # seconds between the bytes of a slow response


def accept(exchange: Exchange) -> bool:
    """Respond 204, and keep the connection open."""
    exchange.send(b"HTTP/1.1 204 No Content\r\n\r\n")
    return True


def respond(status: int, *headers: str, body: bytes = b"") -> Behaviour:
    """Respond with a status, headers and a body, and keep the connection open."""
    lines = [f"HTTP/1.1 {status} Chosen", *headers, f"Content-Length: {len(body)}"]
    return send_and_keep("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)


def fail_one_in(number: int, otherwise: Behaviour = accept) -> Behaviour:
    """Respond 500 to one in `number` requests, beginning with the first."""
    fail = respond(500, body=b"Try again.")
    return lambda exchange: (otherwise if exchange.number % number else fail)(exchange)


def fail_if(condition: Callable[[Exchange], object], status: int = 503) -> Behaviour:
    """Respond with a status if a condition holds, and 204 otherwise."""
    fail = respond(status)
    return lambda exchange: (fail if condition(exchange) else accept)(exchange)


def delay(seconds: float, behave: Behaviour = accept) -> Behaviour:
    """Respond after some seconds."""

    def wait(exchange: Exchange) -> bool:
        exchange.pause(seconds)
        return behave(exchange)

    return wait


def hang(exchange: Exchange) -> bool:
    """Respond nothing until the receiver is closed."""
    exchange.pause(3600)
    return False


def send_slowly(start: bytes, then: bytes) -> Behaviour:
    """Send a beginning at once, and one byte of the rest each `PAUSE`, again and again."""

    def behave(exchange: Exchange) -> bool:
        exchange.send(start)
        for byte in chain.from_iterable(repeat(then)):
            exchange.send(bytes([byte]))
            exchange.pause(PAUSE)
        return False

    return behave


def send_without_end(start: bytes, then: bytes = BLOCK) -> Behaviour:
    """Send a beginning, and the rest again and again as fast as the sender reads it."""

    def behave(exchange: Exchange) -> bool:
        exchange.send(start)
        while exchange.receiver.sent < LIMIT:
            exchange.send(then)
        return False

    return behave


def send_and_close(*parts: bytes) -> Behaviour:
    """Send bytes, whatever they are, and close the connection."""

    def behave(exchange: Exchange) -> bool:
        for part in parts:
            exchange.send(part)
        return False

    return behave


def send_and_keep(content: bytes) -> Behaviour:
    """Send bytes, and keep the connection open."""

    def behave(exchange: Exchange) -> bool:
        exchange.send(content)
        return True

    return behave


def close_after(number: int) -> Behaviour:
    """Respond 204 as if the connection stayed open, and close it after `number` of its requests."""

    def behave(exchange: Exchange) -> bool:
        before = sum(each.connection == exchange.request.connection for each in exchange.receiver.received)
        accept(exchange)
        return before < number

    return behave


def reset(exchange: Exchange) -> bool:
    """Close the connection by RST, without a response."""
    exchange.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return False


def send_chunks(*sizes_and_data: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"".join(sizes_and_data)


def send_compressed_bomb(exchange: Exchange) -> bool:
    """Send a response of 10 kB that is 10 MB if it is unpacked."""
    body = gzip.compress(10_000_000 * b"\0", 9)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
    return send_and_close(head + body)(exchange)


OK = b"HTTP/1.1 200 OK\r\n"

# Responses that must not keep a sender longer than 15 s, nor take its memory.
SLOW: dict[str, Behaviour] = {
    "no response": hang,
    "a status line byte by byte": send_slowly(b"", b"HTTP/1.1 200 OK"),
    "headers byte by byte": send_slowly(OK, b"X-Header: some value\r\n"),
    "a body byte by byte": send_slowly(OK + b"Content-Length: 100000\r\n\r\n", b"x"),
    "a body byte by byte without a length": send_slowly(OK + CLOSED, b"x"),
    "chunks byte by byte": send_slowly(send_chunks(), b"1\r\nx\r\n"),
    "a chunk size byte by byte": send_slowly(send_chunks(), b"0"),
    "100 Continue byte by byte": send_slowly(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
}
ENDLESS: dict[str, Behaviour] = {
    "a body without an end": send_without_end(OK + CLOSED),
    "a body of 9 exabytes": send_without_end(OK + b"Content-Length: 9000000000000000000\r\n\r\n"),
    "a chunk size of -1": send_without_end(send_chunks(b"-1\r\n")),
    "a chunk of 9 exabytes": send_without_end(send_chunks(b"7ce66c50e2840000\r\n")),
    "chunks without an end": send_without_end(send_chunks(), b"10000\r\n" + BLOCK + b"\r\n"),
    "a chunk size without an end": send_without_end(send_chunks(), 65_536 * b"0"),
    "a chunk extension without an end": send_without_end(send_chunks(b"1;a=")),
    "trailers without an end": send_without_end(send_chunks(b"0\r\n"), 1000 * b"X-Trailer: some value\r\n"),
    "a status line without an end": send_without_end(b"HTTP/1.1 200 "),
    "a header without an end": send_without_end(OK + b"X-Header: "),
    "headers without an end": send_without_end(OK, 1000 * b"X-Header: some value\r\n"),
    "100 Continue without an end": send_without_end(b"", 1000 * b"HTTP/1.1 100 Continue\r\n\r\n"),
    "103 Early Hints without an end": send_without_end(b"", 1000 * b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
}

# Responses that are a failed attempt, at once.
FAILING: dict[str, Behaviour] = {
    **{str(status): respond(status) for status in (400, 401, 404, 429, 500, 502, 599)},
    "closed without a response": send_and_close(),
    "reset": reset,
    "NUL in a header": respond(200, "X-Header: a\0b"),
    "half the headers": send_and_close(OK + b"X-Header: so"),
    "half a status line": send_and_close(b"HTTP/1.1 2"),
    "no HTTP": send_and_close(b"SSH-2.0-OpenSSH_9.9\r\n"),
    "NUL": send_and_close(1000 * b"\0"),
    "a status of two digits": send_and_close(b"HTTP/1.1 20 OK\r\n\r\n"),
    "a status of 2000": send_and_close(b"HTTP/1.1 2000 OK\r\n\r\n"),
    "a negative status": send_and_close(b"HTTP/1.1 -200 OK\r\n\r\n"),
    "101 Switching Protocols": send_and_close(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
    "100 Continue and nothing else": send_and_close(b"HTTP/1.1 100 Continue\r\n\r\n"),
}

# Responses that are a success, although something is odd about them.
ODD_SUCCESSES: dict[str, Behaviour] = {
    **{str(status): respond(status) for status in (200, 201, 202, 204, 299)},
    "NUL in the body": respond(200, body=b"a\0b"),
    "no UTF-8 in the body": respond(200, "Content-Type: text/plain; charset=utf-8", body=bytes(range(256))),
    "half a character at 4 KiB": respond(200, body=b"x" + 3000 * "€".encode()),
    "an unknown charset": respond(
        200, "Content-Type: text/plain; charset=\udcff".encode("latin-1", "replace").decode()
    ),
    "bytes in a header": respond(200, "X-Header: \xff\xfe"),
    "100 Continue before the response": send_and_close(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n"),
    "a compressed bomb": send_compressed_bomb,
    "a body of 1 MB": respond(200, body=1_000_000 * b"x"),
    "no reason": send_and_close(b"HTTP/1.1 204\r\n\r\n"),
    "103 Early Hints before the response": send_and_close(b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No\r\n\r\n"),
    "204 with a body": respond(204, body=b"It has a body."),
    "bytes after the response": send_and_keep(OK + b"Content-Length: 1\r\n\r\nxHTTP/1.1 500 Stray\r\n\r\n"),
    "HTTP/1.0": send_and_close(b"HTTP/1.0 200 OK\r\n\r\nx"),
}
REDIRECTS = (300, 301, 302, 303, 304, 305, 307, 308)

# Values of Retry-After with the seconds that they mean; None is no value that anybody could respect.
RETRY_AFTER: dict[str, int | None] = {
    "7": 7,
    "007": 7,
    "0": 0,
    "-5": None,
    "1.5": None,
    "": None,
    "soon": None,
    "\xb2": None,  # a superscript two, which is a digit for `str.isdigit`
    "7, 9": None,
    "1e3": None,
    "Thu, 01 Jan 1970 00:00:00 GMT": 0,
    "Fri, 99 Foo 2026 99:99:99 GMT": None,
    "Fri, 31 Dec 99999 23:59:59 GMT": None,
    "9" * 400: 86_400,  # no more than a day
    "99999999999": 86_400,
}


def list_names(*groups: Iterable[str]) -> list[str]:
    return list(chain.from_iterable(groups))
