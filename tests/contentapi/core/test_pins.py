"""Users whose reads go to the primary. `tests/e2e/test_replicas.py` has real replicas."""

import time

import pytest

from contentapi.core import redis
from contentapi.core.replicas import Pins
from contentapi.db.watch.servers import SERVERS
from contentapi.monitoring.records import RequestRecord, current_record
from contentapi.rate_limits.limits import AUTHENTICATED, Charge
from contentapi.rate_limits.redis_windows import RedisCounter
from tests.contentapi.rate_limits.counting import Clock
from tests.deployment.redis_server import RedisServer

LIFE = 6.5  # seconds


class Process:
    """A server process with replicas: it charges requests in Redis, and knows who has written."""

    def __init__(self, server: RedisServer, clock: Clock, life: float = LIFE) -> None:
        self.counter = RedisCounter(server.url, clock)
        self.pins = Pins(server.url, life, clock)

    def charge(self, payer: str) -> bool | None:
        """Charge a request. Return whether its payer has written."""
        token = current_record.set(RequestRecord())
        try:
            self.counter.consume(payer, [Charge.to(1, AUTHENTICATED)])
            return self.pins.knows_write()
        finally:
            current_record.reset(token)


@pytest.fixture(autouse=True)
def replicas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SERVERS, "replicas", ["replica1"])


def test_write_of_a_user_is_known_to_every_process(redis_server: RedisServer) -> None:
    process, other = Process(redis_server, Clock()), Process(redis_server, Clock())

    process.pins.add(1)

    assert [other.charge(payer) for payer in ("user:1", "user:2", "user:1")] == [True, False, True]


def test_write_is_forgotten_when_every_replica_has_replayed_it(redis_server: RedisServer) -> None:
    process = Process(redis_server, Clock(), life=0.2)

    process.pins.add(1)

    deadline = time.monotonic() + 60
    while process.charge("user:1"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_refused_request_knows_the_write_too(redis_server: RedisServer) -> None:
    process = Process(redis_server, Clock())
    process.pins.add(1)
    whole = Charge.to(10**9, AUTHENTICATED)
    process.counter.consume("user:1", [whole])

    assert process.charge("user:1") is True


def test_writes_are_unknown_while_redis_is_down_and_as_long_afterwards(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    process = Process(redis_server, clock)
    process.pins.add(1)
    redis_server.kill()

    process.pins.add(2)
    assert process.charge("user:2") is None
    redis_server.start()
    clock.now += LIFE - 0.1
    assert process.charge("user:1") is None  # this write may have been noted in the Redis that was killed
    clock.now += 0.2
    process.pins.add(2)
    assert process.charge("user:1") is False

    assert "Redis is unavailable (ConnectionError). Authenticated reads go to the primary." in caplog.text
    assert "Redis is available again." in caplog.text


def test_write_that_redis_does_not_note_makes_all_writes_unknown(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis, "REDIS_TIMEOUT", 0.2)
    process = Process(redis_server, Clock())
    redis_server.hang()

    process.pins.add(1)

    redis_server.go_on()
    assert process.charge("user:1") is None


def test_addresses_and_anonymous_callers_are_not_looked_up(redis_server: RedisServer) -> None:
    token = current_record.set(RequestRecord())
    try:
        Process(redis_server, Clock()).counter.consume("203.0.113.7", [Charge.to(1, AUTHENTICATED)])
        assert current_record.get().has_written is None
    finally:
        current_record.reset(token)
