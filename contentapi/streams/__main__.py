"""The process of streams: `python -m contentapi.streams` serves them at CONTENTAPI_STREAM_PORT.

It is one process with an event loop, in which granian's server calls the application. The server of the API does not
know it: if it falls, clients come back to the next one, and resume.
"""

import asyncio
import resource
import signal
import socket

from contentapi.wsgi import django_application  # the first import: it makes this process one that serves

# isort: split
from django.conf import settings
from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from contentapi.conf import conf
from contentapi.conf.timeouts import HEADER_TIMEOUT, LIFE_SIGN_INTERVAL, STREAM_WRITE_LIMIT
from contentapi.monitoring.start import flush_figures, start_figures
from contentapi.server import systemd
from contentapi.server.granian import build_logging, open_listener
from contentapi.server.master import start_master
from contentapi.streams.application import StreamApplication
from contentapi.streams.limits import FOR_PROCESS
from contentapi.streams.service import StreamService

CONNECTIONS = FOR_PROCESS + 1000  # the rest for requests that open streams, and for probes
SEND_BUFFER = 64 * 1024  # bytes of the kernel for each client. By itself, it grows to megabytes
HTTP_BUFFER = 32 * 1024  # bytes of granian for each client, and the most for the headers of a request


class StreamServer(Server):
    """granian's server in an event loop, with a listening socket whose options connections inherit.

    The kernel closes the connection of a client that does not read for as long as a write may wait.
    """

    def _init_shared_socket(self) -> None:
        listener = open_listener(self.bind_addr, self.bind_port, self.backlog, peer_timeout=STREAM_WRITE_LIMIT)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self._sso = listener
        self._ssp = None
        self._shd = SocketHolder(listener.fileno(), uds=False, backlog=self.backlog)  # type: ignore[call-arg,assignment]
        systemd.notify("READY=1")


def main() -> None:
    """Serve until SIGINT or SIGTERM."""
    start_master()
    start_figures("stream")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # each connection is a file
    try:
        asyncio.run(serve())
    finally:
        flush_figures()


async def serve() -> None:
    service = StreamService()
    limits = HTTP1Settings(header_read_timeout=1000 * HEADER_TIMEOUT, keep_alive=False, max_buffer_size=HTTP_BUFFER)
    server = StreamServer(
        StreamApplication(service, django_application),
        address=settings.BIND.rpartition(":")[0].strip("[]"),
        port=conf.environment.contentapi_stream_port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        websockets=False,
        backlog=CONNECTIONS,
        backpressure=CONNECTIONS,
        http1_settings=limits,
        log_dictconfig=build_logging("experimental"),
    )

    async def report_alive() -> None:  # a loop that hangs reports nothing
        systemd.notify("WATCHDOG=1")

    async def end() -> None:
        systemd.notify("STOPPING=1")
        await service.end()
        server.stop()  # type: ignore[no-untyped-call]

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, lambda: service.tasks.append(loop.create_task(end())))
    service.start()
    service.tasks.append(loop.create_task(service.repeat(LIFE_SIGN_INTERVAL, report_alive)))
    await server.serve()


if __name__ == "__main__":
    main()
