"""Kill the primary under a mixed load, promote a replica, and count what was lost."""

import json
import threading
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any

from benchmarks.scale.deployment import Deployment

WRITERS, READERS = 4, 4
BEFORE, AFTER = 4, 8  # seconds of load before and after the failure
RETRY = 0.1  # seconds between two attempts of a write
SLOW = 2.0  # seconds; a refusal must not take longer


@dataclass
class Failover:
    """What the clients of a failover saw. Times are in seconds after the failure of the primary."""

    replication: str
    acknowledged: dict[str, str] = field(default_factory=dict)  # ids of posts by their titles
    lost: int = 0
    duplicated: int = 0
    reads: int = 0
    failed_reads: int = 0
    own_writes_read: int = 0
    own_writes_missed: int = 0
    refusals: int = 0
    slowest_refusal: float = 0.0
    promoted_at: float = 0.0
    first_write_at: float = 0.0


class Client:
    """A client with one connection to haproxy."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.connection: HTTPConnection | None = None

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Return the status and the decoded body. The status is 0 if the connection failed."""
        try:
            if self.connection is None:
                self.connection = HTTPConnection("127.0.0.1", self.port, timeout=15)
            content = None if body is None else json.dumps(body)
            sent = {
                "Content-Type": "application/json",
                **{name.replace("_", "-"): text for name, text in headers.items()},
            }
            self.connection.request(method, path, content, sent)
            response = self.connection.getresponse()
            text = response.read()
            return response.status, json.loads(text) if text else None
        except (OSError, HTTPException, ValueError):
            if self.connection is not None:
                self.connection.close()
            self.connection = None
            return 0, None


class MixedLoad:
    """Writers with idempotency keys, which read each of their posts back, and anonymous readers."""

    def __init__(self, deployment: Deployment, result: Failover) -> None:
        self.deployment = deployment
        self.result = result
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.failed_at = float("inf")
        self.threads = [threading.Thread(target=self.write, args=(number,)) for number in range(WRITERS)]
        self.threads += [threading.Thread(target=self.read) for _ in range(READERS)]

    def write(self, number: int) -> None:
        client, count = Client(self.deployment.port), 0
        while not self.stopping.is_set():
            count += 1
            self.create(client, f"{self.result.replication} {number}-{count}")

    def create(self, client: Client, title: str) -> None:
        """Create a post, with the same key until it is acknowledged, and read it back."""
        key = {"X_API_Key": self.deployment.key}
        while True:
            started = time.monotonic()
            status, post = client.request(
                "POST", "/posts", {"title": title, "body": "text"}, Idempotency_Key=title.replace(" ", "-"), **key
            )
            ended = time.monotonic()
            if status == 201:
                break
            self.note_refusal(ended - started)
            if self.stopping.is_set():
                return
            time.sleep(RETRY)
        with self.lock:
            self.result.acknowledged[title] = post["id"]
            if started > self.failed_at and not self.result.first_write_at:
                self.result.first_write_at = ended - self.failed_at
        status, read = client.request("GET", f"/posts/{post['id']}", **key)
        with self.lock:
            if status == 200 and read["title"] == title:
                self.result.own_writes_read += 1
            elif status in (200, 404):
                self.result.own_writes_missed += 1

    def note_refusal(self, seconds: float) -> None:
        with self.lock:
            self.result.refusals += 1
            self.result.slowest_refusal = max(self.result.slowest_refusal, seconds)

    def read(self) -> None:
        client = Client(self.deployment.port)
        while not self.stopping.is_set():
            status, _ = client.request("GET", "/posts?limit=5")
            with self.lock:
                self.result.reads += 1
                self.result.failed_reads += status != 200
            time.sleep(0.005)


def measure_failover(deployment: Deployment, replication: str) -> Failover:
    """Kill the primary and promote the first replica, as soon as the primary is dead. The second one follows it."""
    result = Failover(replication)
    load = MixedLoad(deployment, result)
    for thread in load.threads:
        thread.start()
    promoted, other = deployment.replicas
    try:
        time.sleep(BEFORE)
        load.failed_at = time.monotonic()
        deployment.primary.kill()
        promoted.promote()
        result.promoted_at = time.monotonic() - load.failed_at
        other.execute(f"ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port={promoted.port} user=postgres'")
        other.execute("SELECT pg_reload_conf()")
        time.sleep(AFTER)
    finally:
        load.stopping.set()
        for thread in load.threads:
            thread.join()
    rows = promoted.execute("SELECT title, count(*) FROM blog_post GROUP BY title")
    counts = {str(title): int(number) for title, number in rows}
    result.lost = sum(title not in counts for title in result.acknowledged)
    result.duplicated = sum(counts.get(title, 0) > 1 for title in result.acknowledged)
    return result
