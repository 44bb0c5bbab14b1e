"""Where charges are counted: in this process, or in a Redis that several processes share.

Both count by the moving window of the `limits` library: every unit is remembered with its time, so that no interval as
long as the window holds more than the limit, wherever it begins.
"""

import logging
import time
from collections.abc import Callable, Sequence
from math import ceil, floor
from threading import Lock
from typing import Any, Protocol

from limits.storage import RedisStorage
from limits.strategies import MovingWindowRateLimiter

from contentapi.rate_limits.limits import Charge, LimitStatus
from contentapi.rate_limits.memory import InProcessStorage

LOG = logging.getLogger("contentapi.rates")

PATIENCE = 0.2  # seconds for an answer of Redis
PAUSE = 5.0  # seconds in which a Redis that failed is left alone

Outcome = tuple[bool, list[LimitStatus]]


class Counter(Protocol):
    def take(self, key: str, charges: Sequence[Charge]) -> Outcome:
        """Take all charges, or none of them. Returns whether they were taken, and how the key stands now."""

    def refund(self, key: str, charges: Sequence[Charge]) -> None:
        """Give back charges that were taken."""


class MovingWindows:
    """Counts in one storage. `clock` is the storage's own."""

    def __init__(self, storage: Any, clock: Callable[[], float]) -> None:
        self.storage = storage
        self.clock = clock
        self.limiter = MovingWindowRateLimiter(storage)

    def take(self, key: str, charges: Sequence[Charge]) -> Outcome:
        taking = [charge for charge in charges if charge.amount]
        # Between looking and taking, another may take the last place: then the first of two has been taken in vain.
        fits = len(taking) < 2 or all(self.has_room(key, charge) for charge in taking)
        if fits and all(self.hit(key, charge) for charge in taking):
            return True, [self.standing(key, charge) for charge in charges]
        return False, [self.refusal(key, charge) for charge in charges]

    def has_room(self, key: str, charge: Charge) -> bool:
        return self.limiter.test(charge.terms.item, charge.limit.name, charge.key or key, cost=charge.amount)

    def hit(self, key: str, charge: Charge) -> bool:
        return self.limiter.hit(charge.terms.item, charge.limit.name, charge.key or key, cost=charge.amount)

    def place(self, key: str, charge: Charge) -> str:
        """Return the storage's key of what is counted together."""
        return charge.terms.item.key_for(charge.limit.name, charge.key or key)

    def standing(self, key: str, charge: Charge) -> LimitStatus:
        returns_at, remaining = self.limiter.get_window_stats(charge.terms.item, charge.limit.name, charge.key or key)
        return LimitStatus(charge.limit, max(0, remaining), max(1, ceil(returns_at - self.clock())))

    def refusal(self, key: str, charge: Charge) -> LimitStatus:
        """Say in how many seconds the whole request would have room: what it has paid before still counts then."""
        window = charge.terms.window
        in_the_way = charge.terms.amount - charge.total + 1
        oldest, count = self.storage.get_moving_window(self.place(key, charge), in_the_way, window)
        standing = self.standing(key, charge)
        if count < in_the_way:
            return standing
        wait = max(1, floor(oldest + window - self.clock()) + 1)
        return standing._replace(returns_in=wait, wait=wait)


class InProcessCounter(MovingWindows):
    """Counts in this process, where all charges of a request are one step."""

    storage: InProcessStorage

    def __init__(self) -> None:
        super().__init__(InProcessStorage(), time.monotonic)

    def take(self, key: str, charges: Sequence[Charge]) -> Outcome:
        spendings = []
        for charge in charges:
            _, most, window, policy = charge.terms
            spendings.append((f"{policy}/{charge.key or key}", most, window, charge.amount))
        left = self.storage.spend(spendings)
        if left is None:
            return False, [self.refusal(key, charge) for charge in charges]
        return True, [
            LimitStatus(charge.limit, remaining, ceil(seconds) or 1)
            for charge, (remaining, seconds) in zip(charges, left, strict=True)
        ]

    def refund(self, key: str, charges: Sequence[Charge]) -> None:
        for charge in charges:
            self.storage.refund(self.place(key, charge), charge.amount)

    def place(self, key: str, charge: Charge) -> str:
        return f"{charge.terms.policy}/{charge.key or key}"

    def standing(self, key: str, charge: Charge) -> LimitStatus:
        amount, window = charge.terms.amount, charge.terms.window
        oldest, count = self.storage.get_moving_window(self.place(key, charge), amount, window)
        return LimitStatus(charge.limit, amount - count, max(1, ceil(oldest + window - self.clock())))


class RedisCounter:
    """Counts in Redis. While that is gone, in this process: requests go on."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        from redis.backoff import NoBackoff
        from redis.exceptions import RedisError
        from redis.retry import Retry

        self.failures = (RedisError, OSError)
        options: Any = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE, "retry": Retry(NoBackoff(), 0)}
        self.redis = MovingWindows(RedisStorage(url, key_prefix="contentapi", **options), time.time)
        self.meanwhile = InProcessCounter()
        self.clock = clock
        self.lock = Lock()
        self.gone = False
        self.try_again_at = self.quiet_until = float("-inf")
        self.counted_meanwhile = 0

    def take(self, key: str, charges: Sequence[Charge]) -> Outcome:
        if self.may_try():
            try:
                outcome = self.redis.take(key, charges)
            except self.failures as trouble:
                self.record_failure(trouble)
            else:
                if self.gone:
                    self.record_recovery()
                return outcome
        with self.lock:
            self.counted_meanwhile += 1
        return self.meanwhile.take(key, charges)

    def refund(self, key: str, charges: Sequence[Charge]) -> None:
        """Give back charges where requests are counted now. After a failure of Redis they stay taken."""
        if self.gone:
            self.meanwhile.refund(key, charges)
            return
        try:
            storage = self.redis.storage  # has no refund; keeps a list for each key, the newest unit first
            for charge in charges:
                storage.storage.lpop(storage.prefixed_key(self.redis.place(key, charge)), charge.amount)
        except self.failures as error:
            self.record_failure(error)

    def may_try(self) -> bool:
        """Say whether to ask Redis. After a pause one request tries it, and the others need not wait for it."""
        if not self.gone:
            return True
        with self.lock:
            now = self.clock()
            if now < self.try_again_at:
                return False
            self.try_again_at = now + PAUSE
            return True

    def record_failure(self, trouble: Exception) -> None:
        with self.lock:
            now = self.clock()
            self.gone, self.try_again_at = True, now + PAUSE
            if now >= self.quiet_until:
                self.quiet_until = now + PAUSE
                # Its words may repeat what was sent, a password too: the kind of failure must do.
                LOG.error(
                    "Redis fails (%s). Requests go on, counted in process: %s so far. It is tried again in %g s.",
                    type(trouble).__name__,
                    self.counted_meanwhile,
                    PAUSE,
                )

    def record_recovery(self) -> None:
        with self.lock:
            counted, self.counted_meanwhile, self.gone = self.counted_meanwhile, 0, False
        LOG.warning("Redis is back. %s requests were counted in process meanwhile.", counted)
