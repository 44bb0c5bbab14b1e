"""How this project reaches Redis: one set of options, and a circuit breaker for those who can do without it."""

import time
from collections.abc import Callable
from logging import Logger
from threading import Lock
from typing import Any, TypeVar

from contentapi.conf.timeouts import REDIS_RETRY_INTERVAL, REDIS_TIMEOUT
from contentapi.monitoring.traces import trace

T = TypeVar("T")


def connect_redis(url: str, *, timeout: float) -> Any:
    """Return a client, which connects at its first command and repeats none. The time-out is in seconds."""
    from redis import Redis  # takes a tenth of a second: only processes with a Redis import it
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return Redis.from_url(url, socket_timeout=timeout, socket_connect_timeout=timeout, retry=Retry(NoBackoff(), 0))


class RedisUnavailable(Exception):
    """Redis has failed, now or a moment ago."""


class GuardedRedis:
    """A Redis that fails at once while it is down: after a failure, one caller tries it in each interval. Thread-safe.

    A loss is logged once in each interval, with its consequence and the type of the error: a message of redis-py may
    contain the password. The first success after a failure is logged too.
    """

    def __init__(self, url: str, log: Logger, consequence: str, clock: Callable[[], float] = time.monotonic) -> None:
        from redis.exceptions import RedisError

        self.client = connect_redis(url, timeout=REDIS_TIMEOUT)
        self.failures = (RedisError, OSError)
        self.log = log
        self.consequence = consequence
        self.clock = clock
        self.lock = Lock()
        self.is_failing = False
        self.retry_at = self.silent_until = float("-inf")

    def execute(self, name: str, command: Callable[[], T]) -> T:
        """Return the result of a command, under whose name a span appears. Raises `RedisUnavailable`."""
        if self.is_failing and not self.may_try_again():
            raise RedisUnavailable
        try:
            with trace(f"redis {name}", {"db.system.name": "redis"}):
                result = command()
        except self.failures as error:
            self.note_failure(type(error).__name__)
            raise RedisUnavailable from None
        if self.is_failing:
            with self.lock:
                was_failing, self.is_failing = self.is_failing, False
            if was_failing:
                self.log.warning("Redis is available again.")
        return result

    def may_try_again(self) -> bool:
        with self.lock:
            now = self.clock()
            if now < self.retry_at:
                return False
            self.retry_at = now + REDIS_RETRY_INTERVAL
            return True

    def note_failure(self, error: str) -> None:
        with self.lock:
            now = self.clock()
            self.is_failing, self.retry_at = True, now + REDIS_RETRY_INTERVAL
            is_silent = now < self.silent_until
            if not is_silent:
                self.silent_until = self.retry_at
        if not is_silent:
            self.log.error("Redis is unavailable (%s). %s", error, self.consequence)
