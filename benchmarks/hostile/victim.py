"""The victim: another client, whose requests are timed while an attack goes on.

It sends requests at a fixed rate, even while earlier ones have no response. Two thirds use an idle connection, and one
third a new one, like a client that has just arrived.
"""

import http.client
import json
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from queue import Empty, LifoQueue
from typing import NamedTuple

LIMIT = 2.0  # seconds within which a response counts
RATE = 30  # requests per second: 1,800 per minute, well below an API key's limit
THREADS = 4 * RATE  # a lost request occupies a thread for up to twice the limit
IDLE_LIMIT = 2.0  # seconds after which the client closes an idle connection
TITLE = "Written by the victim"  # with a number, because the titles of a client differ

POST = "query post($id: ID!) { post(id: $id) { title body status author { name } } }"
PAGE = (
    "query page($limit: Int) { posts(limit: $limit, status: published) {"
    " id title createdAt tags commentCount author { id name avatarUrl } comments { id body author { name } } } }"
)
CREATE = "mutation create($input: CreatePostInput!) { createPost(input: $input) { id title status } }"


class Request(NamedTuple):
    method: str
    path: str
    body: bytes | None = None


class Figures(NamedTuple):
    """The results of one measurement. Times are in seconds; the time of a lost request is infinite."""

    times: list[float]
    failures: Counter[str]  # reasons, with how often each occurred

    @property
    def answered(self) -> float:
        """The share of the requests that got a response in time."""
        return sum(duration <= LIMIT for duration in self.times) / len(self.times)

    def percentile(self, percent: float) -> float:
        """Return the time in seconds within which this percentage of all requests got a response."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


class Victim:
    def __init__(self, port: int, key: str) -> None:
        self.port, self.key = port, key
        self.idle: LifoQueue[tuple[float, http.client.HTTPConnection]] = LifoQueue()
        self.post_ids = self.read_post_ids()

    def read_post_ids(self) -> list[str]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            page = json.loads(self.send(connection, FIRST_PAGE))
        return [post["id"] for post in page["data"]]

    def measure(self, seconds: float) -> Figures:
        """Send requests for this number of seconds, wait for the last response, and return the figures."""
        times: list[float] = []
        failures: Counter[str] = Counter()
        rng = random.Random(1)
        began = time.monotonic()
        with ThreadPoolExecutor(THREADS) as pool:
            for number in range(round(seconds * RATE)):
                time.sleep(max(0.0, began + number / RATE - time.monotonic()))
                pool.submit(self.time_request, self.choose(rng), times, failures, fresh=number % 3 == 0)
        self.close_idle()
        return Figures(times, failures)

    def choose(self, rng: random.Random) -> Request:
        """Return the next request: mostly a GraphQL read, sometimes a REST read or a write."""
        post_id = rng.choice(self.post_ids)
        match rng.randrange(20):
            case 0:
                return graphql(CREATE, {"input": {"title": f"{TITLE} {rng.randrange(10**9)}", "body": "b"}})
            case 1 | 2:
                return Request("GET", f"/posts/{post_id}")
            case 3 | 4 | 5 | 6 | 7:
                return graphql(PAGE, {"limit": rng.randint(8, 12)})
            case _:
                return graphql(POST, {"id": post_id})

    def time_request(self, request: Request, times: list[float], failures: Counter[str], *, fresh: bool) -> None:
        began = time.monotonic()
        connection = self.take_connection(fresh=fresh)
        try:
            self.send(connection, request)
            times.append(time.monotonic() - began)
            self.idle.put((time.monotonic(), connection))
        except (OSError, http.client.HTTPException, UnexpectedStatus) as error:
            connection.close()
            failures[str(error) or type(error).__name__] += 1
            times.append(float("inf"))

    def take_connection(self, *, fresh: bool) -> http.client.HTTPConnection:
        """Return an idle connection that was used recently, or a new one."""
        try:
            while not fresh:
                since, connection = self.idle.get_nowait()
                if time.monotonic() - since < IDLE_LIMIT:
                    return connection
                connection.close()
        except Empty:
            pass
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)

    def send(self, connection: http.client.HTTPConnection, request: Request) -> bytes:
        headers = {
            "X-API-Key": self.key,
            "Accept": "application/json",
            "traceparent": f"00-{random.getrandbits(128):032x}-{random.getrandbits(64):016x}-01",
        }
        if request.body:
            headers["Content-Type"] = "application/json"
        connection.request(request.method, request.path, request.body, headers)
        response = connection.getresponse()
        content = response.read()
        if response.status != http.client.OK:
            raise UnexpectedStatus(f"status {response.status}")
        return content

    def close_idle(self) -> None:
        while not self.idle.empty():
            self.idle.get_nowait()[1].close()


class UnexpectedStatus(Exception):
    """A response does not have status 200."""


def graphql(query: str, variables: dict[str, object]) -> Request:
    return Request("POST", "/graphql", json.dumps({"query": query, "variables": variables}).encode())


FIRST_PAGE = Request("GET", "/posts?limit=100&status=published")
