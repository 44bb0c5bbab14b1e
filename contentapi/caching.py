"""A cache with a bound, for what clients can make ever new ones of."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

from cachetools import LRUCache

T = TypeVar("T")


class BoundedCache(Generic[T]):
    """What was used last, up to a total weight; what weighs more by itself is not kept. Any thread may use it."""

    def __init__(self, limit: int, weigh: Callable[[T], int]) -> None:
        self._items: LRUCache[Hashable, T] = LRUCache(limit, getsizeof=weigh)
        self._lock = Lock()

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            try:  # its `get` looks twice
                return self._items[key]
            except KeyError:
                return None

    def put(self, key: Hashable, item: T) -> None:
        with self._lock:
            if self._items.getsizeof(item) <= self._items.maxsize:
                self._items[key] = item

    def clear(self) -> None:
        with self._lock:
            self._items.clear()

    @property
    def weight(self) -> float:
        return self._items.currsize
