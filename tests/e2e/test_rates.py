"""One limit for all workers of a server, as long as there is a Redis."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.deployment.live_server import LiveServer, Site
from tests.deployment.processes import wait_until
from tests.deployment.redis_server import RedisServer

pytestmark = pytest.mark.servers


def test_four_workers_agree_on_one_limit(site: Site, redis_server: RedisServer) -> None:
    """Nothing is requested of them before, because each request counts. Any may accept a new connection."""
    limit = {"REDIS_URL": redis_server.url, "CONTENTAPI_RATE_ANONYMOUS": "50/hour"}
    server = LiveServer(site, "gunicorn", {"WEB_CONCURRENCY": "4", **limit})
    try:
        wait_until(server.has_all_workers, "the start of all workers")
        with ThreadPoolExecutor(16) as threads:
            responses = list(threads.map(lambda _: server.query("{ __typename }"), range(200)))
    finally:
        server.kill()

    assert Counter(response.status for response in responses) == {200: 50, 429: 150}
    assert all(response.headers["RateLimit"] for response in responses)
