"""gunicorn's settings: `gunicorn --config contentapi/server/gunicorn_conf.py contentapi.wsgi`.

For platforms whose router buffers requests: a thread of gunicorn's waits while a client sends its request.
"""

import os
from math import ceil
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")
os.environ["CONTENTAPI_PROCESS"] = "server"
# Routers of platforms set this header, and gunicorn drops names with underscores (`header_map`).
os.environ["CONTENTAPI_FORWARDED_HEADER"] = (
    os.environ.get("CONTENTAPI_FORWARDED_HEADER", "").strip() or "X-Forwarded-For"
)

from django.conf import settings

from contentapi.conf import conf
from contentapi.conf.timeouts import derive_timeouts
from contentapi.monitoring.start import flush_figures, start_figures
from contentapi.monitoring.traces import start_tracing, stop_tracing
from contentapi.server import systemd
from contentapi.server.bodies import DRAIN_LIMIT
from contentapi.server.ending import OrderlyEnd, obey_master
from contentapi.server.master import start_master
from contentapi.server.watchdog import WATCHDOG, start_heartbeat

environment = conf.environment

bind = settings.BIND
workers = environment.web_concurrency
worker_class = "gthread"
threads = environment.contentapi_threads
timeout = 0  # the watchdog finds more, and does not kill healthy workers after the server was suspended
graceful_timeout = ceil(derive_timeouts(environment).shutdown)
keepalive = 5
preload_app = True  # load once, then fork; what is wrong ends the master with one message
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108, PTH112
limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 8190
control_socket_disable = True
# A client behind a local proxy could set these; CONTENTAPI_HTTPS and CONTENTAPI_TRUSTED_PROXIES decide here.
header_map = "drop"
forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}
forwarded_allow_ips = ""


def on_starting(_: Any) -> None:
    start_master()


def post_fork(_: Any, __: Any) -> None:
    obey_master()
    start_figures("server")
    start_tracing()


def worker_exit(_: Any, __: Any) -> None:
    flush_figures()
    stop_tracing()


def post_worker_init(_: Any) -> None:
    start_heartbeat()


def when_ready(arbiter: Any) -> None:
    """Watch the workers, which do not run yet, and handle the signals that end the server."""

    def find_listeners() -> list[Any]:
        """Return no socket that systemd keeps, or that the master of the next release uses (SIGUSR2)."""
        is_shared = arbiter.systemd or arbiter.reexec_pid or arbiter.master_pid
        return [] if is_shared else arbiter.LISTENERS

    WATCHDOG.start()
    OrderlyEnd(find_listeners).install()


def on_exit(_: Any) -> None:
    systemd.notify("STOPPING=1")  # if SIGTERM came before `when_ready`, too. gunicorn itself sends READY=1


def pre_request(_: Any, request: Any) -> None:
    """Close the connection after a request whose body may not be read to its end. The response says so."""
    headers = dict(request.headers)
    limit = DRAIN_LIMIT * environment.contentapi_max_body
    if "TRANSFER-ENCODING" in headers or int(headers.get("CONTENT-LENGTH", 0)) > limit:
        request.force_close()
