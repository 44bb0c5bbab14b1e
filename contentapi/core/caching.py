"""A cache of bounded size, for values whose keys clients can choose."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class BoundedCache(Generic[T]):
    """The most recently used items, up to a total weight. An item that weighs more is not stored. Thread-safe."""

    def __init__(self, limit: int, weigh: Callable[[T], int]) -> None:
        self.limit = limit
        self.weigh = weigh
        self.weight = 0
        self._items: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()  # items with their weights
        self._lock = Lock()

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            found = self._items.get(key)
            if found is None:
                return None
            self._items.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, item: T) -> None:
        weight = self.weigh(item)
        if weight > self.limit:
            return
        with self._lock:
            _, old_weight = self._items.pop(key, (None, 0))
            self.weight -= old_weight
            while self.weight + weight > self.limit:
                _, (_, removed_weight) = self._items.popitem(last=False)
                self.weight -= removed_weight
            self._items[key] = (item, weight)
            self.weight += weight

    def clear(self) -> None:
        with self._lock:
            self._items.clear()
            self.weight = 0
