"""Send a request to a receiver by libcurl, and read the beginning of its response.

An attempt takes 15 seconds at most and keeps 4 KiB of the body, whatever the response claims about its length. No
redirect is followed, and nothing of the environment is used: no proxy, and no file with passwords. libcurl resolves no
names: each new connection goes to an address that `addresses` has resolved and allows.
"""

import os
import re
import socket
import ssl
from collections.abc import Mapping
from threading import Lock
from time import monotonic
from typing import NamedTuple

import pycurl

from contentapi.conf.timeouts import WEBHOOK_CONNECT_LIMIT, WEBHOOK_KEEP_ALIVE, WEBHOOK_LIMIT
from contentapi.events.webhooks.addresses import AddressRefused, Place, Target, resolve

MAX_HEADERS = 64 * 1024  # bytes
MAX_KEPT = 4 * 1024  # bytes of the body
MAX_UNUSED = 64  # connections
STATUS = re.compile(r"\S+ (101|[2-9]\d\d)\s")  # the others only announce a response (RFC 9110, section 15.2)
TIMED_OUT = "The receiver did not answer in time."
HEADERS = {"Content-Type": "application/json", "User-Agent": "content-api-webhooks/1", "Accept": "", "Expect": ""}
OPTIONS = {
    pycurl.NOSIGNAL: 1,
    pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
    pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_1_1,
    pycurl.FOLLOWLOCATION: 0,
    pycurl.PROXY: "",
    pycurl.NOPROXY: "*",
    pycurl.NETRC: pycurl.NETRC_IGNORED,
    pycurl.PATH_AS_IS: 1,
    pycurl.CONNECT_TO: ["::192.0.2.1:"],  # no name is resolved: `open_socket` connects
    pycurl.SOCKOPTFUNCTION: lambda *_: pycurl.SOCKOPT_ALREADY_CONNECTED,
    pycurl.MAXCONNECTS: 1,
    pycurl.MAXAGE_CONN: int(WEBHOOK_KEEP_ALIVE),
    pycurl.CONNECTTIMEOUT_MS: int(WEBHOOK_CONNECT_LIMIT * 1000),
    pycurl.POST: 1,
}
TLS_ERRORS = {pycurl.E_PEER_FAILED_VERIFICATION} | {
    code for name, code in vars(pycurl).items() if name.startswith("E_SSL_")
}
CONNECTION_ERRORS = (pycurl.E_SEND_ERROR, pycurl.E_RECV_ERROR, pycurl.E_GOT_NOTHING)


class ReceivedResponse(NamedTuple):
    """The result of an attempt. `status` is None without a response; `error` then says why."""

    status: int | None = None
    error: str = ""
    body: bytes = b""
    retry_after: str = ""


class Exchange:
    """A request: the callbacks that open its connection and read the response."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.end = monotonic() + WEBHOOK_CONNECT_LIMIT
        self.problem = ""  # for which there is no connection
        self.sockets: list[socket.socket] = []  # of which pycurl uses a duplicate
        self.size = 0  # of all headers
        self.announced: int | None = None  # by a status line whose headers have not ended
        self.status: int | None = None
        self.retry_after = ""
        self.body = b""

    def open_socket(self, *_: object) -> socket.socket | int:
        """Return a socket that is connected to an allowed address."""
        try:
            self.sockets.append(connect(self.target, self.end))
        except AddressRefused as error:
            self.problem = str(error)
        except OSError as error:
            is_late = isinstance(error, TimeoutError)
            self.problem = TIMED_OUT if is_late else describe_connection(error.errno, str(error))
        return int(pycurl.SOCKET_BAD) if self.problem else self.sockets[-1]

    def read_header(self, line: bytes) -> int:
        self.size += len(line)
        name, _, value = line.decode("latin-1").partition(":")
        if name.startswith("HTTP/"):
            found = STATUS.match(name)
            self.announced = int(found[1]) if found else None
        elif name.lower() == "retry-after":
            self.retry_after = value.strip()
        elif not line.strip():
            self.status = self.announced
        return len(line) if self.size <= MAX_HEADERS else -1

    def read_body(self, part: bytes) -> int:
        """Keep the beginning. The connection of a longer body is closed."""
        self.body += part[: MAX_KEPT + 1 - len(self.body)]
        return len(part) if len(self.body) <= MAX_KEPT else -1


class Connections:
    """Handles of libcurl, each with one connection, which is used again for the same address."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.unused: list[tuple[Target, pycurl.Curl]] = []

    def take(self, target: Target) -> pycurl.Curl:
        with self.lock:
            for index in range(len(self.unused) - 1, -1, -1):
                if self.unused[index][0] == target:
                    return self.unused.pop(index)[1]
        return create_handle()

    def give_back(self, target: Target, handle: pycurl.Curl) -> None:
        with self.lock:
            self.unused.append((target, handle))
            if len(self.unused) > MAX_UNUSED:
                self.unused.pop(0)[1].close()

    def close(self) -> None:
        with self.lock:
            for _, handle in self.unused:
                handle.close()
            self.unused.clear()


CONNECTIONS = Connections()


def connect(target: Target, end: float) -> socket.socket:
    """Return a connection to the first address that accepts one. Raises `AddressRefused` and `OSError`."""
    places = resolve(target, end - monotonic())
    while True:
        place = places.pop(0)
        try:
            return open_connection(place, (end - monotonic()) / (len(places) + 1))
        except OSError:
            if not places:
                raise


def open_connection(place: Place, seconds: float) -> socket.socket:
    family, address = place
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.settimeout(max(seconds, 0.001))  # 0 would not wait at all
        opened.connect(address)
    except OSError:
        opened.close()
        raise
    return opened


def create_handle() -> pycurl.Curl:
    handle = pycurl.Curl()
    for option, value in OPTIONS.items():
        handle.setopt(option, value)
    paths = ssl.get_default_verify_paths()  # those of Python: the wheel of pycurl brings no certificates
    for option, path in ((pycurl.CAINFO, paths.cafile), (pycurl.CAPATH, paths.capath)):
        if path is not None:
            handle.setopt(option, path)
    return handle


def send(target: Target, body: bytes, headers: Mapping[str, str]) -> ReceivedResponse:
    """Send a request. libcurl replaces a connection that the receiver has closed in between."""
    exchange, handle = Exchange(target), CONNECTIONS.take(target)
    for option, value in {
        pycurl.URL: target.url,
        pycurl.TIMEOUT_MS: int(WEBHOOK_LIMIT * 1000),
        pycurl.HTTPHEADER: [f"{name}: {value}" for name, value in {**HEADERS, **headers}.items()],
        pycurl.POSTFIELDS: body,
        pycurl.OPENSOCKETFUNCTION: exchange.open_socket,
        pycurl.HEADERFUNCTION: exchange.read_header,
        pycurl.WRITEFUNCTION: exchange.read_body,
    }.items():
        handle.setopt(option, value)
    error = perform(handle, exchange)
    handle.setopt(pycurl.POSTFIELDS, b"")  # an unused handle keeps no body
    CONNECTIONS.give_back(target, handle)
    if exchange.status is not None:  # it has answered: what the response lacks does not matter
        return ReceivedResponse(exchange.status, "", exchange.body[:MAX_KEPT], exchange.retry_after)
    return ReceivedResponse(error=error or "The response is not valid HTTP.")


def perform(handle: pycurl.Curl, exchange: Exchange) -> str:
    """Send the request. Return the error, if there is one."""
    try:
        handle.perform()
    except pycurl.error as error:
        return describe(exchange, handle, *error.args)
    finally:
        for opened in exchange.sockets:
            opened.close()
    return ""


def describe(exchange: Exchange, handle: pycurl.Curl, code: int, text: str) -> str:
    """Return the reason for the maker of the webhook."""
    if exchange.problem:
        return exchange.problem
    if exchange.size > MAX_HEADERS:
        return f"The response has more than {MAX_HEADERS} bytes of headers."
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return TIMED_OUT
    if code in TLS_ERRORS:
        return f"TLS failed: {text.removeprefix('SSL certificate problem: ')}"
    if code in CONNECTION_ERRORS:
        return describe_connection(handle.getinfo(pycurl.OS_ERRNO), text)
    return f"The response is not valid HTTP: {text}"


def describe_connection(number: int | None, text: str) -> str:
    return f"The connection failed: {os.strerror(number) if number else text}"
