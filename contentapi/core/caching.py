"""A cache with a bound, for what clients can make ever new ones of."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class BoundedCache(Generic[T]):
    """What was used last, up to a total weight; what weighs more by itself is not kept. Any thread may use it."""

    def __init__(self, limit: int, weigh: Callable[[T], int]) -> None:
        self.limit = limit
        self.weigh = weigh
        self.weight = 0
        self._items: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()  # with their weights, as they were put in
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
            _, former = self._items.pop(key, (None, 0))
            self.weight += weight - former
            while self.weight > self.limit:
                _, (_, lightened) = self._items.popitem(last=False)
                self.weight -= lightened
            self._items[key] = (item, weight)

    def clear(self) -> None:
        with self._lock:
            self._items.clear()
            self.weight = 0
