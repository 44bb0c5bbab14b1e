"""Counting in this process, in the shape that the `limits` library gives a storage.

The library's own MemoryStorage walks through every key in a thread of its own, up to a hundred times a second, keeps an
object for each unit of an amount, and its keys have no bound: with ten thousand clients it is busy with itself.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from threading import Lock

from limits.storage import MovingWindowSupport, Storage

MOST_KEYS = 50_000
TICKS = 1024


class KeyWindow:
    """What one key has taken: when, and how much. Times are seconds of the storage's clock.

    What comes within a 1,024th of the window is kept as one entry, at its latest time: so a window holds no more
    than some thousand entries, and what is taken counts for that much too long rather than too short.
    """

    __slots__ = ("entries", "expires", "opened", "used")

    def __init__(self) -> None:
        self.entries: deque[tuple[float, int]] = deque()
        self.used = 0
        self.opened = float("-inf")  # when the newest entry was begun
        self.expires = 0.0

    def take(self, now: float, limit: int, expiry: int, amount: int) -> tuple[int, float]:
        """Take an amount, for which `drop_older_than` has shown that there is room.

        Returns what is left, and in how many seconds more of it is back.
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
        """Give back the newest units, at most all of them."""
        entries = self.entries
        while amount and entries:
            moment, newest = entries.pop()
            returned = min(amount, newest)
            if newest > returned:
                entries.append((moment, newest - returned))
            self.used -= returned
            amount -= returned

    def drop_older_than(self, begin: float) -> None:
        entries = self.entries
        while entries and entries[0][0] < begin:
            self.used -= entries.popleft()[1]

    def reaching(self, count: int) -> float:
        """Return when the oldest of the newest `count` units was taken. Looks from the end that is nearer to it."""
        older = self.used - count
        for moment, amount in self.entries:
            older -= amount
            if older < 0:
                return moment
        raise ValueError("Nothing was taken.")


Spending = tuple[str, int, int, int]  # a key, a limit, in how many seconds it may be taken, and how much is taken now


class InProcessStorage(Storage, MovingWindowSupport):
    """The windows that were asked for last, up to a number of keys. Any thread may use it.

    A client that asks again and again stays, also while it is refused: ever new addresses push out idle ones first.
    Where a key has no room, those named after it are left as they are.
    """

    STORAGE_SCHEME = None

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, most_keys: int = MOST_KEYS) -> None:
        super().__init__()
        self.clock = clock
        self.most_keys = most_keys
        self._windows: OrderedDict[str, KeyWindow] = OrderedDict()
        self._lock = Lock()

    @property
    def base_exceptions(self) -> type[Exception]:
        return ValueError

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        return self.spend([(key, limit, expiry, amount)]) is not None

    def spend(self, spendings: Sequence[Spending]) -> list[tuple[int, float]] | None:
        """Take all amounts, or none of them. Returns for each what is left of its limit, and in how many seconds more
        of it is back; None where one has no room.
        """
        with self._lock:
            now = self.clock()
            windows = []
            asked: dict[str, int] = {}  # several amounts may be of one key
            for key, limit, expiry, amount in spendings:
                window = self._window(key, expiry, now)
                window.drop_older_than(now - expiry)
                asked[key] = asked.get(key, 0) + amount
                if window.used + asked[key] > limit:
                    return None
                windows.append(window)
            return [
                window.take(now, limit, expiry, amount)
                for window, (_, limit, expiry, amount) in zip(windows, spendings, strict=True)
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
        if window.expires < now + expiry:  # not before then may it make room for another
            window.expires = now + expiry
        return window

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """Return when the oldest of the newest units was taken, and how many these are, looking at `limit` at most."""
        with self._lock:
            now = self.clock()
            window = self._windows.get(key)
            if window is None:
                return now, 0
            window.drop_older_than(now - expiry)
            count = min(window.used, limit)
            return (window.reaching(count), count) if count else (now, 0)

    def _make_room(self, now: float) -> None:
        """Let go of up to two windows that are over, and of the one longest idle where there are too many."""
        for _ in range(2):
            key, window = next(iter(self._windows.items()), ("", None))
            if window is None or (window.expires >= now and len(self._windows) < self.most_keys):
                return
            del self._windows[key]

    def check(self) -> bool:
        return True

    def get(self, key: str) -> int:
        """Return what a key has taken, by what was dropped of it so far."""
        window = self._windows.get(key)
        return window.used if window else 0

    def get_expiry(self, key: str) -> float:
        window = self._windows.get(key)
        return window.expires if window else self.clock()

    def clear(self, key: str) -> None:
        self._windows.pop(key, None)

    def reset(self) -> int:
        count = len(self._windows)
        self._windows.clear()
        return count

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:  # noqa: ARG002 - the library's signature
        raise TypeError("This storage is for moving windows, not for fixed ones.")
