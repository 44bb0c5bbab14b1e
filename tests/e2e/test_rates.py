"""One limit for all workers of a server, as long as there is a Redis."""

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest

from tests.deployment.live_server import LiveServer, Site
from tests.deployment.processes import wait_until
from tests.deployment.redis_server import RedisServer

pytestmark = pytest.mark.servers


def send_query(server: LiveServer) -> int:
    """Send a small query on a new connection, which any worker may accept. Return the status."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(
        "POST", "/graphql", json.dumps({"query": "{ __typename }"}), {"Content-Type": "application/json"}
    )
    response = connection.getresponse()
    rate_limit = response.getheader("RateLimit")
    connection.close()
    assert rate_limit
    return response.status


def send_queries(server: LiveServer, times: int) -> Counter[int]:
    with ThreadPoolExecutor(16) as threads:
        return Counter(threads.map(lambda _: send_query(server), range(times)))


@contextmanager
def serve(site: Site, **variables: str) -> Iterator[LiveServer]:
    """Start four workers. Nothing is requested of them before, because each request counts."""
    server = LiveServer(site, "gunicorn", {"WEB_CONCURRENCY": "4", **variables})
    try:
        wait_until(server.has_all_workers, "the start of all workers")
        yield server
    finally:
        server.kill()


def test_four_workers_agree_on_one_limit(site: Site, redis_server: RedisServer) -> None:
    with serve(site, REDIS_URL=redis_server.url, CONTENTAPI_RATE_ANONYMOUS="100/hour") as server:
        assert send_queries(server, 400) == {200: 100, 429: 300}
