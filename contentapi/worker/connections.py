"""Connections, and the requests on them.

How a request is to be read is gunicorn's say. But a client repeats the head of its requests, with another length of the
body at most: what gunicorn has made of a head is kept for as long as its connection. A request that is not of such a
head and its whole body is gunicorn's to read.
"""

import re
import select
import socket
from collections.abc import Mapping
from typing import Any, NamedTuple

from gunicorn.config import Config
from gunicorn.http import get_parser, wsgi
from gunicorn.http.message import Request
from gunicorn.workers.gthread import TConn

READ_AT_ONCE = 64 * 1024  # bytes
MOST_HEADS = 8  # of a connection: a client has few
LONGEST_HEAD = 8 * 1024  # bytes; longer ones are not kept
MOST_DIGITS = 9  # of a body's length
LENGTH = re.compile(rb"\r\n[Cc]ontent-[Ll]ength: ([0-9]{1,%d})\r\n" % MOST_DIGITS)
NOT_REPEATED = {"wsgi.input", "wsgi.early_hints"}  # they belong to one request


class Head(NamedTuple):
    """What gunicorn has made of the head of a request."""

    request: Request
    environ: Mapping[str, Any]


class Known(NamedTuple):
    """A request with a known head."""

    head: Head
    length: str
    body: bytes


class Connection(TConn):  # type: ignore[misc]  # gunicorn has no types
    """A connection, and the heads that were read on it, by what stands before and after the length of the body."""

    def __init__(self, cfg: Config, client: socket.socket, address: Any, server: Any) -> None:
        super().__init__(cfg, client, address, server)
        self.sock.settimeout(None)
        self.number = self.sock.fileno()
        self.parser = get_parser(cfg, self.sock, address)
        self.initialized = self.data_ready = True  # what gunicorn would do, and wait for, with a connection of its own
        self.heads: list[tuple[bytes, bytes, Head]] = []
        self.unknown: tuple[bytes, bytes] | None = None  # the head that is gunicorn's to read

    def has_read_ahead(self) -> bool:
        return bool(self.parser.unreader.buf.tell())

    def is_ready(self) -> bool:
        """Say whether a thread has something to do with it."""
        poll = select.poll()
        poll.register(self.number, select.POLLIN | (select.POLLOUT if self.has_read_ahead() else 0))
        return bool(poll.poll(0))

    def known_request(self) -> Known | None:
        """Return the next request; None where gunicorn has to read it. Raises `OSError`."""
        self.unknown = None
        if self.has_read_ahead():
            return None
        data = self.sock.recv(READ_AT_ONCE, socket.MSG_DONTWAIT)
        for before, after, head in self.heads:
            if data.startswith(before):
                start = len(before)
                place = data.find(b"\r", start, start + MOST_DIGITS + 1)
                length = data[start:place]
                if length.isdigit() and data.startswith(after, place):
                    body = data[place + len(after) :]
                    if len(body) == int(length):
                        return Known(head, length.decode(), body)
        self.unknown = around_length(data)
        self.parser.unreader.unread(data)
        return None

    def learn(self, request: Request) -> None:
        """Keep what gunicorn has made of a head, where nothing but the length of the body can differ the next time."""
        if self.unknown is None or sum(map(len, self.unknown)) > LONGEST_HEAD or not is_repeatable(request):
            return
        _, environ = wsgi.create(request, self.sock, self.client, self.server, self.cfg)
        environ["wsgi.multithread"] = True
        kept = {name: environ[name] for name in environ.keys() - NOT_REPEATED}
        self.heads = [(*self.unknown, Head(request, kept)), *self.heads[: MOST_HEADS - 1]]


def around_length(data: bytes) -> tuple[bytes, bytes] | None:
    """Return what stands in the head of one whole request before and after the length of its body."""
    end = data.find(b"\r\n\r\n") + 4
    found = LENGTH.search(data, 0, end)
    if found is None or end < 4 or len(data) - end != int(found[1]):
        return None
    return data[: found.start(1)], data[found.end(1) : end]


def is_repeatable(request: Request) -> bool:
    names = [name for name, _ in request.headers]
    return (
        request.version == (1, 1)
        and request.method in ("POST", "PUT", "PATCH", "DELETE", "GET")
        and names.count("CONTENT-LENGTH") == 1
        and not {"EXPECT", "UPGRADE", "TRANSFER-ENCODING"} & set(names)
        and not request.should_close()
    )
