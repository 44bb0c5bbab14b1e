"""Fixtures of the tests of contentapi."""

from collections.abc import Iterator
from typing import Any

import pytest

from contentapi.db.watch.link import DeadlineConnection
from contentapi.health import checks
from tests.deployment.redis_server import RedisServer


@pytest.fixture
def connection() -> Iterator[DeadlineConnection]:
    connection = DeadlineConnection()
    yield connection
    connection.close()


@pytest.fixture
def redis_server(redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[RedisServer]:
    """Close the clients of Redis at the end of a test. Else the garbage collector warns in the middle of another.

    Give the checks enough time on a busy machine.
    """
    from redis import Redis

    clients: list[Redis] = []
    build_client = Redis.from_url

    def build_and_remember(*arguments: Any, **options: Any) -> Redis:
        clients.append(build_client(*arguments, **options))
        return clients[-1]

    monkeypatch.setattr(Redis, "from_url", build_and_remember)
    monkeypatch.setattr(checks, "REDIS_CHECK_LIMIT", 60)
    yield redis_server
    for client in clients:
        client.close()
