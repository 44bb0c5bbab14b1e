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

from contentapi.rate_limits.limits import Charge

MAX_KEYS = 50_000  # in this process
TICKS = 1024  # of a window: units within one tick are one entry


class LimitStatus(msgspec.Struct, frozen=True):
    """The status of a key after a charge: the remaining amount, and the seconds until more is available."""

    charge: Charge
    remaining: int
    reset_in: int
    wait: int = 0  # seconds until a refused request would succeed; 0 if it succeeds now


Outcome = tuple[bool, Sequence[LimitStatus]]  # whether the charges were consumed, and the status of each limit


def count_blocking(charge: Charge) -> int:
    """Return which of the newest units blocks a refused request, its earlier charges included."""
    return charge.spec.amount - charge.total + 1


def build_refusal(charge: Charge, used: int, age: float, age_of_blocker: float | None) -> LimitStatus:
    """Return the status of a window that refuses a request, or beside one: its units, and the age of the oldest.

    A request succeeds when the unit that blocks it leaves the window.
    """
    spec = charge.spec
    wait = 0 if age_of_blocker is None else max(1, floor(spec.window - age_of_blocker) + 1)
    return LimitStatus(charge, max(0, spec.amount - used), wait or max(1, ceil(spec.window - age)), wait)


class Window:
    """The units that one key has consumed, as entries of their latest time and their number, the oldest first.

    A window has about a thousand entries at most, and a unit counts slightly too long, never too short.
    """

    __slots__ = ("entries", "expires", "tick_ends", "used")

    def __init__(self) -> None:
        self.entries: deque[tuple[float, int]] = deque()
        self.used = 0
        self.tick_ends = self.expires = 0.0

    def add(self, charge: Charge, now: float) -> LimitStatus:
        """Add the units of a charge."""
        entries, spec, amount = self.entries, charge.spec, charge.amount
        length = spec.window
        if amount:
            if now < self.tick_ends:
                entries[-1] = now, entries[-1][1] + amount
            else:
                entries.append((now, amount))
                self.tick_ends = now + length / TICKS
            self.used += amount
        oldest = entries[0][0] if entries else now
        # In this order, rounding never exceeds the window.
        return LimitStatus(charge, spec.amount - self.used, ceil(length - (now - oldest)) or 1)

    def remove_unit(self) -> None:
        """Give the newest unit back, if there is one."""
        if self.entries:
            self.tick_ends = 0.0  # so that the next unit does not renew older ones
            moment, newest = self.entries.pop()
            if newest > 1:
                self.entries.append((moment, newest - 1))
            self.used -= 1

    def refuse(self, charge: Charge, now: float) -> LimitStatus:
        """Return the status of a window without room for a charge, or beside one."""
        age = now - self.entries[0][0] if self.entries else 0
        blocker, older = None, self.used - count_blocking(charge)
        if older >= 0:
            blocker = next(now - moment for moment, amount in self.entries if (older := older - amount) < 0)
        return build_refusal(charge, self.used, age, blocker)


class InProcessCounter:
    """Counts in this process, for the keys that were used last, up to a number of keys. Thread-safe.

    A refused client keeps its window while it continues to send requests: new addresses replace idle ones first.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, max_keys: int = MAX_KEYS) -> None:
        self.clock = clock
        self.max_keys = max_keys
        self._windows: OrderedDict[tuple[str, str], Window] = OrderedDict()  # by policy and key
        self._lock = Lock()

    def consume(self, key: str, charges: Sequence[Charge]) -> Outcome:
        """Consume all charges, or none of them. Each has a window of its own."""
        with self._lock:
            now, has_room = self.clock(), True
            opened, statuses = [], []
            for charge in charges:
                window = self._open_window((charge.spec.policy, charge.key or key), charge.spec.window, now)
                opened.append((window, charge))
                has_room = has_room and window.used + charge.amount <= charge.spec.amount
            for window, charge in opened:
                statuses.append(window.add(charge, now) if has_room else window.refuse(charge, now))
            return has_room, statuses

    def refund(self, key: str, charges: Sequence[Charge]) -> None:
        """Give back one unit of each charge."""
        with self._lock:
            for charge in charges:
                window = self._windows.get((charge.spec.policy, charge.key or key))
                if window is not None:
                    window.remove_unit()

    def _open_window(self, name: tuple[str, str], length: int, now: float) -> Window:
        """Return a window, without expired units."""
        window = self._windows.get(name)
        if window is None:
            self._make_room(now)
            window = self._windows[name] = Window()
        else:
            self._windows.move_to_end(name)
        entries, begin = window.entries, now - length
        while entries and entries[0][0] < begin:
            window.used -= entries.popleft()[1]
        window.expires = now + length  # an unexpired window is not replaced
        return window

    def _make_room(self, now: float) -> None:
        """Delete up to two expired windows, and the one that is idle longest if there are too many."""
        for _ in range(2):
            oldest = next(iter(self._windows.values()), None)
            if oldest is None or (oldest.expires >= now and len(self._windows) < self.max_keys):
                return
            self._windows.popitem(last=False)
