"""Count charges in this process, or in a Redis that several processes share.

Both store each unit with its time. So no interval of the length of the window has more units than the limit, wherever
it begins. The storage of Redis is that of the `limits` library.
"""

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import ceil, floor
from threading import Lock
from typing import Any, Protocol

from limits.storage import RedisStorage

from contentapi.rate_limits.limits import Charge, LimitStatus
from contentapi.rate_limits.memory import MAX_KEYS, InProcessStorage

LOG = logging.getLogger("contentapi.rate_limits")

REDIS_TIMEOUT = 0.2  # seconds
RETRY_INTERVAL = 5.0  # seconds between two attempts to use a Redis that has failed

Outcome = tuple[bool, list[LimitStatus]]  # whether the charges were consumed, and the status of each limit


class Counter(Protocol):
    def consume(self, key: str, charges: Sequence[Charge]) -> Outcome:
        """Consume all charges, or none of them."""

    def refund(self, key: str, charges: Sequence[Charge]) -> None:
        """Give consumed charges back."""


class MovingWindows(ABC):
    """Counts in one storage. `clock` is the storage's own."""

    def __init__(self, storage: Any, clock: Callable[[], float]) -> None:
        self.storage = storage
        self.clock = clock

    @abstractmethod
    def storage_key(self, key: str, charge: Charge) -> str:
        """Return the key under which the storage counts a charge."""

    def get_status(self, key: str, charge: Charge) -> LimitStatus:
        amount, window = charge.spec.amount, charge.spec.window
        oldest, count = self.storage.get_moving_window(self.storage_key(key, charge), amount, window)
        return LimitStatus(charge.limit, max(0, amount - count), max(1, ceil(oldest + window - self.clock())))

    def get_refused_status(self, key: str, charge: Charge) -> LimitStatus:
        """Return the status with the wait until the whole request would succeed, its earlier charges included."""
        window = charge.spec.window
        # The request succeeds when the oldest of this many newest units leaves the window.
        blocking = charge.spec.amount - charge.total + 1
        oldest, count = self.storage.get_moving_window(self.storage_key(key, charge), blocking, window)
        status = self.get_status(key, charge)
        if count < blocking:
            return status
        wait = max(1, floor(oldest + window - self.clock()) + 1)
        return status._replace(reset_in=wait, wait=wait)


class RedisWindows(MovingWindows):
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
        consumed: bool = self.storage.acquire_entry(
            self.storage_key(key, charge), spec.amount, spec.window, amount=charge.amount
        )
        return consumed

    def storage_key(self, key: str, charge: Charge) -> str:
        return charge.spec.item.key_for(charge.limit.name, charge.key or key)


class InProcessCounter(MovingWindows):
    """Counts in this process. All charges of a request are one atomic step."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, max_keys: int = MAX_KEYS) -> None:
        super().__init__(InProcessStorage(clock=clock, max_keys=max_keys), clock)

    def consume(self, key: str, charges: Sequence[Charge]) -> Outcome:
        consumptions = []
        for charge in charges:
            _, most, window, policy = charge.spec
            consumptions.append((f"{policy}/{charge.key or key}", most, window, charge.amount))
        left = self.storage.consume_all(consumptions)
        if left is None:
            return False, [self.get_refused_status(key, charge) for charge in charges]
        return True, [
            LimitStatus(charge.limit, remaining, ceil(seconds) or 1)
            for charge, (remaining, seconds) in zip(charges, left, strict=True)
        ]

    def refund(self, key: str, charges: Sequence[Charge]) -> None:
        for charge in charges:
            self.storage.refund(self.storage_key(key, charge), charge.amount)

    def storage_key(self, key: str, charge: Charge) -> str:
        return f"{charge.spec.policy}/{charge.key or key}"


class RedisCounter:
    """Counts in Redis. While Redis is down, counts in this process, so that no request fails."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        from redis.backoff import NoBackoff
        from redis.exceptions import RedisError
        from redis.retry import Retry

        self.failures = (RedisError, OSError)
        timeouts = {"socket_timeout": REDIS_TIMEOUT, "socket_connect_timeout": REDIS_TIMEOUT}
        options: Any = {**timeouts, "retry": Retry(NoBackoff(), 0)}
        self.redis = RedisWindows(RedisStorage(url, key_prefix="contentapi", **options), time.time)
        self.fallback = InProcessCounter()
        self.clock = clock
        self.lock = Lock()
        self.is_down = False
        self.retry_at = self.silent_until = float("-inf")
        self.counted_in_process = 0

    def consume(self, key: str, charges: Sequence[Charge]) -> Outcome:
        if self.may_try():
            try:
                outcome = self.redis.consume(key, charges)
            except self.failures as error:
                self.record_failure(error)
            else:
                if self.is_down:
                    self.record_recovery()
                return outcome
        with self.lock:
            self.counted_in_process += 1
        return self.fallback.consume(key, charges)

    def refund(self, key: str, charges: Sequence[Charge]) -> None:
        """Give charges back where requests are counted now. Charges from before a failure of Redis stay consumed."""
        if self.is_down:
            self.fallback.refund(key, charges)
            return
        try:
            storage = self.redis.storage  # has no refund; stores a list for each key, the newest unit first
            for charge in charges:
                storage.storage.lpop(storage.prefixed_key(self.redis.storage_key(key, charge)), charge.amount)
        except self.failures as error:
            self.record_failure(error)

    def may_try(self) -> bool:
        """Return whether to use Redis. After each interval one request tries it; the others do not wait for it."""
        if not self.is_down:
            return True
        with self.lock:
            now = self.clock()
            if now < self.retry_at:
                return False
            self.retry_at = now + RETRY_INTERVAL
            return True

    def record_failure(self, error: Exception) -> None:
        with self.lock:
            now = self.clock()
            self.is_down, self.retry_at = True, now + RETRY_INTERVAL
            if now >= self.silent_until:
                self.silent_until = now + RETRY_INTERVAL
                # Log the type only: the message may contain the password.
                LOG.error(
                    "Redis is unavailable (%s). Rate limits are counted in this process: %s requests so far. "
                    "Next attempt in %g s.",
                    type(error).__name__,
                    self.counted_in_process,
                    RETRY_INTERVAL,
                )

    def record_recovery(self) -> None:
        with self.lock:
            counted, self.counted_in_process, self.is_down = self.counted_in_process, 0, False
        LOG.warning("Redis is available again. %s requests were counted in this process.", counted)
