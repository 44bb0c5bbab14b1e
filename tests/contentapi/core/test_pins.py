"""Users whose reads go to the primary. `tests/e2e/test_replicas.py` has real replicas."""

import time

import pytest

from contentapi.core import redis
from contentapi.core.pins import Pins
from tests.redis_server import RedisServer

LIFE = 6.5  # seconds


class Clock:
    """A clock of the process, which a test sets."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_write_of_a_user_is_known_to_every_process(redis_server: RedisServer) -> None:
    pins, other = Pins(redis_server.url, LIFE), Pins(redis_server.url, LIFE)

    pins.add(1)

    assert (other.has(1), other.has(2)) == (True, False)


def test_write_is_forgotten_when_every_replica_has_replayed_it(redis_server: RedisServer) -> None:
    pins = Pins(redis_server.url, life=0.2)

    pins.add(1)

    deadline = time.monotonic() + 60
    while pins.has(1):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_writes_are_unknown_while_redis_is_down_and_as_long_afterwards(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    pins = Pins(redis_server.url, LIFE, clock)
    pins.add(1)
    redis_server.kill()

    assert pins.has(2) is None
    redis_server.start()
    clock.now += LIFE - 0.1
    assert pins.has(1) is None  # this write may have been noted in the Redis that was killed
    clock.now += 0.2
    assert pins.has(1) is False

    assert "Redis is unavailable (ConnectionError). Authenticated reads go to the primary." in caplog.text
    assert "Redis is available again." in caplog.text


def test_write_that_redis_does_not_note_makes_all_writes_unknown(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis, "REDIS_TIMEOUT", 0.2)
    pins = Pins(redis_server.url, LIFE)
    redis_server.hang()

    pins.add(1)

    redis_server.go_on()
    assert pins.has(1) is None
