"""Count charges in this process: a sliding window for each key and limit.

Each unit has its time. So no interval of the length of the window has more units than the limit, wherever it begins.
`contentapi.rate_limits.redis_windows` counts in the same way for several processes.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from math import ceil, floor
from threading import Lock

import msgspec

from contentapi.rate_limits.limits import Charge, Limit

MAX_KEYS = 50_000  # in this process
TICKS = 1024  # of a window: units within one tick are one entry


class LimitStatus(msgspec.Struct, frozen=True):
    """The status of a key at a limit: the remaining amount, and the seconds until more is available."""

    limit: Limit
    remaining: int
    reset_in: int
    wait: int = 0  # seconds until a refused request would succeed; 0 if it succeeds now


Outcome = tuple[bool, list[LimitStatus]]  # whether the charges were consumed, and the status of each limit


def get_window_key(key: str, charge: Charge) -> str:
    return f"{charge.spec.policy}/{charge.key or key}"


def count_blocking(charge: Charge) -> int:
    """Return which of the newest units blocks a refused request, its earlier charges included."""
    return charge.spec.amount - charge.total + 1


def build_status(charge: Charge, used: int, age: float, age_of_blocker: float | None) -> LimitStatus:
    """Return the status of a window: its units, the age of the oldest and, if one blocks the request, that one's.

    A refused request succeeds when the unit that blocks it leaves the window.
    """
    spec = charge.spec
    wait = 0 if age_of_blocker is None else max(1, floor(spec.window - age_of_blocker) + 1)
    return LimitStatus(charge.limit, max(0, spec.amount - used), wait or max(1, ceil(spec.window - age)), wait)


class Window:
    """The units that one key has consumed, as entries of their latest time and their number, the oldest first.

    A window has about a thousand entries at most, and a unit counts slightly too long, never too short.
    """

    __slots__ = ("entries", "expires", "used")

    def __init__(self) -> None:
        self.entries: deque[tuple[float, int]] = deque()
        self.used = 0
        self.expires = 0.0

    def drop_older_than(self, begin: float) -> None:
        entries = self.entries
        while entries and entries[0][0] < begin:
            self.used -= entries.popleft()[1]

    def add(self, now: float, length: int, amount: int) -> float:
        """Add units. Return the seconds until the oldest leave the window."""
        entries = self.entries
        if amount:
            if entries and entries[-1][0] * TICKS // length == now * TICKS // length:
                entries[-1] = now, entries[-1][1] + amount
            else:
                entries.append((now, amount))
            self.used += amount
        oldest = entries[0][0] if entries else now
        return length - (now - oldest)  # in this order, rounding never exceeds the window

    def remove_unit(self) -> None:
        """Give the newest unit back, if there is one."""
        if self.entries:
            moment, newest = self.entries.pop()
            if newest > 1:
                self.entries.append((moment, newest - 1))
            self.used -= 1

    def refuse(self, now: float, charge: Charge) -> LimitStatus:
        """Return the status of a window without room for a charge, or beside one."""
        blocking = count_blocking(charge)
        age = now - self.find_oldest(self.used) if self.used else 0
        return build_status(charge, self.used, age, now - self.find_oldest(blocking) if self.used >= blocking else None)

    def find_oldest(self, count: int) -> float:
        """Return the time of the oldest of the `count` newest units."""
        older = self.used - count
        return next(moment for moment, amount in self.entries if (older := older - amount) < 0)


class InProcessCounter:
    """Counts in this process, for the keys that were used last, up to a number of keys. Thread-safe.

    A refused client keeps its window while it continues to send requests: new addresses replace idle ones first.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, max_keys: int = MAX_KEYS) -> None:
        self.clock = clock
        self.max_keys = max_keys
        self._windows: OrderedDict[str, Window] = OrderedDict()
        self._lock = Lock()

    def consume(self, key: str, charges: Sequence[Charge]) -> Outcome:
        """Consume all charges, or none of them. Each has a window of its own."""
        with self._lock:
            now, has_room = self.clock(), True
            windows: list[tuple[Window, Charge]] = []
            for charge in charges:
                window = self._get_or_create_window(get_window_key(key, charge), charge.spec.window, now)
                windows.append((window, charge))
                if window.used + charge.amount > charge.spec.amount:
                    has_room = False
            if not has_room:
                return False, [window.refuse(now, charge) for window, charge in windows]
            statuses = []
            for window, charge in windows:
                seconds = window.add(now, charge.spec.window, charge.amount)
                statuses.append(LimitStatus(charge.limit, charge.spec.amount - window.used, ceil(seconds) or 1))
            return True, statuses

    def refund(self, key: str, charges: Sequence[Charge]) -> None:
        """Give back one unit of each charge."""
        with self._lock:
            for charge in charges:
                window = self._windows.get(get_window_key(key, charge))
                if window is not None:
                    window.remove_unit()

    def _get_or_create_window(self, window_key: str, length: int, now: float) -> Window:
        """Return the window of a key, without expired units."""
        window = self._windows.get(window_key)
        if window is None:
            self._make_room(now)
            window = self._windows[window_key] = Window()
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
