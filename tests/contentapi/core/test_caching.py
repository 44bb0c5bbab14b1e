"""Which items a bounded cache stores and drops."""

from concurrent.futures import ThreadPoolExecutor

from contentapi.core.caching import BoundedCache


def lengths(limit: int) -> BoundedCache[str]:
    return BoundedCache(limit, weigh=len)


def test_item_is_found_until_the_cache_is_cleared() -> None:
    cache = lengths(10)
    cache.put("a", "aaa")

    found = [cache.get("a"), cache.get("b")]
    cache.clear()

    assert found == ["aaa", None]
    assert [cache.get("a"), cache.weight] == [None, 0]


def test_least_recently_used_item_is_dropped_first() -> None:
    cache = lengths(9)
    for key in "abc":
        cache.put(key, key * 3)

    cache.get("a")
    cache.put("d", "dd")

    assert [cache.get(key) for key in "abcd"] == ["aaa", None, "ccc", "dd"]
    assert cache.weight == 8


def test_heavy_item_replaces_as_many_items_as_necessary() -> None:
    cache = lengths(9)
    for key in "abc":
        cache.put(key, key * 3)

    cache.put("d", "d" * 7)

    assert [cache.get(key) for key in "abcd"] == [None, None, None, "d" * 7]


def test_item_above_the_limit_is_not_stored_and_replaces_nothing() -> None:
    cache = lengths(9)
    cache.put("a", "a" * 9)

    cache.put("b", "b" * 10)

    assert (cache.get("a"), cache.get("b"), cache.weight) == ("a" * 9, None, 9)


def test_second_item_of_a_key_replaces_the_first() -> None:
    cache = lengths(9)
    cache.put("a", "aaa")

    cache.put("a", "aaaaa")

    assert (cache.get("a"), cache.weight) == ("aaaaa", 5)


def test_concurrent_threads_leave_the_cache_consistent() -> None:
    cache = lengths(100)

    def use_cache(thread: int) -> bool:
        is_consistent = True
        for turn in range(3000):
            number = (turn * (thread + 1)) % 60
            is_consistent &= cache.get(number) in (None, "x" * (number % 12))
            cache.put(number, "x" * (number % 12))
            is_consistent &= cache.weight <= 100
        return is_consistent

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(use_cache, range(8)))

    assert all(results)
    assert cache.weight == sum(len(cache.get(number) or "") for number in range(60))
