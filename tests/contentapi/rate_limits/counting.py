"""Limits, and counters with a clock that the test moves, for the tests of counting."""

from typing import Any

from contentapi.rate_limits.counters import InProcessCounter
from contentapi.rate_limits.limits import Charge, Limit

WINDOW, LIMIT = 60, 10


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Ten(Limit):
    """A limit that no setting changes."""

    text = f"{LIMIT}/minute"


TEN = Ten("anonymous")


def consume(counter: InProcessCounter, amount: int = 1, key: str = "somebody") -> tuple[bool, Any]:
    taken, [status] = counter.consume(key, [Charge.to(amount, TEN)])
    return taken, status
