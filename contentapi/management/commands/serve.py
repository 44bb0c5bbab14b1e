"""Migrate, load the demo, and serve: what `make run` does once everything is installed."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from contentapi import demo

ONE_AT_A_TIME = "SELECT pg_advisory_lock(hashtext('contentapi.serve'))"
SERVERS = {
    "granian": [sys.executable, "-m", "contentapi.server.granian"],
    "gunicorn": [sys.executable, "-m", "gunicorn", "--config", "contentapi/server/gunicorn_conf.py", "contentapi.wsgi"],
}
TERMINATION_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Command(BaseCommand):
    help = "Migrate the database, load the demo, and serve on PORT. A deployment runs the Procfile instead."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--server", choices=SERVERS, default="granian", help="the HTTP server (default: granian)")

    def handle(self, *_: Any, server: str, **__: Any) -> None:
        with termination_signals():
            prepare()
        sys.exit(serve(SERVERS[server]))


@contextmanager
def termination_signals() -> Iterator[None]:
    """End at a signal that comes meanwhile, which `make` has held back until here; leave with them held back again.

    An exception alone would not do: Python drops one that is raised inside a callback of the garbage collector, and
    before 3.12 wraps one that is raised while a class is made.
    """
    came: list[int] = []

    def end(number: int, _: object) -> None:
        came.append(number)
        sys.exit(128 + number)

    for ending in TERMINATION_SIGNALS:
        signal.signal(ending, end)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINATION_SIGNALS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, TERMINATION_SIGNALS)
        if came:
            sys.exit(128 + came[0])


def prepare() -> None:
    require_free_address()
    with connection.cursor() as cursor:  # two at once: the second finds the work done
        cursor.execute(ONE_AT_A_TIME)
    call_command("migrate", verbosity=0, interactive=False)
    demo.load()
    demo.ensure_credentials()
    connection.close()  # and with it the lock


def serve(command: list[str]) -> int:
    """Run an HTTP server until it ends, and return its exit status. Called with ENDING held back.

    This process stays: it holds the embedded PostgreSQL from before the server starts until after it has ended. What
    would end it ends the server, by SIGTERM: also a terminal that is closed (SIGHUP), at which a server would reload.
    """
    server = subprocess.Popen(
        command,
        cwd=settings.BASE_DIR,
        env={**os.environ, "CONTENTAPI_GREETING": "on"},
        process_group=0,  # out of the terminal's reach: a Ctrl-C that also hits the workers can keep them from ending
        preexec_fn=restore_default_signals,
    )
    for ending in TERMINATION_SIGNALS:
        signal.signal(ending, lambda *_: server.terminate())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINATION_SIGNALS)
    status = server.wait()
    if status == -signal.SIGKILL:
        time.sleep(2)  # the workers notice within a second that the server was killed; until then they hold PostgreSQL
    return abs(status)


def restore_default_signals() -> None:
    """Let the server, which is about to be started by this process, be ended by signals, in its own way.

    A Ctrl-C may have met it before it left the terminal's process group. This process heeds that one; it must not run
    this process's handlers here.
    """
    for ending in TERMINATION_SIGNALS:
        signal.signal(ending, signal.SIG_IGN)  # which forgets one that is held back
        signal.signal(ending, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINATION_SIGNALS)


def require_free_address() -> None:
    host, _, port = settings.BIND.rpartition(":")
    try:
        family, kind, _, _, address = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as trouble:
        raise CommandError(
            f"Cannot listen on {settings.BIND}: {trouble.strerror}. "
            f"Choose another port: make run PORT={int(port) % 65535 + 1} (or another address: CONTENTAPI_BIND)"
        ) from None
