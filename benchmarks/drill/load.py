"""The clients: reads by GraphQL and REST, and writes with idempotency keys, each recorded.

A patient client repeats a refused or unanswered write with the same key after `Retry-After`, until it is acknowledged.
An impatient one sends a new write instead. So some writes have an unknown outcome: they may exist once or not at all.
"""

import json
import random
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from threading import Event, Lock, Thread
from typing import NamedTuple
from uuid import uuid4

TIMEOUT = 20  # seconds, after which a client gives up on a response
MAX_IDLE = 2.0  # seconds
PAUSE = 0.04  # seconds between two requests of a client
PATIENCE = 45  # seconds for the pending writes after the end of a fault
FIRST_STATUS_OF_SERVER_ERRORS = 500
QUERIES = (
    "{ posts(limit: 5) { id title author { name } commentCount } }",
    '{ post(id: "%s") { title comments(limit: 3) { body } } }',
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its outcome. `status` is 0 if there was no response. Times are of `time.monotonic`."""

    start: float
    seconds: float
    is_write: bool
    status: int
    retry_after: str | None = None
    note: str = ""
    refused_before: float | None = None  # the time of the refusal after which this request was repeated


@dataclass
class Journal:
    """What the clients saw. A marker is the title of a post or the body of a comment."""

    exchanges: list[Exchange] = field(default_factory=list)
    attempted: set[str] = field(default_factory=set)
    acknowledged: set[str] = field(default_factory=set)
    lock: Lock = field(default_factory=Lock)

    def add(self, exchange: Exchange) -> None:
        with self.lock:
            self.exchanges.append(exchange)


class Response(NamedTuple):
    """A response. The status is 0 if there is none, and the note says why."""

    status: int
    retry_after: str | None = None
    note: str = ""
    etag: str = ""
    body: bytes = b""


class Client:
    """A connection that is opened again after an error, and before the server closes it because it is idle."""

    def __init__(self, port: int, key: str) -> None:
        self.port, self.key = port, key
        self.connection: HTTPConnection | None = None
        self.used_at = 0.0

    def send(self, method: str, path: str, body: object = None, idempotency_key: str = "") -> Response:
        headers = {"Content-Type": "application/json", "X-API-Key": self.key}
        if idempotency_key:
            headers["Idempotency-Key"] = idempotency_key
        content = None if body is None else json.dumps(body)
        if time.monotonic() - self.used_at > MAX_IDLE:
            self.close()
        try:
            if self.connection is None:
                self.connection = HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
            self.connection.request(method, path, content, headers)
            response = self.connection.getresponse()
            text = response.read()
        except (OSError, HTTPException) as error:
            self.close()
            return Response(0, note=type(error).__name__)
        self.used_at = time.monotonic()
        if response.will_close:
            self.close()
        note = "" if response.status < FIRST_STATUS_OF_SERVER_ERRORS - 100 else text[:160].decode(errors="replace")
        return Response(response.status, response.headers["Retry-After"], note, response.headers["ETag"] or "", text)

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


class Load:
    """The threads of the clients."""

    def __init__(self, port: int, key: str, post_id: str, clients: int) -> None:
        self.port, self.key, self.post_id = port, key, post_id
        self.clients = clients
        self.journal = Journal()
        self.stopping = Event()
        self.threads: list[Thread] = []

    def start(self) -> None:
        self.journal, self.stopping = Journal(), Event()
        behaviours = [self.read, self.write_patiently, self.read, self.write_impatiently]
        self.threads = [
            Thread(target=behaviours[number % 4], args=(Client(self.port, self.key),), daemon=True)
            for number in range(self.clients)
        ]
        for thread in self.threads:
            thread.start()

    def stop(self) -> Journal:
        """Send no new requests, and wait until the pending writes are acknowledged."""
        self.stopping.set()
        deadline = time.monotonic() + PATIENCE
        for thread in self.threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return self.journal

    def exchange(
        self,
        client: Client,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str = "",
        refused_before: float | None = None,
    ) -> Exchange:
        start = time.monotonic()
        reply = client.send(method, path, body, key)
        seconds = time.monotonic() - start
        done = Exchange(start, seconds, bool(key), reply.status, reply.retry_after, reply.note, refused_before)
        self.journal.add(done)
        return done

    def read(self, client: Client) -> None:
        while not self.stopping.is_set():
            if random.random() < 0.6:
                query = random.choice(QUERIES).replace("%s", self.post_id)
                self.exchange(client, "POST", "/graphql", {"query": query})
            else:
                path = random.choice((f"/posts/{self.post_id}", "/posts?limit=5"))
                self.exchange(client, "GET", path)
            self.stopping.wait(PAUSE)
        client.close()

    def write_patiently(self, client: Client) -> None:
        while not self.stopping.is_set():
            path, body, marker = self.new_write()
            key, refused = str(uuid4()), None
            deadline = None
            while True:
                done = self.exchange(client, "POST", path, body, key=key, refused_before=refused)
                if self.accept(done, marker):
                    break
                if self.stopping.is_set():  # the pending write is repeated for a while longer
                    deadline = deadline or time.monotonic() + PATIENCE
                    if time.monotonic() > deadline:
                        break
                refused = done.start + done.seconds if done.retry_after else None
                time.sleep(float(done.retry_after or 0.5))
            self.stopping.wait(PAUSE)
        client.close()

    def write_impatiently(self, client: Client) -> None:
        while not self.stopping.is_set():
            path, body, marker = self.new_write()
            self.accept(self.exchange(client, "POST", path, body, key=str(uuid4())), marker)
            self.stopping.wait(3 * PAUSE)
        client.close()

    def new_write(self) -> tuple[str, dict[str, object], str]:
        """Return path, body and marker of a write."""
        marker = f"drill {uuid4()}"
        with self.journal.lock:
            self.journal.attempted.add(marker)
        if random.random() < 0.5:
            return "/posts", {"title": marker, "body": "Words of a drill.", "tags": ["drill"]}, marker
        return f"/posts/{self.post_id}/comments", {"body": marker}, marker

    def accept(self, done: Exchange, marker: str) -> bool:
        if done.status != 201:
            return False
        with self.journal.lock:
            self.journal.acknowledged.add(marker)
        return True
