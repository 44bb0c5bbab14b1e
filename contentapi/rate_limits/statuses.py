"""What a client learns about a limit: what remains, and how long it waits."""

from math import ceil, floor

import msgspec

from contentapi.rate_limits.limits import Charge, Limit


class LimitStatus(msgspec.Struct, frozen=True):
    """The status of a key at a limit: the remaining amount, and the seconds until more is available."""

    limit: Limit
    remaining: int
    reset_in: int
    wait: int = 0  # seconds until a refused request would succeed; 0 if it succeeds now


def get_window_key(key: str, charge: Charge) -> str:
    return f"{charge.spec.policy}/{charge.key or key}"


def build_status(charge: Charge, used: int, age: float, _: float | None = None) -> LimitStatus:
    """Return the status of a window: its units, and the age of the oldest in seconds."""
    amount, window = charge.spec.amount, charge.spec.window
    return LimitStatus(charge.limit, max(0, amount - used), max(1, ceil(window - age)))


def build_refused_status(charge: Charge, used: int, age: float, age_of_blocker: float | None) -> LimitStatus:
    """Return the status with the wait until the whole request would succeed, its earlier charges included.

    It succeeds when the unit that blocks it leaves the window. None: no unit of this window does.
    """
    status = build_status(charge, used, age)
    if age_of_blocker is None:
        return status
    wait = max(1, floor(charge.spec.window - age_of_blocker) + 1)
    return msgspec.structs.replace(status, reset_in=wait, wait=wait)
