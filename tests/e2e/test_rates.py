"""One limit for all workers of a server, as long as there is a Redis; and a server that goes on without."""

import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import pytest

from tests.e2e.checkout import PATIENCE, Checkout, Run, free_port
from tests.redis_server import RedisServer

pytestmark = [pytest.mark.processes, pytest.mark.slow]


def send_query(run: Run) -> int:
    """Send a small query on a new connection, which any worker may accept. Return the status."""
    connection = HTTPConnection("127.0.0.1", int(run.port), timeout=30)
    connection.request(
        "POST", "/graphql", json.dumps({"query": "{ __typename }"}), {"Content-Type": "application/json"}
    )
    response = connection.getresponse()
    rate_limit = response.getheader("RateLimit")
    connection.close()
    assert rate_limit
    return response.status


def send_queries(run: Run, times: int) -> Counter[int]:
    with ThreadPoolExecutor(16) as threads:
        return Counter(threads.map(lambda _: send_query(run), range(times)))


def serve(checkout: Checkout, **variables: str) -> Run:
    run = checkout.serve_as_the_procfile(free_port(), WEB_CONCURRENCY="4", **variables)
    deadline = time.monotonic() + PATIENCE
    while run.printed.count("Started worker") < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    return run


def test_four_workers_agree_on_one_limit(checkout: Checkout, redis_server: RedisServer) -> None:
    run = serve(checkout, REDIS_URL=redis_server.url, CONTENTAPI_RATE_ANONYMOUS="100/hour")

    assert send_queries(run, 400) == {200: 100, 429: 300}


def test_without_redis_each_worker_counts_for_itself(checkout: Checkout) -> None:
    run = serve(checkout, CONTENTAPI_RATE_ANONYMOUS="50/hour")

    responses = send_queries(run, 400)

    assert 50 <= responses[200] <= 200
    assert responses[200] + responses[429] == 400


def test_no_request_fails_when_redis_does(checkout: Checkout, redis_server: RedisServer) -> None:
    run = serve(checkout, REDIS_URL=redis_server.url, CONTENTAPI_RATE_ANONYMOUS="1000000/hour")
    responses = send_queries(run, 100)

    redis_server.kill()
    responses += send_queries(run, 200)
    run.wait_for("Redis is unavailable (ConnectionError). Rate limits are counted in this process")
    redis_server.start()
    while "Redis is available again." not in run.printed:
        responses += send_queries(run, 50)
        time.sleep(0.2)

    assert set(responses) == {200}
    assert run.printed.count("Redis is unavailable") <= 4 * 3
    assert "Traceback" not in run.printed
