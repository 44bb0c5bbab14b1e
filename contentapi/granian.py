"""The second way to serve: `python -m contentapi.granian` runs the same WSGI application under granian.

Its HTTP is written in Rust (figures of both are in `benchmarks/README.md`).
"""

import os
import socket
import time
from threading import Thread

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")
os.environ["CONTENTAPI_PROCESS"] = "server"

from django.conf import settings
from granian import Granian
from granian.constants import HTTPModes, Interfaces

IDLE_THREADS_STAY = 600  # seconds; a thread keeps its connection to the database


def main() -> None:
    """Serve until SIGINT or SIGTERM. What is wrong with the settings ends it before, with one message."""
    from contentapi import wsgi  # noqa: F401 - workers import it anew; here it only has to be sound

    if settings.EMBEDDED:
        from contentapi.embedded.base import SERVER

        SERVER.hold()  # for as long as this process lives
    address, _, port = settings.BIND.rpartition(":")
    server = Granian(
        "contentapi.wsgi:application",
        address=address.strip("[]"),
        port=int(port),
        interface=Interfaces.WSGI,
        http=HTTPModes.http1,
        websockets=False,
        workers=settings.ENVIRONMENT.web_concurrency,
        blocking_threads=settings.ENVIRONMENT.contentapi_threads,  # each with a connection of its own
        blocking_threads_idle_timeout=IDLE_THREADS_STAY,
        respawn_failed_workers=True,
        workers_kill_timeout=10,  # twice a statement's time; after a Ctrl-C in its terminal a worker may not end
    )
    if os.environ.get("CONTENTAPI_GREETING") == "on":
        server.on_startup(Thread(target=greet, args=(address.strip("[]"), int(port)), daemon=True).start)
    server.serve()


def greet(address: str, port: int) -> None:
    """Tell the person who ran `make run`, as soon as a worker takes connections."""
    from contentapi import demo

    for _ in range(600):
        try:
            socket.create_connection((address, port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            print(demo.greeting(), flush=True)  # noqa: T201 - it is for a person
            return


if __name__ == "__main__":
    main()
