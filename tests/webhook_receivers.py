"""Receivers of webhooks: servers on a local port, which respond as a test says and keep what they have received.

`tests.receiver_behaviours` has the responses. They are written on the socket, so that they can be wrong in every way.
"""

from __future__ import annotations

import json
import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    import ssl

PATIENCE = 60.0  # seconds; the machine may be busy
HEAD_LIMIT = 65_536  # bytes of a request without its body


class Received(NamedTuple):
    """A request. The names of headers are in lower case; `time` is of `time.monotonic`, `connection` a number."""

    line: str
    headers: dict[str, str]
    body: bytes
    time: float
    connection: int

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def event(self) -> dict[str, Any]:
        decoded: dict[str, Any] = json.loads(self.body)
        return decoded


class Exchange(NamedTuple):
    """What a behaviour gets: the receiver, the socket, the request, and how many came before it."""

    receiver: Receiver
    socket: socket.socket
    request: Received
    number: int

    def send(self, content: bytes) -> None:
        """Send bytes. Raises `OSError` after the sender has closed the connection."""
        self.socket.sendall(content)
        with self.receiver.lock:
            self.receiver.sent += len(content)

    def pause(self, seconds: float) -> None:
        """Wait. Raises `ConnectionError` when the receiver is closed meanwhile."""
        if self.receiver.released.wait(seconds):
            raise ConnectionAbortedError("the receiver is closed")


Behaviour = Callable[[Exchange], bool]
"""Responds to a request. Returns whether the connection stays open for another one."""


class Receiver:
    """A receiver in the block of a `with` statement, with a thread for each connection.

    `sent` counts the bytes of all responses, `connections` those that were accepted, with and without a request.
    """

    def __init__(self, behave: Behaviour, *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> None:
        self.behave, self.tls, self.host = behave, tls, host
        self.received: list[Received] = []
        self.connections = self.sent = self.open = self.most_open = 0
        self.lock, self.released = Lock(), Event()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket = socket.create_server((host, 0), family=family, backlog=512)
        self.port: int = self.socket.getsockname()[1]

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}/hook"

    def __enter__(self) -> Self:
        Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        with suppress(OSError):  # ends the wait for the next connection
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def accept(self) -> None:
        while not self.released.is_set():
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
                number = self.connections
            Thread(target=self.serve, args=[connection, number], daemon=True).start()

    def serve(self, connection: socket.socket, number: int) -> None:
        with suppress(OSError):  # the sender has closed the connection
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.tls.wrap_socket(connection, server_side=True) if self.tls else connection as stream:
                buffer = bytearray()
                while (request := read_request(stream, buffer, number)) is not None and self.respond(stream, request):
                    pass

    def respond(self, stream: socket.socket, request: Received) -> bool:
        with self.lock:
            number = len(self.received)
            self.received.append(request)
            self.open += 1
            self.most_open = max(self.most_open, self.open)
        try:
            return self.behave(Exchange(self, stream, request, number))
        finally:
            with self.lock:
                self.open -= 1

    def wait_for(self, condition: Callable[[list[Received]], object], patience: float = PATIENCE) -> list[Received]:
        """Wait until a condition holds for the requests, and return them. Raises `AssertionError`."""
        deadline = time.monotonic() + patience
        while not condition(found := list(self.received)):
            types = Counter(each.event["type"] for each in found)
            assert time.monotonic() < deadline, f"{len(found)} requests in {patience} s: {types}"
            time.sleep(0.01)
        return found


def read_request(stream: socket.socket, buffer: bytearray, connection: int) -> Received | None:
    """Return the next request of a connection; None at its end. What follows the request stays in the buffer."""
    while (end := buffer.find(b"\r\n\r\n")) < 0:
        if len(buffer) > HEAD_LIMIT or not (more := stream.recv(65_536)):
            return None
        buffer += more
    line, *rest = buffer[:end].decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in rest)}
    size = end + 4 + int(headers["content-length"])
    while len(buffer) < size:
        if not (more := stream.recv(65_536)):
            return None
        buffer += more
    body = bytes(buffer[end + 4 : size])
    del buffer[:size]
    return Received(line, headers, body, time.monotonic(), connection)
