"""A Redis that fails is left alone for a while."""

import logging

import pytest

from contentapi.conf.timeouts import REDIS_RETRY_INTERVAL
from contentapi.core.redis import GuardedRedis, RedisUnavailable
from tests.contentapi.rate_limits.counting import Clock


def test_redis_that_failed_is_tried_and_reported_once_in_each_interval(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    redis = GuardedRedis("redis://127.0.0.1:1", logging.getLogger("test"), "It is missed.", clock)
    assert redis.execute("get", lambda: 1) == 1

    tries: list[float] = []

    def fail() -> None:
        tries.append(clock.now - 1000)
        raise OSError

    for _ in range(2 * round(REDIS_RETRY_INTERVAL)):
        with pytest.raises(RedisUnavailable):
            redis.execute("get", fail)
        clock.now += 1

    assert tries == [0, REDIS_RETRY_INTERVAL]
    assert caplog.messages == ["Redis is unavailable (OSError). It is missed."] * 2
    assert [redis.execute("get", lambda: 1) for _ in range(2)] == [1, 1]
    assert caplog.messages[2:] == ["Redis is available again."]
