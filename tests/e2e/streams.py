"""The process of streams of a site, with a worker, and clients that read its bytes."""

import json
import re
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import psycopg
from psycopg.rows import scalar_row

from tests.deployment.live_server import Site
from tests.deployment.ports import find_free_port
from tests.deployment.processes import COMMANDS, run_process, start_process, wait_until
from tests.e2e.load import PATIENCE

STREAM = "text/event-stream"
EVENTS = 'subscription ($from: String) { events(after: $from, types: ["author.*"]) { cursor type } }'


NEW_AUTHOR = """
    INSERT INTO blog_author (name, bio, avatar_url, email, created_at) VALUES ('A', %s, '', '', now())
"""


class StreamProcess:
    """The process. It listens when `start` returns."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.port = find_free_port()
        self.log = site.folder / "streams.log"
        self.clients: list[StreamClient] = []
        self.start()

    def start(self) -> None:
        environment = self.site.environment(CONTENTAPI_STREAM_PORT=str(self.port))
        self.process = start_process(COMMANDS["stream"], self.log, environment)
        wait_until(self.is_ready, "the start of the streams")

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            with StreamClient(self.port, "GET", "/readyz") as client:
                return client.read_until(rb"\r\n\r\n").startswith(b"HTTP/1.1 200")
        except OSError:
            return False

    def follow(self, query: str = "", **headers: str) -> "StreamClient":
        """Open a stream of REST. Names of headers are written with underscores."""
        client = self.open("GET", f"/events/stream?{query}", {"Accept": STREAM} | rename(headers))
        client.read_until(rb"id: \S+\n\n")
        return client

    def subscribe(self, query: str = EVENTS, *, accept: str = STREAM, **variables: Any) -> "StreamClient":
        body = json.dumps({"query": query, "variables": {"from": None, **variables}}).encode()
        client = self.open("POST", "/graphql", {"Accept": accept, "Content-Type": "application/json"}, body)
        client.read_until(rb"\r\n\r\n.+")
        return client

    def open(self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b"") -> "StreamClient":
        """Send a request. Its connection is closed at the end of the test."""
        self.clients.append(StreamClient(self.port, method, path, headers, body))
        return self.clients[-1]

    def close_clients(self) -> None:
        for client in self.clients:
            client.socket.close()
        self.clients.clear()

    def stop(self) -> None:
        self.close_clients()
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(PATIENCE)


class StreamClient:
    """A connection that has sent a request. `raw` has all bytes so far, with the sizes of chunks."""

    def __init__(
        self, port: int, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b""
    ) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        given = {"Host": "localhost", **(headers or {})}
        if method == "POST":
            given.setdefault("Content-Length", str(len(body)))
        lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        self.raw = b""
        self.has_ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def read_part(self) -> None:
        part = self.socket.recv(65536)
        self.raw += part
        self.has_ended = self.has_ended or not part

    def read_until(self, pattern: bytes, times: int = 1) -> bytes:
        """Read until a pattern was received so often. Return everything.

        Raises `AssertionError` at the end, or if only keep-alives come for `PATIENCE`.
        """
        deadline = time.monotonic() + PATIENCE
        while len(re.findall(pattern, self.raw, re.DOTALL)) < times:
            assert not self.has_ended, self.raw
            assert time.monotonic() < deadline, self.raw
            self.read_part()
        return self.raw

    def read_to_end(self) -> float:
        """Read until the server ends the stream. Return the number of seconds."""
        start = time.monotonic()
        while not self.has_ended:
            self.read_part()
        return time.monotonic() - start

    @property
    def cursors(self) -> list[str]:
        """The cursors of the events in a stream of REST or GraphQL."""
        return [found.decode() for found in re.findall(rb"id: (\S+)\n(?:event: next\n)?data:", self.raw)]


@contextmanager
def run_worker(site: Site, variables: Mapping[str, str] = {}) -> Iterator[None]:
    """Run a worker, which moves events to the log."""
    port = find_free_port()
    environment = site.environment(**{**variables, "CONTENTAPI_METRICS_BIND": f"127.0.0.1:{port}"})
    with run_process(COMMANDS["worker"], site.folder / "worker.log", port, environment):
        yield


@contextmanager
def run_streams(site: Site) -> Iterator[StreamProcess]:
    """Run a worker, and the process of streams as an object that a test can kill and start again."""
    with run_worker(site):
        streams = StreamProcess(site)
        try:
            yield streams
        finally:
            streams.stop()


@contextmanager
def serve_streams(site: Site, variables: Mapping[str, str] = {}, port: int | None = None) -> Iterator[int]:
    """Run a worker and the process of streams. Yield the port of streams, a free one by default."""
    port = port or find_free_port()
    environment = site.environment(**{**variables, "CONTENTAPI_STREAM_PORT": str(port)})
    with run_worker(site, variables), run_process(COMMANDS["stream"], site.folder / "stream.log", port, environment):
        yield port


def make_authors(site: Site, number: int, bio: str = "") -> None:
    """Create authors, each in a transaction of its own, and wait until their events are in the log."""
    with site.connect() as connection:
        connection.autocommit = True
        for _ in range(number):
            connection.execute(NEW_AUTHOR, [bio])
        wait_until(lambda: not count_waiting(connection), "the move of the events to the log")


def count_waiting(connection: psycopg.Connection[Any]) -> int:
    with connection.cursor(row_factory=scalar_row) as cursor:
        return int(cursor.execute("SELECT count(*) FROM events_outbox").fetchone() or 0)


def list_cursors(site: Site) -> list[str]:
    """Return the cursors of the events of authors in the log."""
    with site.connect() as connection, connection.cursor(row_factory=scalar_row) as cursor:
        cursor.execute(
            "SELECT epoch || '-' || event.position FROM events_event AS event, events_log"
            " WHERE type LIKE 'author.%' ORDER BY event.position"
        )
        return cursor.fetchall()


def rename(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
