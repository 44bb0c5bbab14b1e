"""A server with its own database, started as a deployment starts it."""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import Any, Self

import psutil
import psycopg

from contentapi.db.embedded.server import EmbeddedServer
from tests.deployment.ports import find_free_port
from tests.deployment.processes import COMMANDS, run_manage, start_process, wait_until
from tests.deployment.template import Template
from tests.e2e.http_client import HttpClient, HttpResponse
from tests.e2e.load import PATIENCE, send_requests

RATE = "999999999/minute"  # of anonymous callers

# Code that Python runs at the start of each process of the server. A signal makes a worker hang in one of two ways.
FAULTS = """
import re, signal, sys

def hold_the_interpreter_lock(*_):
    re.match(r"(a+)+$", "a" * 60 + "b")

def take_all_slots(*_):
    slots = sys.modules["contentapi.server.worker"].WORKER.slots
    while slots.unused:
        slots.enter()

signal.signal(signal.SIGVTALRM, hold_the_interpreter_lock)
signal.signal(signal.SIGPROF, take_all_slots)
"""
HOLD_LOCK, TAKE_SLOTS = signal.SIGVTALRM, signal.SIGPROF


class Site:
    """A folder with a copy of the database of the demo. Its PostgreSQL runs in the block of `run_site`."""

    def __init__(self, folder: Path, template: Template) -> None:
        self.folder = folder
        self.var = folder / "var"
        template.copy(self.var)
        (folder / "faults").mkdir()
        (folder / "faults/sitecustomize.py").write_text(FAULTS)
        self.key = template.key
        self.open()

    def open(self) -> None:
        self.postgres = EmbeddedServer(self.var / "postgres")
        self.socket_folder = self.postgres.acquire()

    def close(self) -> None:
        self.postgres.release()

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in ("DATABASE_URL", "PORT", "DJANGO_SETTINGS_MODULE") and "CONTENTAPI" not in name
        }
        if "CONTENTAPI_FAST_PATH" in os.environ:  # `make slow-path`
            kept["CONTENTAPI_FAST_PATH"] = os.environ["CONTENTAPI_FAST_PATH"]
        return {
            **kept,
            "CONTENTAPI_VAR": str(self.var),
            "CONTENTAPI_RATE_ANONYMOUS": RATE,
            "WEB_CONCURRENCY": "1",
            "DJANGO_SETTINGS_MODULE": "contentapi.settings",
            "PYTHONPATH": os.pathsep.join([str(self.folder / "faults"), kept.get("PYTHONPATH", "")]).rstrip(os.pathsep),
            **variables,
        }

    def manage(self, *arguments: str, given: str = "", **variables: str) -> str:
        """Run an operator's command, with `given` on its standard input. Return its standard output."""
        return run_manage(self.environment(**variables), *arguments, given=given)

    def manage_all(self, *commands: list[str], given: str = "") -> list[str]:
        """Run several commands in one process, whose start takes longer. Return the lines of their output."""
        code = f"from django.core.management import call_command\nfor each in {commands!r}: call_command(*each)"
        return self.manage("shell", "--verbosity", "0", "-c", code, given=given).splitlines()

    def connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(host=self.socket_folder, user="postgres", dbname="postgres")

    @contextmanager
    def serve(self, kind: str, **variables: str) -> Iterator["LiveServer"]:
        server = LiveServer(self, kind, variables)
        try:
            yield server.wait_until_ready()
        finally:
            server.kill()

    @contextmanager
    def locked_posts(self, seconds: float) -> Iterator[None]:
        """Prevent all reads of posts for some seconds."""
        with self.connect() as connection:
            connection.execute("LOCK TABLE blog_post IN ACCESS EXCLUSIVE MODE")
            release = Timer(seconds, connection.rollback)
            release.start()
            yield
            release.join()


@contextmanager
def run_site(folder: Path, template: Template) -> Iterator[Site]:
    site = Site(folder, template)
    try:
        yield site
    finally:
        site.close()


class LiveServer:
    """The processes of one server. `kind` is granian or gunicorn."""

    def __init__(self, site: Site, kind: str, variables: dict[str, str]) -> None:
        self.site = site
        self.port = int(variables.get("PORT", 0)) or find_free_port()
        self.count_of_workers = int(variables.get("WEB_CONCURRENCY", 1))
        self.log = site.folder / f"{kind}-{self.port}-{len([*site.folder.iterdir()])}.log"
        environment = site.environment(**variables | {"PORT": str(self.port)})
        self.process = start_process(COMMANDS[kind], self.log, environment)

    @property
    def address(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def printed(self) -> str:
        return self.log.read_text(errors="replace")

    def query(self, query: str, **headers: str) -> HttpResponse:
        """Send a query on a connection of its own. Names of headers are written with underscores."""
        return HttpClient(self.address).query(query, **headers)

    @property
    def workers(self) -> list[int]:
        """The process ids of the workers. PostgreSQL, which the master may start too, is not Python."""
        children = psutil.Process(self.process.pid).children()
        return sorted(each.pid for each in children if is_python(each))

    def wait_until_ready(self) -> Self:
        """Wait for the first response and all workers: gunicorn starts them one after the other."""

        def has_ended_or(condition: Callable[[], bool]) -> Callable[[], bool]:
            return lambda: self.process.poll() is not None or condition()

        try:
            wait_until(has_ended_or(self.try_request), "the first response")
            wait_until(has_ended_or(self.has_all_workers), "the start of all workers")
        except AssertionError as error:
            raise AssertionError(self.printed) from error
        assert self.process.poll() is None, self.printed
        return self

    def has_all_workers(self) -> bool:
        workers = self.workers
        return len(workers) == self.count_of_workers and all(obeys_master(pid) for pid in workers)

    def try_request(self) -> bool:
        return send_requests(self.port, count=1).failures == []

    def count(self, words: str) -> int:
        """Return how many lines of the log match a regular expression."""
        return len(re.findall(words, self.printed))

    def wait_for(self, words: str, times: int = 1, patience: float = PATIENCE) -> float:
        try:
            return wait_until(lambda: self.count(words) >= times, words, patience)
        except AssertionError as error:
            raise AssertionError(self.printed[-5000:]) from error

    def end(self, number: int = signal.SIGTERM) -> int:
        """Signal the master and wait for its end. Return the exit status."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        group = [*psutil.Process(self.process.pid).children(recursive=True)] if self.process.poll() is None else []
        for each in group:
            with suppress(psutil.NoSuchProcess):  # it has just ended
                if is_python(each):
                    each.kill()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait(PATIENCE)


def obeys_master(pid: int) -> bool:
    """Return whether a process blocks SIGTERM and waits for it, as each worker does once it is ready."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # it has just ended
        return False
    blocked = re.search(r"^SigBlk:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return blocked is not None and bool(int(blocked[1], 16) & 1 << (signal.SIGTERM - 1))


def is_python(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and "python" in Path(process.exe()).name
    except (psutil.Error, OSError):
        return False
