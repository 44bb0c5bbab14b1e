"""Clients of two hosts with the API: writers with idempotency keys, which read their posts, and anonymous readers."""

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any

WRITERS, READERS = 4, 4
PAUSE = 0.02  # seconds between two requests of a client
RETRY = 0.1  # seconds between two attempts of a write
TIMEOUT = 15  # seconds for a response
CREATED, OK, NOT_FOUND = 201, 200, 404


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request to a host, and its outcome. `status` is 0 without a response. Times are of `time.monotonic`."""

    host: str
    start: float
    end: float
    status: int
    retry_after: str = ""


@dataclass
class Journal:
    """What the clients saw."""

    writes: list[Exchange] = field(default_factory=list)
    reads: list[Exchange] = field(default_factory=list)  # anonymous
    acknowledged: dict[str, str] = field(default_factory=dict)  # ids of posts by their titles
    acknowledged_at: dict[str, float] = field(default_factory=dict)  # by the ids of posts
    own_reads: int = 0
    missed: int = 0  # reads of an own write that returned something else
    waits: list[float] = field(default_factory=list)  # seconds until a write was acknowledged, with all attempts
    lock: threading.Lock = field(default_factory=threading.Lock)


class Client:
    """A client with one connection to each host."""

    def __init__(self, port: int, headers: dict[str, str]) -> None:
        self.port, self.headers = port, headers
        self.connections: dict[str, HTTPConnection] = {}

    def request(self, host: str, method: str, path: str, body: Any = None, key: str = "") -> tuple[Exchange, Any]:
        """Return the exchange and the decoded body."""
        headers = {"Content-Type": "application/json", **self.headers, **({"Idempotency-Key": key} if key else {})}
        content = None if body is None else json.dumps(body)
        start, status, retry_after, decoded = time.monotonic(), 0, "", None
        connection = self.connections.setdefault(host, HTTPConnection(host, self.port, timeout=TIMEOUT))
        try:
            connection.request(method, path, content, headers)
            response = connection.getresponse()
            text = response.read()
            status, decoded = response.status, json.loads(text) if text else None
            retry_after = response.headers.get("Retry-After", "")
        except (OSError, HTTPException, ValueError):
            connection.close()
            del self.connections[host]
        return Exchange(host, start, time.monotonic(), status, retry_after), decoded


class Load:
    """The threads of the clients. `hosts` are addresses.

    A client sends its requests to the hosts in turn, and reads a post from another host than that which created it.
    With `is_sticky`, each client keeps to one host.
    """

    def __init__(self, hosts: Sequence[str], port: int, key: str, name: str, *, is_sticky: bool) -> None:
        self.hosts, self.port, self.key, self.name = list(hosts), port, key, name
        self.is_sticky = is_sticky
        self.journal = Journal()
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self.write, args=(number,), daemon=True) for number in range(WRITERS)]
        self.threads += [threading.Thread(target=self.read, args=(number,), daemon=True) for number in range(READERS)]

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def stop(self) -> Journal:
        """Send no new requests. Returns when all responses have arrived."""
        self.stopping.set()
        for thread in self.threads:
            thread.join()
        return self.journal

    def choose_host(self, number: int, turn: int) -> str:
        return self.hosts[(number if self.is_sticky else number + turn) % len(self.hosts)]

    def write(self, number: int) -> None:
        client, count = Client(self.port, {"X-API-Key": self.key}), 0
        while not self.stopping.wait(PAUSE):
            count += 1
            self.create(client, number, f"{self.name} {number}-{count}")

    def create(self, client: Client, number: int, title: str) -> None:
        """Create a post, with the same key until it is acknowledged, and read it back."""
        turn, began = 0, time.monotonic()
        while True:
            host = self.choose_host(number, turn)
            key = title.replace(" ", "-")
            exchange, post = client.request(host, "POST", "/posts", {"title": title, "body": "text"}, key)
            with self.journal.lock:
                self.journal.writes.append(exchange)
            if exchange.status == CREATED:
                break
            if self.stopping.wait(RETRY):
                return
            turn += 1
        with self.journal.lock:
            self.journal.acknowledged[title] = post["id"]
            self.journal.waits.append(time.monotonic() - began)
            self.journal.acknowledged_at[post["id"]] = exchange.end
        exchange, read = client.request(self.choose_host(number, turn + 1), "GET", f"/posts/{post['id']}")
        with self.journal.lock:
            if exchange.status == OK and read["title"] == title:
                self.journal.own_reads += 1
            elif exchange.status in (OK, NOT_FOUND):
                self.journal.missed += 1

    def read(self, number: int) -> None:
        client, turn = Client(self.port, {}), 0
        while not self.stopping.wait(PAUSE):
            turn += 1
            exchange, _ = client.request(self.choose_host(number, turn), "GET", "/posts?limit=5")
            with self.journal.lock:
                self.journal.reads.append(exchange)
