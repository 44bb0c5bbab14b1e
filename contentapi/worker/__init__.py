"""gunicorn's threaded worker, whose threads wait for requests themselves.

gunicorn's own hands each request from its main thread to a pool, and each connection back, by a queue and a pipe, and
reads every head anew: together several times the work of a small request. Here each thread waits for whichever
connection is ready, answers its request, and lets it wait again; the main thread takes connections and ends idle ones.
What is read of a connection is in `connections`, what is sent in `responses`. All failures go gunicorn's way.
"""

import errno
import os
import select
import socket
import time
from contextlib import suppress
from datetime import datetime
from io import BytesIO
from types import FrameType

from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.http.message import Request
from gunicorn.workers.gthread import DEFAULT_WORKER_DATA_TIMEOUT, STOP_KEEPALIVE_LINGER, ThreadWorker

from contentapi.worker.connections import Connection, Known
from contentapi.worker.responses import Response

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

    def serve(self, connection: Connection) -> None:
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

    def wait_for_request(self, connection: Connection) -> None:
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

    def end(self, connection: Connection, *, graceful: bool = False) -> None:
        with suppress(OSError):  # gunicorn has closed it where an answer broke off
            connection.close(graceful=graceful)
        self.method_queue.defer(self.count_connections, -1)

    def handle_request(self, req: Request, conn: Connection) -> bool:
        if not self.may_keep:
            req.force_close()
        keep: bool = super().handle_request(req, conn)
        if keep:
            conn.learn(req)
        return keep

    def answer(self, known: Known, connection: Connection) -> bool:
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
