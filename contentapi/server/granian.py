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
from functools import partial
from multiprocessing.util import Finalize
from threading import Thread
from typing import Any
from wsgiref.types import WSGIApplication

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")
os.environ["CONTENTAPI_PROCESS"] = "server"

from django.conf import settings
from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings

from contentapi.conf import conf
from contentapi.conf.timeouts import derive_timeouts
from contentapi.health.start import report_database_state
from contentapi.monitoring.repeated import share_outage_log
from contentapi.monitoring.start import flush_figures, start_exporter, start_figures
from contentapi.monitoring.traces import start_tracing, stop_tracing
from contentapi.server import systemd

CONNECTIONS = 8192  # of a worker. Idle clients, and clients that stop in the headers, must not keep out others
HEADER_TIMEOUT = 5000  # milliseconds


class SkipThreadAdvice(logging.Filter):
    """Drops granian's advice against many threads. It applies to threads that all run Python at the same time."""

    def filter(self, record: logging.LogRecord) -> bool:
        return "Configuration allows spawning up to" not in record.getMessage()


LOGGING: dict[str, Any] = {
    "filters": {"thread_advice": {"()": SkipThreadAdvice}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "generic", "filters": ["thread_advice"]},
        "access": {"class": "logging.NullHandler"},
    },
}


def find_master() -> type[Any]:
    """Return the class of the master process. See `contentapi.server.granian_master`."""
    if sys.platform != "linux":
        return Granian
    from contentapi.server.granian_master import Master

    return Master


class Server(find_master()):  # type: ignore[misc]
    """Notifies systemd before its workers stop."""

    def shutdown(self, exit_code: int = 0) -> None:
        systemd.notify("STOPPING=1")
        super().shutdown(exit_code)


def main() -> None:
    """Serve until SIGINT or SIGTERM. An error in the settings stops the start with one message."""
    from contentapi import wsgi  # noqa: F401 - checks it once; workers import it again

    if settings.EMBEDDED:
        from contentapi.db.embedded.base import SERVER

        SERVER.acquire()  # for as long as this process lives
    share_outage_log()
    start_exporter(conf.environment.contentapi_metrics_bind)
    report_database_state()
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
        log_dictconfig=LOGGING,
        backlog=CONNECTIONS,
        backpressure=CONNECTIONS,
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_TIMEOUT),
        blocking_threads=conf.environment.contentapi_server_threads,
        respawn_failed_workers=True,
        workers_kill_timeout=round(derive_timeouts(conf.environment).shutdown),
    )
    if os.environ.get("CONTENTAPI_GREETING") == "on":
        server.on_startup(Thread(target=print_greeting, args=(address.strip("[]"), int(port)), daemon=True).start)
    server.on_startup(partial(systemd.start_notifications, address.strip("[]"), int(port)))
    server.serve()


def make_application() -> WSGIApplication:
    """Return the application. granian calls this in each worker, before the worker listens."""
    from contentapi.wsgi import application

    start_figures("server")
    start_tracing()
    # A worker is forked by multiprocessing, which ends it without the functions of `atexit`.
    for priority, function in enumerate((stop_tracing, flush_figures)):
        Finalize(None, function, exitpriority=priority)
    return application


def print_greeting(address: str, port: int) -> None:
    """Print the start-up message as soon as a worker accepts connections."""
    from contentapi import demo

    for _ in range(600):
        try:
            socket.create_connection((address, port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            print(demo.build_greeting(), flush=True)  # noqa: T201 - it is for a person
            return


if __name__ == "__main__":
    main()
