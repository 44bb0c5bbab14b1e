"""Send a request to a receiver, and read the beginning of its response, within limits of time and of bytes.

An attempt takes 15 seconds at most, also if the receiver sends one byte a second, and reads `MAX_RECEIVED` bytes at
most, whatever the response claims about its length. Redirects are not followed, and the proxies of the environment are
not used. A connection goes to an address that `addresses` has checked, with the name of the URL in SNI and in `Host`,
and is used again for the same target.
"""

from __future__ import annotations

import io
import select
import socket
import ssl
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPResponse
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple

from contentapi.conf.timeouts import WEBHOOK_CONNECT_LIMIT, WEBHOOK_KEEP_ALIVE, WEBHOOK_LIMIT
from contentapi.events.webhooks.addresses import AddressRefused, Target, describe, resolve

MAX_RECEIVED = 64 * 1024  # bytes of a response, with its headers
MAX_KEPT = 4 * 1024  # bytes of its body
PIECE = 256  # bytes of the body that are read at once: if the rest never comes, those before are kept
SWITCHING_PROTOCOLS = 101
TLS = ssl.create_default_context()
TIMED_OUT = "The receiver did not answer in time."
USER_AGENT = "content-api-webhooks/1"


class ReceivedResponse(NamedTuple):
    """The result of an attempt. `status` is None without a response; `error` then says why."""

    status: int | None = None
    error: str = ""
    body: bytes = b""
    retry_after: str = ""


class Stopped(Exception):
    """A limit of an attempt is reached. The message is for the maker of the webhook."""


class LimitedReader(io.RawIOBase):
    """Reads from a socket until a time, and at most a number of bytes. Raises `Stopped`."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Return the number of bytes that were read; 0 at the end of the response."""
        link = self.link
        if link.room <= 0:
            raise Stopped(f"The response has more than {MAX_RECEIVED} bytes.")
        link.prepare()
        size = link.socket.recv_into(memoryview(buffer)[: link.room])
        link.room -= size
        return size


class Link:
    """A connection to a receiver, as the `sock` of `HTTPConnection`: with the limits of the present attempt."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.deadline = 0.0
        self.room = 0

    def begin(self, deadline: float) -> None:
        self.deadline, self.room = deadline, MAX_RECEIVED

    def prepare(self) -> None:
        """Give the next call of the socket the rest of the time. Raises `Stopped`."""
        rest = self.deadline - monotonic()
        if rest <= 0:
            raise Stopped(TIMED_OUT)
        self.socket.settimeout(rest)

    def sendall(self, content: bytes) -> None:
        rest = memoryview(content)
        while rest:
            self.prepare()
            rest = rest[self.socket.send(rest) :]

    def is_readable(self) -> bool:
        """Return whether the receiver has closed the connection, or sent what belongs to no request."""
        pending = self.socket.pending() if isinstance(self.socket, ssl.SSLSocket) else 0
        return bool(pending or select.select([self.socket], [], [], 0)[0])

    def makefile(self, _: str) -> io.BufferedReader:
        return io.BufferedReader(LimitedReader(self))

    def close(self) -> None:
        """Do nothing: `HTTPConnection` closes before the body is read. `end` closes."""

    def end(self) -> None:
        self.socket.close()


class FinalResponse(HTTPResponse):
    """The response after those that only announce it, such as 103 (RFC 9110, section 15.2)."""

    def begin(self) -> None:
        super().begin()
        while 100 <= self.status < 200 and self.status != SWITCHING_PROTOCOLS:
            self.headers = None  # type: ignore[assignment]  # `begin` reads once otherwise
            super().begin()


class Receiver:
    """The connection of one sending thread to a target: it is opened when it is needed."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.connection: HTTPConnection | None = None
        self.link: Link | None = None
        self.used_at = 0.0

    def send(self, body: bytes, headers: Mapping[str, str]) -> ReceivedResponse:
        """Send a request. A connection that the receiver has closed in between is replaced once. Raises nothing."""
        deadline = monotonic() + WEBHOOK_LIMIT
        if self.link is not None and (monotonic() > self.used_at + WEBHOOK_KEEP_ALIVE or self.link.is_readable()):
            self.close()
        try:
            was_used = self.connection is not None
            try:
                return self.exchange(body, headers, deadline)
            except (ConnectionError, HTTPException, ssl.SSLError):
                if not was_used or self.has_received:
                    raise
            self.close()
            return self.exchange(body, headers, deadline)
        except (AddressRefused, Stopped) as error:
            return ReceivedResponse(error=str(error))
        except TimeoutError:
            return ReceivedResponse(error=TIMED_OUT)
        except ssl.SSLError as error:
            return ReceivedResponse(
                error=f"TLS failed: {getattr(error, 'verify_message', '') or error.reason or 'error'}"
            )
        except OSError as error:
            return ReceivedResponse(error=f"The connection failed: {describe(error)}")
        except (HTTPException, ValueError) as error:
            return ReceivedResponse(error=f"The response is not valid HTTP: {type(error).__name__}")
        finally:
            if not self.is_reusable:
                self.close()

    has_received = False  # a byte of the present response
    is_reusable = False

    def exchange(self, body: bytes, headers: Mapping[str, str], deadline: float) -> ReceivedResponse:
        self.is_reusable = self.has_received = False
        if self.connection is None or self.link is None:
            self.link = Link(connect(self.target, min(deadline, monotonic() + WEBHOOK_CONNECT_LIMIT)))
            self.connection = HTTPConnection(self.target.host, self.target.port)
            self.connection.response_class = FinalResponse
            self.connection.auto_open = 0  # it never connects by itself, to an address that was not checked
        self.connection.sock = link = self.link
        link.begin(deadline)
        self.connection.putrequest("POST", self.target.path, skip_host=True, skip_accept_encoding=True)
        own = {"Host": self.target.authority, "Content-Type": "application/json", "User-Agent": USER_AGENT}
        for name, value in {**own, "Content-Length": str(len(body)), **headers}.items():
            self.connection.putheader(name, value)
        self.connection.endheaders(body)
        try:
            response = self.connection.getresponse()
            return self.read(response)
        finally:
            self.has_received = link.room < MAX_RECEIVED

    def read(self, response: HTTPResponse) -> ReceivedResponse:
        """Return the status and the beginning of the body. A connection with a longer body is not used again."""
        kept, part = b"", b"-"
        try:
            while part and len(kept) < MAX_KEPT:
                part = response.read(PIECE)
                kept += part
            is_complete = not part or not response.read(1)
        except (Stopped, HTTPException, ValueError, OSError):
            is_complete = False  # it has answered: what the body lacks does not matter
        self.is_reusable = is_complete and not response.will_close
        self.used_at = monotonic()
        return ReceivedResponse(response.status, "", kept[:MAX_KEPT], response.headers.get("Retry-After", ""))

    def close(self) -> None:
        if self.link is not None:
            self.link.end()
        self.connection = self.link = None


def connect(target: Target, deadline: float) -> socket.socket:
    """Return a socket that is connected to one of the addresses of a target. Raises `AddressRefused` and `OSError`."""
    places = resolve_in_time(target, deadline)
    failure: OSError = TimeoutError()
    for place in places:
        rest = deadline - monotonic()
        if rest <= 0:
            break
        try:
            connected = socket.create_connection(place, timeout=rest)
        except OSError as error:
            failure = error
            continue
        return prepare(connected, target, deadline)
    raise failure


def resolve_in_time(target: Target, deadline: float) -> Sequence[tuple[str, int]]:
    """Resolve a target in another thread: `getaddrinfo` has no time limit. Raises `AddressRefused` and `Stopped`."""
    answers: SimpleQueue[Sequence[tuple[str, int]] | AddressRefused] = SimpleQueue()

    def answer() -> None:
        try:
            answers.put(resolve(target))
        except AddressRefused as error:
            answers.put(error)

    Thread(target=answer, name="webhook resolver", daemon=True).start()
    try:
        answer_or_error = answers.get(timeout=max(0.0, deadline - monotonic()))
    except Empty:
        raise Stopped("The name could not be resolved in time.") from None
    if isinstance(answer_or_error, AddressRefused):
        raise answer_or_error
    return answer_or_error


def prepare(connected: socket.socket, target: Target, deadline: float) -> socket.socket:
    """Return the socket for HTTP, with TLS for https. Raises `OSError`."""
    try:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if target.scheme == "https":
            connected.settimeout(max(0.001, deadline - monotonic()))
            connected = TLS.wrap_socket(connected, server_hostname=target.host.removesuffix("."))
    except OSError:
        connected.close()
        raise
    return connected
