"""Count charges in this process, or in a Redis that several processes share.

Both store each unit with its time. So no interval of the length of the window has more units than the limit, wherever
it begins.
"""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import ceil
from threading import Lock

from contentapi.conf.timeouts import REDIS_RETRY_INTERVAL
from contentapi.core.redis import GuardedRedis, RedisUnavailable
from contentapi.rate_limits.limits import Charge
from contentapi.rate_limits.memory import KeyWindow
from contentapi.rate_limits.redis_windows import RedisWindows
from contentapi.rate_limits.statuses import LimitStatus, build_refused_status, build_status, get_window_key

LOG = logging.getLogger("contentapi.rate_limits")

MAX_KEYS = 50_000  # in this process

Outcome = tuple[bool, list[LimitStatus]]  # whether the charges were consumed, and the status of each limit


class InProcessCounter:
    """Counts in this process, for the keys that were used last, up to a number of keys. Thread-safe.

    A refused client keeps its window while it continues to send requests: new addresses replace idle ones first.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, max_keys: int = MAX_KEYS) -> None:
        self.clock = clock
        self.max_keys = max_keys
        self._windows: OrderedDict[str, KeyWindow] = OrderedDict()
        self._lock = Lock()

    def consume(self, key: str, charges: Sequence[Charge]) -> Outcome:
        """Consume all charges, or none of them."""
        with self._lock:
            now = self.clock()
            windows: list[tuple[KeyWindow, Charge]] = []
            totals: dict[KeyWindow, int] = {}  # several charges may have the same window
            for charge in charges:
                window = self._get_or_create_window(get_window_key(key, charge), charge.spec.window, now)
                totals[window] = total = totals.get(window, 0) + charge.amount
                if window.used + total > charge.spec.amount:
                    break
                windows.append((window, charge))
            else:
                statuses = []
                for window, charge in windows:
                    seconds = window.consume(now, charge.spec.window, charge.amount)
                    statuses.append(LimitStatus(charge.limit, charge.spec.amount - window.used, ceil(seconds) or 1))
                return True, statuses
        return False, [self.get_refused_status(key, charge) for charge in charges]

    def refund(self, key: str, charges: Sequence[Charge]) -> None:
        """Give consumed charges back."""
        with self._lock:
            for charge in charges:
                window = self._windows.get(get_window_key(key, charge))
                if window is not None:
                    window.refund(charge.amount)

    def get_refused_status(self, key: str, charge: Charge) -> LimitStatus:
        with self._lock:
            now = self.clock()
            window = self._windows.get(get_window_key(key, charge))
            if window is None:
                return build_status(charge, 0, 0)
            window.drop_older_than(now - charge.spec.window)
            blocking = charge.spec.amount - charge.total + 1
            age = now - window.get_oldest_of_newest(window.used) if window.used else 0
            blocker = now - window.get_oldest_of_newest(blocking) if window.used >= blocking else None
            return build_refused_status(charge, window.used, age, blocker)

    def _get_or_create_window(self, window_key: str, length: int, now: float) -> KeyWindow:
        """Return the window of a key, without expired units."""
        window = self._windows.get(window_key)
        if window is None:
            self._make_room(now)
            window = self._windows[window_key] = KeyWindow()
        else:
            self._windows.move_to_end(window_key)
            window.drop_older_than(now - length)
        window.expires = now + length  # an unexpired window is not replaced
        return window

    def _make_room(self, now: float) -> None:
        """Delete up to two expired windows, and the one that is idle longest if there are too many."""
        for _ in range(2):
            key, window = next(iter(self._windows.items()), ("", None))
            if window is None or (window.expires >= now and len(self._windows) < self.max_keys):
                return
            del self._windows[key]


class RedisCounter:
    """Counts in Redis. While Redis is down, counts in this process, so that no request fails."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.redis = GuardedRedis(url, self.report_loss, self.report_return, clock)
        self.windows = RedisWindows(self.redis.client)
        self.fallback = InProcessCounter()
        self.lock = Lock()
        self.counted_in_process = 0

    def consume(self, key: str, charges: Sequence[Charge]) -> Outcome:
        try:
            return self.redis.execute("consume", lambda: self.windows.consume(key, charges))
        except RedisUnavailable:
            with self.lock:
                self.counted_in_process += 1
            return self.fallback.consume(key, charges)

    def refund(self, key: str, charges: Sequence[Charge]) -> None:
        """Give charges back where requests are counted now. Charges from before a failure of Redis stay consumed."""
        if self.redis.breaker.is_open:
            self.fallback.refund(key, charges)
            return
        with suppress(RedisUnavailable):
            self.redis.execute("refund", lambda: self.windows.refund(key, charges))

    def report_loss(self, error: str) -> None:
        LOG.error(
            "Redis is unavailable (%s). Rate limits are counted in this process: %s requests so far. "
            "Next attempt in %g s.",
            error,
            self.counted_in_process,
            REDIS_RETRY_INTERVAL,
        )

    def report_return(self) -> None:
        with self.lock:
            counted, self.counted_in_process = self.counted_in_process, 0
        LOG.warning("Redis is available again. %s requests were counted in this process.", counted)
