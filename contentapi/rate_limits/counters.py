"""Count charges in this process, or in a Redis that several processes share.

Both store each unit with its time. So no interval of the length of the window has more units than the limit, wherever
it begins. The storage of Redis is that of the `limits` library.
"""

import logging
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from math import ceil, floor
from threading import Lock
from typing import Any

from limits.storage import RedisStorage

from contentapi.core.circuit_breaker import CircuitBreaker
from contentapi.monitoring.traces import trace
from contentapi.rate_limits.limits import Charge, LimitStatus
from contentapi.rate_limits.memory import KeyWindow

LOG = logging.getLogger("contentapi.rate_limits")

MAX_KEYS = 50_000  # in this process
REDIS_TIMEOUT = 0.2  # seconds
REDIS = {"db.system.name": "redis"}  # attributes of spans
RETRY_INTERVAL = 5.0  # seconds between two attempts to use a Redis that has failed

Outcome = tuple[bool, list[LimitStatus]]  # whether the charges were consumed, and the status of each limit


class MovingWindows(ABC):
    """Reports the windows of one storage. `clock` is the storage's own."""

    clock: Callable[[], float]

    @abstractmethod
    def get_newest(self, key: str, charge: Charge, number: int) -> tuple[float, int]:
        """Return the time of the oldest of the newest `number` units, and their number, which may be less."""

    def get_status(self, key: str, charge: Charge) -> LimitStatus:
        amount, window = charge.spec.amount, charge.spec.window
        oldest, count = self.get_newest(key, charge, amount)
        return LimitStatus(charge.limit, max(0, amount - count), max(1, ceil(window - (self.clock() - oldest))))

    def get_refused_status(self, key: str, charge: Charge) -> LimitStatus:
        """Return the status with the wait until the whole request would succeed, its earlier charges included."""
        window = charge.spec.window
        # The request succeeds when the oldest of this many newest units leaves the window.
        blocking = charge.spec.amount - charge.total + 1
        oldest, count = self.get_newest(key, charge, blocking)
        status = self.get_status(key, charge)
        if count < blocking:
            return status
        wait = max(1, floor(window - (self.clock() - oldest)) + 1)
        return status._replace(reset_in=wait, wait=wait)


class RedisWindows(MovingWindows):
    def __init__(self, storage: RedisStorage) -> None:
        self.storage = storage
        self.clock = time.time

    def consume(self, key: str, charges: Sequence[Charge]) -> Outcome:
        due = [charge for charge in charges if charge.amount]
        # Test all limits before consuming: a refusal must consume nothing. Between the two, another process may consume
        # the last unit of the second limit; then the charge to the first one is lost.
        has_room = len(due) < 2 or all(self.get_status(key, charge).remaining >= charge.amount for charge in due)
        if has_room and all(self.try_to_consume(key, charge) for charge in due):
            return True, [self.get_status(key, charge) for charge in charges]
        return False, [self.get_refused_status(key, charge) for charge in charges]

    def try_to_consume(self, key: str, charge: Charge) -> bool:
        spec = charge.spec
        storage_key = self.get_storage_key(key, charge)
        return self.storage.acquire_entry(storage_key, spec.amount, spec.window, amount=charge.amount)

    def get_newest(self, key: str, charge: Charge, number: int) -> tuple[float, int]:
        return self.storage.get_moving_window(self.get_storage_key(key, charge), number, charge.spec.window)

    def refund(self, key: str, charges: Sequence[Charge]) -> None:
        storage = self.storage  # has no refund; stores a list for each key, the newest unit first
        for charge in charges:
            storage.storage.lpop(storage.prefixed_key(self.get_storage_key(key, charge)), charge.amount)

    def get_storage_key(self, key: str, charge: Charge) -> str:
        return charge.spec.item.key_for(charge.limit.name, charge.key or key)


class InProcessCounter(MovingWindows):
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
        statuses = self.consume_atomically(key, charges)
        if statuses is None:
            return False, [self.get_refused_status(key, charge) for charge in charges]
        return True, statuses

    def consume_atomically(self, key: str, charges: Sequence[Charge]) -> list[LimitStatus] | None:
        """Return the status of each limit, or None if one of them has no room."""
        with self._lock:
            now = self.clock()
            windows = []
            totals: dict[KeyWindow, int] = {}  # several charges may have the same window
            for charge in charges:
                window = self._get_or_create_window(get_window_key(key, charge), charge, now)
                totals[window] = totals.get(window, 0) + charge.amount
                if window.used + totals[window] > charge.spec.amount:
                    return None
                windows.append(window)
            statuses = []
            for window, charge in zip(windows, charges, strict=True):
                seconds = window.consume(now, charge.spec.window, charge.amount)
                statuses.append(LimitStatus(charge.limit, charge.spec.amount - window.used, ceil(seconds) or 1))
            return statuses

    def refund(self, key: str, charges: Sequence[Charge]) -> None:
        """Give consumed charges back."""
        with self._lock:
            for charge in charges:
                window = self._windows.get(get_window_key(key, charge))
                if window is not None:
                    window.refund(charge.amount)

    def get_newest(self, key: str, charge: Charge, number: int) -> tuple[float, int]:
        with self._lock:
            now = self.clock()
            window = self._windows.get(get_window_key(key, charge))
            if window is None:
                return now, 0
            window.drop_older_than(now - charge.spec.window)
            count = min(window.used, number)
            return (window.get_oldest_of_newest(count), count) if count else (now, 0)

    def _get_or_create_window(self, window_key: str, charge: Charge, now: float) -> KeyWindow:
        """Return the window of a key, without expired units."""
        window = self._windows.get(window_key)
        if window is None:
            self._make_room(now)
            window = self._windows[window_key] = KeyWindow()
        else:
            self._windows.move_to_end(window_key)
            window.drop_older_than(now - charge.spec.window)
        window.expires = max(window.expires, now + charge.spec.window)  # an unexpired window is not replaced
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
        from redis.backoff import NoBackoff
        from redis.exceptions import RedisError
        from redis.retry import Retry

        self.failures = (RedisError, OSError)
        options: Any = {"socket_timeout": REDIS_TIMEOUT, "socket_connect_timeout": REDIS_TIMEOUT}
        options["retry"] = Retry(NoBackoff(), 0)
        self.redis = RedisWindows(RedisStorage(url, key_prefix="contentapi", **options))
        self.fallback = InProcessCounter()
        self.breaker = CircuitBreaker(RETRY_INTERVAL, clock)
        self.lock = Lock()
        self.counted_in_process = 0

    def consume(self, key: str, charges: Sequence[Charge]) -> Outcome:
        if self.breaker.may_try():
            try:
                with trace("redis consume", REDIS):
                    outcome = self.redis.consume(key, charges)
            except self.failures as error:
                self.handle_failure(error)
            else:
                if self.breaker.record_success():
                    self.log_recovery()
                return outcome
        with self.lock:
            self.counted_in_process += 1
        return self.fallback.consume(key, charges)

    def refund(self, key: str, charges: Sequence[Charge]) -> None:
        """Give charges back where requests are counted now. Charges from before a failure of Redis stay consumed."""
        if self.breaker.is_open:
            self.fallback.refund(key, charges)
            return
        try:
            with trace("redis refund", REDIS):
                self.redis.refund(key, charges)
        except self.failures as error:
            self.handle_failure(error)

    def handle_failure(self, error: Exception) -> None:
        if self.breaker.record_failure():
            # Log the type only: the message may contain the password.
            LOG.error(
                "Redis is unavailable (%s). Rate limits are counted in this process: %s requests so far. "
                "Next attempt in %g s.",
                type(error).__name__,
                self.counted_in_process,
                RETRY_INTERVAL,
            )

    def log_recovery(self) -> None:
        with self.lock:
            counted, self.counted_in_process = self.counted_in_process, 0
        LOG.warning("Redis is available again. %s requests were counted in this process.", counted)


def get_window_key(key: str, charge: Charge) -> str:
    return f"{charge.spec.policy}/{charge.key or key}"
