"""Count in this process.

The MemoryStorage of the `limits` library visits each key in a thread up to a hundred times a second, stores an object
for each unit, and does not limit the number of keys. With ten thousand clients it uses most of a core.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from threading import Lock

MAX_KEYS = 50_000
TICKS = 1024  # of a window: units within one tick are one entry


class KeyWindow:
    """The units that one key has consumed, with their times in seconds of the storage's clock.

    Units within a 1,024th of the window are one entry with the latest time. So a window has about a thousand entries at
    most, and a unit counts slightly too long, never too short.
    """

    __slots__ = ("entries", "expires", "opened", "used")

    def __init__(self) -> None:
        self.entries: deque[tuple[float, int]] = deque()
        self.used = 0
        self.opened = float("-inf")  # the time of the first unit of the newest entry
        self.expires = 0.0

    def consume(self, now: float, limit: int, expiry: int, amount: int) -> tuple[int, float]:
        """Consume an amount. Call `drop_older_than` before, and check that there is room.

        Return the remaining amount, and the seconds until more is available.
        """
        entries = self.entries
        if amount:
            if entries and now - self.opened < expiry / TICKS:
                entries[-1] = (now, entries[-1][1] + amount)
            else:
                entries.append((now, amount))
                self.opened = now
            self.used += amount
            self.expires = now + expiry
        oldest = entries[0][0] if entries else now
        return limit - self.used, oldest + expiry - now

    def refund(self, amount: int) -> None:
        """Give the newest units back, at most all of them."""
        entries = self.entries
        while amount and entries:
            time_of_entry, newest = entries.pop()
            returned = min(amount, newest)
            if newest > returned:
                entries.append((time_of_entry, newest - returned))
            self.used -= returned
            amount -= returned

    def drop_older_than(self, begin: float) -> None:
        entries = self.entries
        while entries and entries[0][0] < begin:
            self.used -= entries.popleft()[1]

    def oldest_of_newest(self, count: int) -> float:
        """Return the time of the oldest of the newest `count` units."""
        older = self.used - count
        for time_of_entry, amount in self.entries:
            older -= amount
            if older < 0:
                return time_of_entry
        raise ValueError("The window is empty.")


Consumption = tuple[str, int, int, int]  # a key, a limit, its window in seconds, and the amount to consume


class InProcessStorage:
    """The windows of the keys that were used last, up to a number of keys. Thread-safe.

    A refused client keeps its window while it continues to send requests: new addresses replace idle ones first.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, max_keys: int = MAX_KEYS) -> None:
        self.clock = clock
        self.max_keys = max_keys
        self._windows: OrderedDict[str, KeyWindow] = OrderedDict()
        self._lock = Lock()

    def consume_all(self, consumptions: Sequence[Consumption]) -> list[tuple[int, float]] | None:
        """Consume all amounts, or none of them.

        Return the remaining amount of each limit and the seconds until more is available. Return None if one of them
        has no room.
        """
        with self._lock:
            now = self.clock()
            windows = []
            totals: dict[str, int] = {}  # by key: several amounts may have the same key
            for key, limit, expiry, amount in consumptions:
                window = self._window(key, expiry, now)
                window.drop_older_than(now - expiry)
                totals[key] = totals.get(key, 0) + amount
                if window.used + totals[key] > limit:
                    return None
                windows.append(window)
            return [
                window.consume(now, limit, expiry, amount)
                for window, (_, limit, expiry, amount) in zip(windows, consumptions, strict=True)
            ]

    def refund(self, key: str, amount: int) -> None:
        with self._lock:
            window = self._windows.get(key)
            if window is not None:
                window.refund(amount)

    def _window(self, key: str, expiry: int, now: float) -> KeyWindow:
        window = self._windows.get(key)
        if window is None:
            self._make_room(now)
            window = self._windows[key] = KeyWindow()
        else:
            self._windows.move_to_end(key)
        if window.expires < now + expiry:  # an unexpired window is not replaced
            window.expires = now + expiry
        return window

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """Return the time of the oldest of the newest `limit` units, and their number, which may be less."""
        with self._lock:
            now = self.clock()
            window = self._windows.get(key)
            if window is None:
                return now, 0
            window.drop_older_than(now - expiry)
            count = min(window.used, limit)
            return (window.oldest_of_newest(count), count) if count else (now, 0)

    def _make_room(self, now: float) -> None:
        """Delete up to two expired windows, and the one that is idle longest if there are too many."""
        for _ in range(2):
            key, window = next(iter(self._windows.items()), ("", None))
            if window is None or (window.expires >= now and len(self._windows) < self.max_keys):
                return
            del self._windows[key]
