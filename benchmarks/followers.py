"""Clients of streams: one that follows a stream over all interruptions, as `EventSource` does, and a crowd."""

import json
import selectors
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from threading import Event, Thread
from typing import Any, NamedTuple

HOST = "127.0.0.1"
SILENCE = 40.0  # seconds without a byte, after which a follower connects again: two heartbeats are missing
RETRY = 0.2  # seconds between two attempts to connect
STREAMS_OF_ADDRESS = 10  # that a server allows
CHUNK = 65_536


class Received(NamedTuple):
    """An event of a stream. `time` is that of `time.monotonic`."""

    cursor: str
    event: Any
    time: float


class Follower(Thread):
    """Follows a stream, and connects again with the cursor of the last event. `events` has all that it received.

    `begin` is the first cursor, and `ends` has the times at which a stream ended. `refusals` has the statuses of the
    attempts that had no stream, and 0 for those without a response.
    """

    def __init__(self, port: int, path: str = "/events/stream", headers: Mapping[str, str] = {}) -> None:
        super().__init__(daemon=True)
        self.port, self.path, self.headers = port, path, dict(headers)
        self.events: list[Received] = []
        self.refusals: list[int] = []
        self.ends: list[float] = []
        self.bytes: list[bytes] = []
        self.opened, self.stopping = Event(), Event()
        self.begin = self.cursor = ""
        self.socket: socket.socket | None = None

    def run(self) -> None:
        while not self.stopping.is_set():
            with suppress(OSError, HTTPException):
                self.follow()
            self.stopping.wait(RETRY)

    def follow(self) -> None:
        """Read one response to its end."""
        connection = HTTPConnection(HOST, self.port, timeout=SILENCE)
        resumed = {"Last-Event-ID": self.cursor} if self.cursor else {}
        status = 0
        try:
            connection.request("GET", self.path, headers={"Accept": "text/event-stream", **self.headers, **resumed})
            self.socket = connection.sock
            response = connection.getresponse()
            status = response.status
            if status == 200:
                self.opened.set()
                self.read(response)
        finally:
            connection.close()
            if status == 200:
                self.ends.append(time.monotonic())
            else:
                self.refusals.append(status)

    def read(self, response: HTTPResponse) -> None:
        for cursor, data in read_messages(self.keep(response)):
            self.cursor = cursor or self.cursor
            self.begin = self.begin or cursor
            if data:
                self.events.append(Received(cursor, json.loads(data), time.monotonic()))

    def keep(self, response: HTTPResponse) -> Iterator[bytes]:
        while line := response.readline():
            self.bytes.append(line)
            yield line

    def wait_for(self, condition: Callable[["Follower"], object], seconds: float) -> bool:
        """Wait until a condition of what was received holds. Return whether it does."""
        deadline = time.monotonic() + seconds
        while not condition(self):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def stop(self) -> None:
        self.stopping.set()
        if self.socket is not None:
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)
        self.join()


def read_messages(lines: Iterator[bytes]) -> Iterator[tuple[str, str]]:
    """Yield the id and the data of each message of Server-Sent Events. A message that is cut off is dropped."""
    fields: dict[str, list[str]] = {}
    for line in lines:
        name, _, value = line.decode().rstrip("\r\n").partition(":")
        if name:
            fields.setdefault(name, []).append(value.removeprefix(" "))
        elif line in (b"\n", b"\r\n"):
            if "id" in fields or "data" in fields:
                yield "".join(fields.get("id", [])), "\n".join(fields.get("data", []))
            fields = {}


class Crowd:
    """Many streams without a credential, from many addresses of this host. `counts` has the events of each."""

    def __init__(self, port: int, count: int, *, network: int, buffer: int = 0) -> None:
        """Open the streams from 127.`network`.x.x. `buffer` is the size of the kernel's buffer, if not its default."""
        self.selector = selectors.DefaultSelector()
        self.counts: dict[socket.socket, int] = {}
        for number in range(count):
            high, low = divmod(number // STREAMS_OF_ADDRESS, 250)
            opened = open_stream(port, f"127.{network}.{high}.{low + 1}", buffer)
            self.counts[opened] = 0
            self.selector.register(opened, selectors.EVENT_READ, opened)

    def read(self, seconds: float) -> None:
        """Read what arrives within some seconds. Raises `RuntimeError` if a stream ends."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            for key, _ in self.selector.select(left):
                opened: socket.socket = key.data
                content = opened.recv(CHUNK)
                if not content:
                    raise RuntimeError("A stream has ended.")
                self.counts[opened] += content.count(b"\ndata:")

    def close(self) -> None:
        self.selector.close()
        for opened in self.counts:
            opened.close()


def open_stream(port: int, address: str, buffer: int = 0) -> socket.socket:
    """Open a stream from an address of this host. Return its connection when the response has begun.

    Raises `RuntimeError`.
    """
    opened = socket.socket()
    if buffer:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    opened.settimeout(SILENCE)
    opened.bind((address, 0))
    opened.connect((HOST, port))
    request = f"GET /events/stream HTTP/1.1\r\nHost: {HOST}:{port}\r\nAccept: text/event-stream\r\n\r\n"
    opened.sendall(request.encode())
    begin = opened.recv(64)
    if not begin.startswith(b"HTTP/1.1 200"):
        opened.close()
        raise RuntimeError(f"The server does not open a stream: {begin!r}")
    return opened
