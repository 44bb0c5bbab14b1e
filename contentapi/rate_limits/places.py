"""How many things of one kind a process does at a time, and how many of them for one person or address."""

from collections import Counter
from collections.abc import Hashable
from threading import Lock


class Places:
    """Counts the places in use in a process, in all and for each holder. Thread-safe."""

    def __init__(self, number: int) -> None:
        self.free = number
        self.taken: Counter[Hashable] = Counter()
        self.lock = Lock()

    def enter(self, who: Hashable, most: int) -> bool:
        """Take a place. Return False if there is none, or if they have `most` of them."""
        with self.lock:
            if self.free <= 0 or self.taken[who] >= most:
                return False
            self.free -= 1
            self.taken[who] += 1
            return True

    def leave(self, who: Hashable) -> None:
        with self.lock:
            self.free += 1
            self.taken[who] -= 1
            if not self.taken[who]:
                del self.taken[who]
