"""A cache of bounded size, for values whose keys clients can choose."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from threading import Lock
from typing import Any, Generic, TypeVar

from contentapi.monitoring.figures import FIGURES, Sample

T = TypeVar("T")
NAMED_CACHES: dict[str, "BoundedCache[Any]"] = {}


class BoundedCache(Generic[T]):
    """The most recently used items, up to a total weight. An item that weighs more is not stored. Thread-safe.

    Metrics show a cache that has a `name`.
    """

    def __init__(self, limit: int, weigh: Callable[[T], int], name: str = "") -> None:
        self.hits = self.misses = 0
        if name:
            NAMED_CACHES[name] = self
        self.limit = limit
        self.weigh = weigh
        self.weight = 0
        self._items: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()  # items with their weights
        self._lock = Lock()

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            found = self._items.get(key)
            if found is None:
                self.misses += 1
                return None
            self.hits += 1
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

    def count_items(self) -> int:
        return len(self._items)

    def clear(self) -> None:
        with self._lock:
            self._items.clear()
            self.weight = 0


def count_lookups() -> Iterator[Sample]:
    """Yield how often each named cache had an item, and how often not."""
    for name, cache in NAMED_CACHES.items():
        yield "contentapi_cache_hits_total", (name,), cache.hits
        yield "contentapi_cache_misses_total", (name,), cache.misses


def measure_caches() -> Iterator[Sample]:
    """Yield the number of items and the weight of each named cache."""
    for name, cache in NAMED_CACHES.items():
        yield "contentapi_cache_items", (name,), cache.count_items()
        yield "contentapi_cache_weight", (name,), cache.weight


FIGURES.counter_sources.append(count_lookups)
FIGURES.gauge_sources.append(measure_caches)
