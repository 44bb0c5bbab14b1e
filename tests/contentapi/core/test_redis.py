"""A Redis that fails is left alone for a while."""

import pytest

from contentapi.conf.timeouts import REDIS_RETRY_INTERVAL
from contentapi.core.redis import GuardedRedis, RedisUnavailable
from tests.contentapi.rate_limits.counting import Clock


def test_redis_that_failed_is_tried_and_reported_once_in_each_interval() -> None:
    clock, reports = Clock(), list[str]()
    redis = GuardedRedis("redis://127.0.0.1:1", reports.append, lambda: reports.append("back"), clock)
    assert redis.execute("get", lambda: 1) == 1

    tries: list[float] = []

    def fail() -> None:
        tries.append(clock.now - 1000)
        raise OSError

    for _ in range(2 * round(REDIS_RETRY_INTERVAL)):
        with pytest.raises(RedisUnavailable):
            redis.execute("get", fail)
        clock.now += 1

    assert (tries, reports) == ([0, REDIS_RETRY_INTERVAL], ["OSError"] * 2)
    assert [redis.execute("get", lambda: 1) for _ in range(2)] == [1, 1]
    assert reports[2:] == ["back"]
