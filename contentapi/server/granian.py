"""The server: `python -m contentapi.server.granian` runs the WSGI application under granian.

granian is an HTTP server written in Rust. It calls the application in a thread when a request's headers have arrived;
the thread then waits for the body. So there are many threads, and few of them have a database connection at a time
(`contentapi.server.complete_requests`).
"""

import logging
import os
import socket
import sys
import time
from contextlib import suppress
from functools import partial
from math import ceil
from multiprocessing.util import Finalize
from typing import Any
from wsgiref.types import WSGIApplication

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")
os.environ["CONTENTAPI_PROCESS"] = "server"

import psutil
from django.conf import settings
from granian import Granian
from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings

from contentapi.conf import conf
from contentapi.conf.timeouts import HEADER_TIMEOUT, LINGER, PEER_TIMEOUT, derive_timeouts
from contentapi.monitoring.start import flush_figures, start_figures
from contentapi.monitoring.traces import start_tracing, stop_tracing
from contentapi.server import systemd
from contentapi.server.ending import OrderlyEnd, obey_master
from contentapi.server.listen_queue import stop_accepting
from contentapi.server.master import start_master
from contentapi.server.watchdog import WATCHDOG, start_heartbeat
from contentapi.server.worker import WORKER

THREAD_ADVICE = "Configuration allows spawning up to"  # it applies to threads that all run Python at the same time
CONNECTIONS = 8192  # of a worker. Idle clients, and clients that stop in the headers, must not keep out others


class SkipNotice(logging.Filter):
    """Drops the lines of granian with a notice that does not apply here."""

    def filter(self, record: logging.LogRecord) -> bool:
        return self.name not in record.getMessage()


def build_logging(notice: str) -> dict[str, Any]:
    """Return the logging of a server, without granian's log of requests."""
    return {
        "filters": {"notice": {"()": SkipNotice, "name": notice}},
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": "generic", "filters": ["notice"]},
            "access": {"class": "logging.NullHandler"},
        },
    }


class Server(Granian):  # type: ignore[misc,valid-type]
    """granian's master with one listening socket for all workers, as granian itself has on systems other than Linux.

    With a socket for each worker, the kernel resets the connections in the queue of a worker that ends, and those in
    the queue of a worker that hangs are served by no other.
    """

    def _init_shared_socket(self) -> None:
        """Open the socket, which the workers inherit."""
        if sys.platform != "linux":
            super()._init_shared_socket()
            return
        listener = open_listener(self.bind_addr, self.bind_port, self.backlog)
        self._sso = WORKER.listener = listener
        self._ssp = None
        self._shd = SocketHolder(listener.fileno(), uds=False, backlog=self.backlog)  # type: ignore[call-arg]


def open_listener(host: str, port: int, backlog: int, *, peer_timeout: int = PEER_TIMEOUT) -> socket.socket:
    """Open a listening socket, whose options connections inherit. Exits with a message if this is not possible.

    The kernel closes the connections of clients that have vanished, or never read their response. Without this, a
    client that loses its network while it sends a body keeps a thread for ever. `peer_timeout` is in seconds.
    """
    try:
        address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(address[0], socket.SOCK_STREAM)
        # A server of the next release may listen on the same port before this one ends.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, PEER_TIMEOUT // 2)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, peer_timeout * 1000)
        listener.bind(address[4])
        listener.listen(backlog)
    except OSError as error:
        raise SystemExit(f"Cannot listen on {host}:{port}: {error.strerror}.") from None
    listener.setblocking(False)  # noqa: FBT003
    listener.set_inheritable(True)
    return listener


def main() -> None:
    """Serve until SIGINT or SIGTERM. An error in the settings stops the start with one message."""
    from contentapi import wsgi  # noqa: F401 - checks it once; workers import it again

    start_master()
    address, _, port = settings.BIND.rpartition(":")
    server = Server(
        "contentapi.server.granian:make_application",
        factory=True,
        address=address.strip("[]"),
        port=int(port),
        interface=Interfaces.WSGI,
        http=HTTPModes.http1,
        websockets=False,
        workers=conf.environment.web_concurrency,
        log_dictconfig=build_logging(THREAD_ADVICE),
        backlog=CONNECTIONS,
        backpressure=CONNECTIONS,
        http1_settings=HTTP1Settings(header_read_timeout=1000 * HEADER_TIMEOUT),
        blocking_threads=conf.environment.contentapi_server_threads,
        respawn_failed_workers=True,
        workers_kill_timeout=ceil(LINGER + derive_timeouts(conf.environment).shutdown),
    )
    WATCHDOG.start(on_ready=partial(note_ready_worker, server))
    server.on_startup(OrderlyEnd(lambda: [WORKER.listener] if WORKER.listener else []).install)
    server.serve()


def note_ready_worker(server: Server) -> None:
    """Let granian end only if a worker that was never ready ends soon after its start."""
    server.respawned_wrks.clear()
    systemd.notify("READY=1")


def make_application() -> WSGIApplication:
    """Return the application. granian calls this in each worker, before the worker listens."""
    obey_master(stop_accepting_connections)
    from contentapi.wsgi import application

    start_figures("server")
    start_tracing()
    # A worker is forked by multiprocessing, which ends it without the functions of `atexit`.
    for priority, function in enumerate((stop_tracing, flush_figures)):
        Finalize(None, function, exitpriority=priority)
    start_heartbeat()
    return application


def stop_accepting_connections() -> None:
    """Let other processes accept new connections, and wait until the clients have closed theirs.

    Each response says that its connection will be closed. granian closes idle connections when the worker ends.
    """
    if WORKER.listener is None:
        return
    port = WORKER.listener.getsockname()[1]
    stop_accepting(WORKER.listener)
    lingered = 0.0
    while lingered < LINGER and has_connections(port):
        time.sleep(LINGER / 10)
        lingered += LINGER / 10


def has_connections(port: int) -> bool:
    """Return whether this process has a connection that it accepted on a port."""
    with suppress(psutil.Error, OSError):
        found = psutil.Process().net_connections("tcp")
        return any(each.status == psutil.CONN_ESTABLISHED and each.laddr.port == port for each in found)
    return True


if __name__ == "__main__":
    main()
