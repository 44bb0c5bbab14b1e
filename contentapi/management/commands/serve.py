import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from threading import Event, Thread
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from contentapi import demo
from contentapi.conf import conf
from contentapi.conf.timeouts import CHILD_INTERVAL, STREAM_RESTART_INTERVAL, STREAM_START_LIMIT, STREAM_STOP_LIMIT
from contentapi.db.statements import fetch_column
from contentapi.events.declarations import load_jobs
from contentapi.monitoring.start import start_exporter, start_figures
from contentapi.worker.runner import Worker

SERVERS = {
    "granian": [sys.executable, "-m", "contentapi.server.granian"],
    "gunicorn": [sys.executable, "-m", "gunicorn", "--config", "contentapi/server/gunicorn_conf.py", "contentapi.wsgi"],
}
TERMINATION_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Command(BaseCommand):
    help = (
        "Migrate the database, load the demo, serve on PORT, work in the background, and build the pages for "
        "developers. Deployments run the Procfile instead."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--server", choices=SERVERS, default="granian", help="the HTTP server (default: granian)")

    def handle(self, *, server: str, **_: Any) -> None:
        with exit_on_termination_signals():
            require_free_address()
            prepare_database()
        start_exporter(conf.environment.contentapi_metrics_bind)
        start_figures("worker")
        sys.exit(serve(SERVERS[server]))


@contextmanager
def exit_on_termination_signals() -> Iterator[None]:
    """Exit on SIGINT, SIGTERM or SIGHUP inside the block. `make` blocks these signals before; block them again after.

    The received signals are recorded, because the exception can get lost: Python drops an exception that is raised in a
    callback of the garbage collector, and before 3.12 wraps one that is raised while a class is created.
    """
    received: list[int] = []

    def end(number: int, _: object) -> None:
        received.append(number)
        sys.exit(128 + number)

    for each in TERMINATION_SIGNALS:
        signal.signal(each, end)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINATION_SIGNALS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, TERMINATION_SIGNALS)
        if received:
            sys.exit(128 + received[0])


def prepare_database() -> None:
    """Migrate the database and load the demo. Concurrent calls wait for each other."""
    while fetch_column("SELECT pg_try_advisory_lock(hashtext('contentapi.serve'))") != [True]:  # of this session
        time.sleep(0.2)  # pg_advisory_lock would wait with a snapshot, for which concurrent index builds wait
    call_command("migrate", verbosity=0, interactive=False)
    demo.load_demo()
    connection.close()  # releases the lock


def start_child(*command: str, **variables: str) -> "subprocess.Popen[bytes]":
    """Start a process beside this one. A Ctrl-C of the terminal does not reach it, only `end_child`."""
    return subprocess.Popen(
        command,
        cwd=settings.BASE_DIR,
        env={**os.environ, **variables},
        process_group=0,  # with its own processes
        preexec_fn=restore_default_signals,
    )


def end_child(child: "subprocess.Popen[bytes]", end: Callable[[int, int], None] = os.kill) -> None:
    """End a process, if it runs. A server ends its own processes; `os.killpg` also ends those of npm."""
    for send, number in ((end, signal.SIGTERM), (os.killpg, signal.SIGKILL)):
        if child.poll() is None:
            with suppress(ProcessLookupError):
                send(child.pid, number)
            with suppress(subprocess.TimeoutExpired):
                child.wait(2 * STREAM_STOP_LIMIT)


def serve(command: list[str]) -> int:
    """Run an HTTP server until it ends, and return its exit status. Call this with TERMINATION_SIGNALS blocked.

    This process continues to run, because it keeps the embedded PostgreSQL alive until the server has ended. It passes
    each termination signal on as SIGTERM. That includes SIGHUP from a closed terminal, on which a server would reload.
    """
    environment = conf.environment
    streams = environment.contentapi_stream_url or f"http://localhost:{environment.contentapi_stream_port}"
    server = start_child(*command, CONTENTAPI_STREAM_URL=streams)
    for each in TERMINATION_SIGNALS:
        signal.signal(each, lambda *_: server.terminate())
    Thread(target=print_greeting, args=[server], name="greeting", daemon=True).start()
    with building_pages(), serving_streams(), Worker(load_jobs()):  # their threads block the signals, too
        signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINATION_SIGNALS)
        status = server.wait()
    if status == -signal.SIGKILL:
        time.sleep(2)  # the workers need a second to notice, and use PostgreSQL until then
    return abs(status)


def print_greeting(server: "subprocess.Popen[bytes]") -> None:
    """Print the start-up message as soon as a worker responds."""
    host, _, port = settings.BIND.rpartition(":")
    while server.poll() is None:
        try:
            worker = HTTPConnection(host.strip("[]"), int(port), timeout=1)
            worker.request("GET", "/healthz")
            worker.getresponse()
        except OSError:
            time.sleep(CHILD_INTERVAL)
        else:
            print(demo.build_greeting(), flush=True)  # noqa: T201 - it is for a person
            return


@contextmanager
def serving_streams() -> Iterator[None]:
    """Run the process of streams beside the server, and start it again when it has ended."""
    stop = Event()
    thread = Thread(target=keep_streams_alive, args=[stop], name="streams", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def keep_streams_alive(stop: Event) -> None:
    """Run the process until the end. One that ends by itself at once, as without a free port, is not started again."""
    while not stop.is_set():
        began = time.monotonic()
        process = start_child(sys.executable, "-m", "contentapi.streams")
        while process.poll() is None and not stop.wait(CHILD_INTERVAL):
            pass
        if process.poll() is None:
            end_child(process)
        elif process.returncode > 0 and time.monotonic() - began < STREAM_START_LIMIT:
            return
        stop.wait(STREAM_RESTART_INTERVAL)


@contextmanager
def building_pages() -> Iterator[None]:
    """Build the explorer and the API reference beside the server, unless they are built. The end stops the build.

    The build yields to the server: a first request does not wait for it.
    """
    build = start_child("nice", sys.executable, "-m", "contentapi.frontend.build", "--if-possible")
    Thread(target=build.wait, name="pages", daemon=True).start()
    try:
        yield
    finally:
        end_child(build, os.killpg)


def restore_default_signals() -> None:
    """Restore the default signal handlers in the child process, before it runs the server.

    The child can receive a Ctrl-C before it leaves the terminal's process group. The parent handles that one; its
    handlers must not run in the child.
    """
    for each in TERMINATION_SIGNALS:
        signal.signal(each, signal.SIG_IGN)  # discards a pending signal
        signal.signal(each, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINATION_SIGNALS)


def require_free_address() -> None:
    host, _, port = settings.BIND.rpartition(":")
    try:
        family, kind, _, _, address = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise CommandError(
            f"Cannot listen on {settings.BIND}: {error.strerror}. "
            f"Choose another port: make run PORT={int(port) % 65535 + 1} (or another address: CONTENTAPI_BIND)"
        ) from None
