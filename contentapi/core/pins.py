"""Users whose reads go to the primary because they have written a moment ago.

A write sets a key in Redis, so that every process knows it. The key lives until each replica that is in use has
replayed the write. The script that charges a request to its user looks for the key (`contentapi.rate_limits`), so that
a read needs no round trip of its own. While Redis fails, and for the life of a key afterwards, `Pins.knows_write`
returns None: keys may be missing.
"""

import logging
import time
from collections.abc import Callable

from contentapi.core.redis import GuardedRedis, RedisUnavailable
from contentapi.monitoring.records import current_record

LOG = logging.getLogger("contentapi.replicas")


def build_pin_key(user_id: int | str) -> str:
    return f"contentapi:written:{user_id}"


class Pins:
    """The users who have written within the last `life` seconds."""

    def __init__(self, url: str, life: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.redis = GuardedRedis(url, LOG, "Authenticated reads go to the primary.", clock)
        self.life = life
        self.clock = clock
        self.unknown_until = float("-inf")

    def add(self, user_id: int) -> None:
        """Note a write of a user, before its response is sent."""
        try:
            key, life = build_pin_key(user_id), round(1000 * self.life)
            self.redis.execute("set", lambda: self.redis.client.set(key, 1, px=life))
        except RedisUnavailable:
            self.unknown_until = self.clock() + self.life

    def knows_write(self) -> bool | None:
        """Return whether the user of the current request has written. None: it is not known."""
        found = current_record.get().has_written
        if found is None:  # Redis did not answer, and may have lost keys
            self.unknown_until = self.clock() + self.life
        return found if self.clock() >= self.unknown_until else None
