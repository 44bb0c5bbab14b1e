"""A circuit breaker: stop using a service that fails, and try it again after an interval."""

import time
from collections.abc import Callable
from threading import Lock


class CircuitBreaker:
    """Whether to use a service. After a failure, one caller tries it after each interval, in seconds. Thread-safe."""

    def __init__(self, interval: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.interval = interval
        self.clock = clock
        self.lock = Lock()
        self.is_open = False
        self.retry_at = self.silent_until = float("-inf")

    def may_try(self) -> bool:
        """Return whether to use the service. The callers between two attempts do not wait for it."""
        if not self.is_open:
            return True
        with self.lock:
            now = self.clock()
            if now < self.retry_at:
                return False
            self.retry_at = now + self.interval
            return True

    def record_failure(self) -> bool:
        """Open the circuit. Return whether to log the failure: once in each interval."""
        with self.lock:
            now = self.clock()
            self.is_open, self.retry_at = True, now + self.interval
            must_log = now >= self.silent_until
            if must_log:
                self.silent_until = now + self.interval
            return must_log

    def record_success(self) -> bool:
        """Close the circuit. Return whether it was open."""
        if not self.is_open:
            return False
        with self.lock:
            was_open, self.is_open = self.is_open, False
            return was_open
