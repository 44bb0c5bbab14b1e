"""A sliding window in memory."""

from collections import deque

TICKS = 1024  # of a window: units within one tick are one entry


class KeyWindow:
    """The units that one key has consumed, with their times in seconds of the counter's clock.

    Units within a 1,024th of the window are one entry with the latest time. So a window has about a thousand entries at
    most, and a unit counts slightly too long, never too short.
    """

    __slots__ = ("entries", "expires", "opened", "used")

    def __init__(self) -> None:
        self.entries: deque[tuple[float, int]] = deque()
        self.used = 0
        self.opened = float("-inf")  # the time of the first unit of the newest entry
        self.expires = 0.0

    def consume(self, now: float, expiry: int, amount: int) -> float:
        """Consume an amount. Return the seconds until more is available.

        Call `drop_older_than` before, and check that there is room.
        """
        entries = self.entries
        if amount:
            if entries and now - self.opened < expiry / TICKS:
                entries[-1] = (now, entries[-1][1] + amount)
            else:
                entries.append((now, amount))
                self.opened = now
            self.used += amount
        oldest = entries[0][0] if entries else now
        return expiry - (now - oldest)  # in this order, rounding never exceeds the window

    def refund(self, amount: int) -> None:
        """Give the newest units back, at most all of them."""
        entries = self.entries
        while amount and entries:
            time_of_entry, newest = entries.pop()
            returned = min(amount, newest)
            if newest > returned:
                entries.append((time_of_entry, newest - returned))
            else:
                self.opened = float("-inf")  # the next unit must not join an older entry, whose time would change
            self.used -= returned
            amount -= returned

    def drop_older_than(self, begin: float) -> None:
        entries = self.entries
        while entries and entries[0][0] < begin:
            self.used -= entries.popleft()[1]

    def get_oldest_of_newest(self, count: int) -> float:
        older = self.used - count
        for time_of_entry, amount in self.entries:
            older -= amount
            if older < 0:
                return time_of_entry
        raise ValueError("The window is empty.")
