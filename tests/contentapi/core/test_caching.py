"""What a bounded cache keeps, and what it lets go."""

from concurrent.futures import ThreadPoolExecutor

from contentapi.core.caching import BoundedCache


def lengths(limit: int) -> BoundedCache[str]:
    return BoundedCache(limit, weigh=len)


def test_what_is_kept_is_found_until_the_cache_is_cleared() -> None:
    cache = lengths(10)
    cache.put("a", "aaa")

    found = [cache.get("a"), cache.get("b")]
    cache.clear()

    assert found == ["aaa", None]
    assert [cache.get("a"), cache.weight] == [None, 0]


def test_what_was_used_longest_ago_goes_first() -> None:
    cache = lengths(9)
    for key in "abc":
        cache.put(key, key * 3)

    cache.get("a")
    cache.put("d", "dd")

    assert [cache.get(key) for key in "abcd"] == ["aaa", None, "ccc", "dd"]
    assert cache.weight == 8


def test_a_heavy_item_displaces_as_many_as_it_needs_to() -> None:
    cache = lengths(9)
    for key in "abc":
        cache.put(key, key * 3)

    cache.put("d", "d" * 7)

    assert [cache.get(key) for key in "abcd"] == [None, None, None, "d" * 7]


def test_what_weighs_more_than_all_is_not_kept_and_displaces_nothing() -> None:
    cache = lengths(9)
    cache.put("a", "a" * 9)

    cache.put("b", "b" * 10)

    assert (cache.get("a"), cache.get("b"), cache.weight) == ("a" * 9, None, 9)


def test_another_item_under_a_key_takes_the_place_of_the_first() -> None:
    cache = lengths(9)
    cache.put("a", "aaa")

    cache.put("a", "aaaaa")

    assert (cache.get("a"), cache.weight) == ("aaaaa", 5)


def test_threads_that_use_one_cache_leave_it_whole() -> None:
    cache = lengths(100)

    def hammer(thread: int) -> bool:
        right = True
        for turn in range(3000):
            number = (turn * (thread + 1)) % 60
            right &= cache.get(number) in (None, "x" * (number % 12))
            cache.put(number, "x" * (number % 12))
            right &= cache.weight <= 100
        return right

    with ThreadPoolExecutor(8) as threads:
        whole = list(threads.map(hammer, range(8)))

    assert all(whole)
    assert cache.weight == sum(len(cache.get(number) or "") for number in range(60))
