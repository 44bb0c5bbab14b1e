"""Users whose reads go to the primary because they have written a moment ago.

A write sets a key in Redis, so that every process knows it. The key lives until each replica that is in use has
replayed the write. While Redis fails, and for the life of a key afterwards, `Pins.has` returns None: keys
may be missing.
"""

import logging
import time
from collections.abc import Callable

from contentapi.core.redis import GuardedRedis, RedisUnavailable

LOG = logging.getLogger("contentapi.replicas")
KEY = "contentapi:written:{}"


class Pins:
    """The users who have written within the last `life` seconds."""

    def __init__(self, url: str, life: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.redis = GuardedRedis(url, report_loss, report_return, clock)
        self.life = life
        self.clock = clock
        self.unknown_until = float("-inf")

    def add(self, user_id: int) -> None:
        """Note a write of a user, before its response is sent."""
        try:
            self.redis.execute("set", lambda: self.redis.client.set(KEY.format(user_id), 1, px=round(1000 * self.life)))
        except RedisUnavailable:
            self.unknown_until = self.clock() + self.life

    def has(self, user_id: int) -> bool | None:
        """Return whether a user has written. None: it is not known."""
        if self.clock() < self.unknown_until:
            return None
        try:
            return bool(self.redis.execute("exists", lambda: self.redis.client.exists(KEY.format(user_id))))
        except RedisUnavailable:  # it may have lost keys
            self.unknown_until = self.clock() + self.life
            return None


def report_loss(error: str) -> None:
    LOG.error("Redis is unavailable (%s). Authenticated reads go to the primary.", error)


def report_return() -> None:
    LOG.warning("Redis is available again.")
