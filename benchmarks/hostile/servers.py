"""The servers under attack: granian and gunicorn as `make run` starts them, without a proxy or behind nginx."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.hostile.places import LOGS, WORK, server_environment
from tests.deployment.ports import find_free_port
from tests.deployment.processes import run_process
from tests.deployment.proxies import start_nginx

SERVERS = ("granian", "granian-nginx", "gunicorn", "gunicorn-nginx")


@contextmanager
def start_server(name: str) -> Iterator[int]:
    """Run a server of `SERVERS`, and yield the port that clients connect to."""
    program, _, proxy = name.partition("-")
    port = find_free_port()
    environment = server_environment() | {"PORT": str(port), "CONTENTAPI_TRUSTED_PROXIES": "1" if proxy else "0"}
    command = [sys.executable, "manage.py", "serve", "--server", program]
    with run_process(command, LOGS / f"{name}.log", port, environment):
        if proxy:
            with start_nginx(port, WORK / "nginx") as proxy_port:
                yield proxy_port
        else:
            yield port
