"""gunicorn's threaded worker, whose threads wait for requests themselves.

gunicorn's own hands each request from its main thread to a pool, and each connection back, by a queue and a pipe, and
reads every head anew: together several times the work of a small request. Here each thread waits for whichever
connection is ready, answers its request, and lets it wait again; the main thread takes connections and ends idle ones.

How a request is to be read is gunicorn's say. But a client repeats the head of its requests, with another length of the
body at most: what gunicorn has made of a head is kept for as long as its connection. A request that is not of such a
head and its whole body goes gunicorn's way, and so do all failures.
"""

import errno
import os
import re
import select
import socket
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from io import BytesIO
from types import FrameType
from typing import Any, NamedTuple

from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.http import get_parser, wsgi
from gunicorn.http.message import Request
from gunicorn.util import http_date, is_hoppish
from gunicorn.workers.gthread import DEFAULT_WORKER_DATA_TIMEOUT, STOP_KEEPALIVE_LINGER, TConn, ThreadWorker

READ_AT_ONCE = 64 * 1024  # bytes
MOST_HEADS = 8  # of a connection: a client has few
LONGEST_HEAD = 8 * 1024  # bytes; longer ones are not kept
MOST_DIGITS = 9  # of a body's length
LENGTH = re.compile(rb"\r\n[Cc]ontent-[Ll]ength: ([0-9]{1,%d})\r\n" % MOST_DIGITS)
NOT_REPEATED = {"wsgi.input", "wsgi.early_hints"}  # they belong to one request
SENT_TOGETHER = 64 * 1024  # bytes; to copy more than that would take longer than to send it by itself
BODILESS = ("1", "204", "304")  # how these statuses begin (RFC 9112, section 6.3)
MOST_NAMES = 100
GONE = {errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN}
NO_MORE = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


class GracefulWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's gthread worker, made to end at Ctrl-C.

    gunicorn 27.0.1 shuts its thread pool down inside the handler of SIGINT and SIGQUIT. When the signal arrives
    while the main thread hands over a request, the handler waits for a lock of that very thread, and the master
    for 30 seconds. Ending as at SIGTERM takes no lock, and lets the requests that are running finish.
    """

    def handle_quit(self, sig: int, frame: FrameType | None) -> None:
        self.handle_exit(sig, frame)


class Worker(GracefulWorker):
    """The worker whose threads wait themselves, for what `is_for` says."""

    alive: bool
    nr: int

    def init_process(self) -> None:
        self.ready = select.epoll()
        self.over = os.eventfd(0, os.EFD_CLOEXEC)
        self.waiting: dict[int, Connection] = {}  # for a request, by their sockets; who takes one out of it has it
        self.looked_at = time.monotonic()  # when the main thread last ended idle ones
        self.keepalive: int = self.cfg.keepalive
        self.is_logged = self.log.access_log_enabled or type(self.log).access is not Logger.access
        self.count_connections(0)
        super().init_process()

    def run(self) -> None:
        self.ready.register(self.over, select.EPOLLIN)
        for _ in range(self.cfg.threads):
            self.tpool.submit(self.take_turns)
        try:
            super().run()
        finally:
            os.eventfd_write(self.over, 1)  # it stays readable, so that each thread sees it

    # What gunicorn's main thread calls

    def accept(self, listener: socket.socket) -> None:
        try:
            client, address = listener.accept()
        except OSError as trouble:  # it is gone already, or another worker has it
            if trouble.errno in NO_MORE:
                self.log.warning("A connection has to wait: %s", trouble)
                time.sleep(0.1)  # it stays ready: without this, the main thread would do nothing but ask
            return
        connection = Connection(self.cfg, client, address, listener.getsockname())
        self.count_connections(1)
        connection.timeout = time.monotonic() + max(self.keepalive, DEFAULT_WORKER_DATA_TIMEOUT)
        self.waiting[connection.number] = connection
        try:
            self.ready.register(connection.number, select.EPOLLIN | select.EPOLLONESHOT)
        except OSError as trouble:  # the system has no room for it, or a thread has ended it already
            self.log.warning("A connection cannot wait: %s", trouble)
            if self.waiting.pop(connection.number, None) is not None:
                self.end(connection)

    def murder_keepalived(self, force: bool = False) -> None:  # noqa: FBT001, FBT002 - gunicorn's
        now = time.monotonic()
        if now < self.looked_at + 1 and self.alive and not force:
            return
        self.looked_at = now
        for number, connection in self.waiting.copy().items():  # a copy is made in one step, a list is not
            if not force and connection.timeout > now:
                continue
            taken = self.waiting.pop(number, None)  # by now a thread may have it
            if taken is None:
                continue
            if force or (taken.timeout <= now and not taken.is_ready()):
                self.end(taken)
            else:  # it has been answered meanwhile, or all threads are busy
                self.wait_for_request(taken)

    def _cap_keepalive(self, deadline: float) -> None:
        for connection in self.waiting.copy().values():
            connection.timeout = min(connection.timeout, deadline)

    def count_connections(self, change: int) -> None:
        self.nr_conns += change
        self.may_keep = bool(self.keepalive) and self.nr_conns <= self.max_keepalived  # else others have no turn

    # What each thread does

    def take_turns(self) -> None:
        while True:
            for number, _ in self.ready.poll(maxevents=1):
                if number == self.over:
                    return
                connection = self.waiting.pop(number, None)
                if connection is not None:
                    try:
                        self.serve(connection)
                    except Exception:
                        self.log.exception("A connection is lost.")  # and this thread is not

    def serve(self, connection: "Connection") -> None:
        """Answer one request, and let its connection wait for the next."""
        keep = False
        try:
            known = connection.known_request()
            keep = self.answer(known, connection) if known else self.handle(connection)
        except BlockingIOError:  # it is another connection than the one that was ready, under the same number
            keep = True
        except OSError as trouble:
            self.log.debug("A client is gone: %s", trouble)
        except BaseException:  # SystemExit too would end this thread alone
            self.log.exception("A connection fails.")
        if keep:
            self.wait_for_request(connection)
        else:
            self.end(connection, graceful=True)

    def wait_for_request(self, connection: "Connection") -> None:
        linger = self.keepalive if self.alive else min(self.keepalive, STOP_KEEPALIVE_LINGER)
        connection.timeout = time.monotonic() + linger
        events = select.EPOLLIN | select.EPOLLONESHOT
        if connection.has_read_ahead():
            events |= select.EPOLLOUT  # at once, but after the others that are ready
        number = connection.number
        self.waiting[number] = connection
        try:
            self.ready.modify(number, events)
        except OSError:  # who took it out meanwhile has ended it
            self.log.debug("A connection was ended before it could wait.")

    def end(self, connection: "Connection", *, graceful: bool = False) -> None:
        with suppress(OSError):  # gunicorn has closed it where an answer broke off
            connection.close(graceful=graceful)
        self.method_queue.defer(self.count_connections, -1)

    def handle_request(self, req: Request, conn: "Connection") -> bool:
        if not self.may_keep:
            req.force_close()
        keep: bool = super().handle_request(req, conn)
        if keep:
            conn.learn(req)
        return keep

    def answer(self, known: "Known", connection: "Connection") -> bool:
        """Answer a request as `handle` does, hooks apart. Returns whether its connection may be kept."""
        head, length, body = known
        environ = {**head.environ, "CONTENT_LENGTH": length, "wsgi.input": BytesIO(body)}
        response = Response(head.request, connection.sock, self.cfg)
        started = datetime.now() if self.is_logged else None  # noqa: DTZ005 - gunicorn's log is given a difference
        self.nr += 1
        if self.nr >= self.max_requests and self.alive:
            self.log.info("Autorestarting worker after current request.")
            self.alive = False
        try:
            items = self.wsgi(environ, response.start_response)
            if not self.alive or not self.may_keep:
                response.force_close()
            try:
                response.write_all(items)
            finally:
                if started is not None:
                    self.log.access(response, head.request, environ, datetime.now() - started)  # noqa: DTZ005
                if hasattr(items, "close"):
                    items.close()
        except OSError as trouble:
            if trouble.errno not in GONE:
                self.log.exception("Socket error processing request.")
            return False
        except Exception as error:
            if response.headers_sent:
                self.log.exception("Error handling request")
            else:
                self.handle_error(head.request, connection.sock, connection.client, error)
            return False
        return not response.should_close()


def is_for(cfg: Config) -> bool:
    """Say whether a configuration is for `Worker`: on Linux, without TLS, HTTP/2 and the PROXY protocol."""
    is_plain = not cfg.is_ssl and "h2" not in cfg.http_protocols and cfg.proxy_protocol == "off"
    return is_plain and cfg.protocol == "http" and hasattr(select, "epoll")


class Head(NamedTuple):
    """What gunicorn has made of the head of a request."""

    request: Request
    environ: Mapping[str, Any]


class Known(NamedTuple):
    """A request with a known head."""

    head: Head
    length: str
    body: bytes


class Connection(TConn):  # type: ignore[misc]
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


class Response(wsgi.Response):  # type: ignore[misc]
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
