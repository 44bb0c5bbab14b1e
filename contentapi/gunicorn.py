"""gunicorn's settings: `gunicorn --config contentapi/gunicorn.py contentapi.wsgi`."""

import os
from types import FrameType
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")
os.environ["CONTENTAPI_PROCESS"] = "server"

from django.conf import settings
from gunicorn.workers.gthread import ThreadWorker

environment = settings.ENVIRONMENT


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's gthread worker, made to end at Ctrl-C.

    gunicorn 27.0.1 shuts its thread pool down inside the handler of SIGINT and SIGQUIT. When the signal arrives
    while the main thread hands over a request, the handler waits for a lock of that very thread, and the master
    for 30 seconds. Ending as at SIGTERM takes no lock, and lets the requests that are running finish.
    """

    def handle_quit(self, sig: int, frame: FrameType | None) -> None:
        self.handle_exit(sig, frame)


bind = settings.BIND
workers = environment.web_concurrency
worker_class = Worker
threads = environment.contentapi_threads  # each with a connection of its own
timeout = 30  # above the statement time-out: the database, not a signal, ends long work
graceful_timeout = 30
keepalive = 5
preload_app = True  # load once, then fork; what is wrong ends the master with one message
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108, PTH112
limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 8190
control_socket_disable = True


def on_starting(_: Any) -> None:
    """Hold the embedded PostgreSQL for as long as the master lives; the workers inherit the hold."""
    if settings.EMBEDDED:
        from contentapi.embedded.base import SERVER

        SERVER.hold()


def when_ready(_: Any) -> None:
    if os.environ.get("CONTENTAPI_GREETING") == "on":
        from contentapi import demo

        print(demo.greeting(), flush=True)  # noqa: T201 - for the person who ran `make run`
