"""gunicorn's settings: `gunicorn --config contentapi/gunicorn.py contentapi.wsgi`."""

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")
os.environ["CONTENTAPI_PROCESS"] = "server"

from django.conf import settings

from contentapi.worker import GracefulWorker, Worker, is_for

environment = settings.ENVIRONMENT


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


def on_reload(server: Any) -> None:
    """Choose the worker that is for the configuration, which SIGHUP reads again."""
    if not is_for(server.cfg):
        server.worker_class = GracefulWorker


def on_starting(server: Any) -> None:
    """Hold the embedded PostgreSQL for as long as the master lives; the workers inherit the hold."""
    on_reload(server)
    if settings.EMBEDDED:
        from contentapi.embedded.base import SERVER

        SERVER.hold()


def when_ready(_: Any) -> None:
    if os.environ.get("CONTENTAPI_GREETING") == "on":
        from contentapi import demo

        print(demo.greeting(), flush=True)  # noqa: T201 - for the person who ran `make run`
