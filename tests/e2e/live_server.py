"""A server with its own database, started as a deployment starts it, and a load of counted requests."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Event, Thread
from typing import Self

import psutil

from tests.e2e.checkout import ROOT, free_port

PATIENCE = 60.0
GRANIAN = ["-m", "contentapi.server.granian"]
GUNICORN = ["-m", "gunicorn", "--config", "contentapi/server/gunicorn_conf.py", "contentapi.wsgi"]
COMMANDS = {"granian": GRANIAN, "gunicorn": GUNICORN}
BODY = b'{"query": "{ posts(limit: 2) { id title author { name } } }"}'
HEADERS = {"Content-Type": "application/json"}

# Code that Python runs at the start of each process of the server. A signal makes a worker hang in one of two ways.
FAULTS = """
import re, signal, sys

def hold_the_interpreter_lock(*_):
    re.match(r"(a+)+$", "a" * 60 + "b")

def take_all_slots(*_):
    slots = sys.modules["contentapi.server.worker"].WORKER.slots
    while not slots.are_exhausted:
        slots.take()

signal.signal(signal.SIGVTALRM, hold_the_interpreter_lock)
signal.signal(signal.SIGPROF, take_all_slots)
"""
HOLD_LOCK, TAKE_SLOTS = signal.SIGVTALRM, signal.SIGPROF

# Prevents all reads of posts, for some seconds.
LOCK_POSTS = """
import sys, time
import django
django.setup()
from django.db import connection, transaction
with transaction.atomic(), connection.cursor() as cursor:
    cursor.execute("LOCK TABLE blog_post IN ACCESS EXCLUSIVE MODE")
    print("locked", flush=True)
    time.sleep(float(sys.argv[1]))
"""


def wait_until(condition: Callable[[], object], what: str, patience: float = PATIENCE) -> float:
    """Wait until a condition holds. Return the number of seconds. Raises `AssertionError` after `patience` seconds."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < patience, f"{what} did not happen within {patience} s"
        time.sleep(0.02)
    return time.monotonic() - start


class Site:
    """A folder with an embedded database that has the demo content."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "faults").mkdir(parents=True)
        (folder / "faults/sitecustomize.py").write_text(FAULTS)
        for command in (["migrate", "--noinput"], ["load_demo"]):
            subprocess.run(
                [sys.executable, "manage.py", *command],
                cwd=ROOT,
                env=self.environment(),
                check=True,
                capture_output=True,
                timeout=2 * PATIENCE,
            )

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in ("DATABASE_URL", "PORT", "DJANGO_SETTINGS_MODULE") and "CONTENTAPI" not in name
        }
        return {
            **kept,
            "CONTENTAPI_VAR": str(self.folder / "var"),
            "CONTENTAPI_RATE_ANONYMOUS": "999999999/minute",
            "DJANGO_SETTINGS_MODULE": "contentapi.settings",
            "PYTHONPATH": str(self.folder / "faults"),
            **variables,
        }

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
        command = [sys.executable, "-c", LOCK_POSTS, str(seconds)]
        with subprocess.Popen(command, cwd=ROOT, env=self.environment(), stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            assert process.stdout.readline() == "locked\n"
            yield


class LiveServer:
    """The processes of one server. `kind` is granian or gunicorn."""

    def __init__(self, site: Site, kind: str, variables: dict[str, str]) -> None:
        self.port = int(variables.get("PORT", 0)) or free_port()
        self.count_of_workers = int(variables.get("WEB_CONCURRENCY", 1))
        self.log = site.folder / f"{kind}-{self.port}-{len([*site.folder.iterdir()])}.log"
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, *COMMANDS[kind]],
                cwd=ROOT,
                env=site.environment(**variables | {"PORT": str(self.port)}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def printed(self) -> str:
        return self.log.read_text(errors="replace")

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
        return len(self.workers) == self.count_of_workers and all(ignores_ctrl_c(pid) for pid in self.workers)

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
            if is_python(each):
                each.kill()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait(PATIENCE)


def ignores_ctrl_c(pid: int) -> bool:
    """Return whether a process ignores SIGINT, as each worker does once it is ready: proc_pid_status(5)."""
    status = Path(f"/proc/{pid}/status").read_text()
    ignored = re.search(r"^SigIgn:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return ignored is not None and bool(int(ignored[1], 16) & 1 << (signal.SIGINT - 1))


def is_python(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and "python" in Path(process.exe()).name
    except (psutil.Error, OSError):
        return False


@dataclass
class Results:
    """The responses of some requests."""

    statuses: dict[int, int] = field(default_factory=dict)  # numbers of responses
    failures: list[str] = field(default_factory=list)  # of requests without a response
    closed: int = 0  # connections that the server closed politely
    longest: float = 0.0  # seconds

    @property
    def total(self) -> int:
        return sum(self.statuses.values()) + len(self.failures)

    def add(self, other: "Results") -> None:
        for status, number in other.statuses.items():
            self.statuses[status] = self.statuses.get(status, 0) + number
        self.failures += other.failures
        self.closed += other.closed
        self.longest = max(self.longest, other.longest)


def send_requests(
    port: int, *, count: int = 0, stop: Event | None = None, keep_alive: bool = True, pause: float = 0.0
) -> Results:
    """Send requests one after the other, `count` of them or until `stop` is set, without any repetition."""
    results = Results()
    connection: HTTPConnection | None = None
    while results.total < count or (stop is not None and not stop.is_set()):
        connection = connection or HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        start = time.monotonic()
        try:
            connection.request("POST", "/graphql", BODY, HEADERS)
            response = connection.getresponse()
            response.read()
        except (OSError, HTTPException) as error:
            results.failures.append(f"{type(error).__name__}: {error}")
            connection.close()
            connection = None
            continue
        results.longest = max(results.longest, time.monotonic() - start)
        results.statuses[response.status] = results.statuses.get(response.status, 0) + 1
        if response.will_close or not keep_alive:
            results.closed += response.will_close
            connection.close()
            connection = None
        if pause:
            time.sleep(pause)
    if connection:
        connection.close()
    return results


@contextmanager
def load(port: int, *, clients: int = 6) -> Iterator[Results]:
    """Send requests from some clients, half of them with a new connection for each request, until the block ends."""
    stop, results, threads = Event(), Results(), []
    parts: list[Results] = []

    def run(number: int) -> None:
        parts.append(send_requests(port, stop=stop, keep_alive=number % 2 == 0, pause=0.002 if number < 4 else 0.3))

    for number in range(clients):
        threads.append(Thread(target=run, args=[number]))
        threads[-1].start()
    try:
        yield results
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)
        for part in parts:
            results.add(part)
