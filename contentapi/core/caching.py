"""A cache of bounded size, for values whose keys clients can choose."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, TypeVar

from contentapi.monitoring.figures import FIGURES, Sample

T = TypeVar("T")
NAMED_CACHES: dict[str, "BoundedCache[Any]"] = {}


@dataclass(slots=True)
class CachedItem(Generic[T]):
    item: T
    weight: int
    is_used: bool = False  # since it was last considered for removal


class BoundedCache(Generic[T]):
    """The recently used items, up to a total weight. An item that weighs more is not stored. Thread-safe.

    The oldest item is removed first, but one that was used becomes the newest instead. So a look-up changes no order:
    it needs no lock, and no second hash of the key. Metrics show a cache that has a `name`.
    """

    def __init__(self, limit: int, weigh: Callable[[T], int], name: str = "") -> None:
        self.hits = self.misses = 0
        if name:
            NAMED_CACHES[name] = self
        self.limit = limit
        self.weigh = weigh
        self.weight = 0
        self.items: OrderedDict[Hashable, CachedItem[T]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> T | None:
        found = self.items.get(key)
        if found is None:
            self.misses += 1
            return None
        self.hits += 1
        found.is_used = True
        return found.item

    def put(self, key: Hashable, item: T) -> None:
        weight = self.weigh(item)
        if weight > self.limit:
            return
        with self._lock:
            replaced = self.items.pop(key, None)
            total = self.weight + weight - (replaced.weight if replaced else 0)
            while total > self.limit:
                oldest, found = self.items.popitem(last=False)
                if found.is_used:
                    found.is_used, self.items[oldest] = False, found
                else:
                    total -= found.weight
            self.items[key], self.weight = CachedItem(item, weight), total  # metrics read the weight without the lock

    def clear(self) -> None:
        with self._lock:
            self.items.clear()
            self.weight = 0


def count_lookups() -> Iterator[Sample]:
    """Yield how often each named cache had an item, and how often not."""
    for name, cache in NAMED_CACHES.items():
        yield "contentapi_cache_hits_total", (name,), cache.hits
        yield "contentapi_cache_misses_total", (name,), cache.misses


def measure_caches() -> Iterator[Sample]:
    """Yield the number of items and the weight of each named cache."""
    for name, cache in NAMED_CACHES.items():
        yield "contentapi_cache_items", (name,), len(cache.items)
        yield "contentapi_cache_weight", (name,), cache.weight


FIGURES.counter_sources.append(count_lookups)
FIGURES.gauge_sources.append(measure_caches)
