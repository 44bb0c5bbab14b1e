"""Responses to requests whose heads are known."""

import socket
import time
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from gunicorn.http import wsgi
from gunicorn.util import http_date, is_hoppish

SENT_TOGETHER = 64 * 1024  # bytes; to copy more than that would take longer than to send it by itself
BODILESS = ("1", "204", "304")  # how these statuses begin (RFC 9112, section 6.3)
MOST_NAMES = 100


class Response(wsgi.Response):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's response, quick where a list has the whole body. Its checks of headers are made once for their names;
    values are text in one line each time.
    """

    status: Any
    response_length: int | None
    headers_sent: bool

    def should_close(self) -> bool:
        """Say whether the connection ends with this answer: no request that is repeatable asks for it."""
        if self.response_length is None:
            return bool(super().should_close())
        return bool(self.must_close)

    def start_response(self, status: str, headers: Any, exc_info: Any = None) -> Any:
        if exc_info is not None or self.status is not None or status not in STATUSES or not self.has_taken(headers):
            return super().start_response(status, headers, exc_info)
        self.status, self.status_code = status, int(status[:3])
        return self.write

    def has_taken(self, headers: list[tuple[str, str]]) -> bool:
        names = tuple([name for name, _ in headers])
        if names not in KNOWN_NAMES:
            return False
        values = "".join([value for _, value in headers])
        if not values.isascii() or not values.isprintable():
            return False
        self.headers, self.response_length = headers, int(headers[KNOWN_NAMES[names]][1])
        return True

    def process_headers(self, headers: Any) -> None:
        super().process_headers(headers)
        names = tuple(name for name, _ in headers)
        status = str(self.status)
        has_length = "Content-Length" in names and sum(name.lower() == "content-length" for name in names) == 1
        is_plain = isinstance(headers, list) and not any(is_hoppish(name) for name in names)
        if has_length and is_plain and not status.startswith(BODILESS):
            if len(KNOWN_NAMES) < MOST_NAMES:
                KNOWN_NAMES[names] = names.index("Content-Length")
            if len(STATUSES) < MOST_NAMES:
                STATUSES.add(status)

    def write_all(self, items: Iterable[bytes]) -> None:
        body = items[0] if isinstance(items, list) and len(items) == 1 else None
        if not isinstance(body, bytes) or len(body) != self.response_length or self._omits_body or self.headers_sent:
            for item in items:
                self.write(item)
            self.close()
            return
        head = "".join([*self.default_headers(), *[f"{name}: {value}\r\n" for name, value in self.headers], "\r\n"])
        self.headers_sent, self.sent = True, len(body)
        if self.sent <= SENT_TOGETHER:
            self.sock.sendall(head.encode("latin-1") + body)
        else:
            self.sock.sendall(head.encode("latin-1"), socket.MSG_MORE)
            self.sock.sendall(body)

    def default_headers(self) -> list[str]:
        if self.chunked or self.upgrade:
            parts: list[str] = super().default_headers()
            return parts
        connection = "close" if self.should_close() else "keep-alive"
        now = date(int(time.time()))
        return [f"HTTP/1.1 {self.status}\r\nServer: {self.version}\r\nDate: {now}\r\nConnection: {connection}\r\n"]


STATUSES: set[str] = set()
KNOWN_NAMES: dict[tuple[str, ...], int] = {}


@lru_cache(2)
def date(second: int) -> str:
    text: str = http_date(second)
    return text
