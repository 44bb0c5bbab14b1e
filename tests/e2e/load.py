"""A load of counted requests on a server."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from threading import Event, Thread

PATIENCE = 180.0  # seconds; the machine may be busy
BODY = b'{"query": "{ posts(limit: 2) { id title author { name } } }"}'
HEADERS = {"Content-Type": "application/json"}


@dataclass
class Results:
    """The responses of some requests."""

    statuses: dict[int, int] = field(default_factory=dict)  # numbers of responses
    failures: list[str] = field(default_factory=list)  # of requests without a response
    closed: int = 0  # connections that the server closed politely

    @property
    def total(self) -> int:
        return sum(self.statuses.values()) + len(self.failures)

    def add(self, other: "Results") -> None:
        for status, number in other.statuses.items():
            self.statuses[status] = self.statuses.get(status, 0) + number
        self.failures += other.failures
        self.closed += other.closed


def send_requests(
    port: int, *, count: int = 0, stop: Event | None = None, keep_alive: bool = True, pause: float = 0.0
) -> Results:
    """Send requests one after the other, `count` of them or until `stop` is set, without any repetition."""
    results = Results()
    connection: HTTPConnection | None = None
    while results.total < count or (stop is not None and not stop.is_set()):
        connection = connection or HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request("POST", "/graphql", BODY, HEADERS)
            response = connection.getresponse()
            response.read()
        except (OSError, HTTPException) as error:
            results.failures.append(f"{type(error).__name__}: {error}")
            connection.close()
            connection = None
            continue
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
        parts.append(send_requests(port, stop=stop, keep_alive=number % 2 == 0, pause=0.04 if number < 4 else 0.3))

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
