"""Keys that are counted in this process: which are kept and replaced, and concurrent threads."""

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from contentapi.rate_limits.counters import InProcessCounter
from contentapi.rate_limits.limits import Charge, Limit
from tests.concurrency import run_in_threads
from tests.contentapi.rate_limits.counting import LIMIT, TEN, WINDOW, Clock, consume


class Billion(Limit):
    text = "1000000000/minute"


BILLION = Billion("authenticated")


def test_window_of_a_million_units_stays_small() -> None:
    clock = Clock()
    counter = InProcessCounter(clock)
    for _ in range(100_000):
        clock.now += WINDOW / 100_000
        assert counter.consume("somebody", [Charge.to(10, BILLION)])[0]

    [window] = counter._windows.values()
    assert (window.used, len(window.entries) <= 1025) == (10**6, True)


def test_new_keys_replace_idle_keys_and_never_a_busy_one() -> None:
    clock = Clock()
    counter = InProcessCounter(clock, max_keys=100)
    consume(counter, LIMIT, "busy")

    for number in range(1000):
        consume(counter, 1, f"address {number}")
        if number % 50 == 0:
            assert not consume(counter, 1, "busy")[0]

    assert len(counter._windows) == 100
    assert not consume(counter, 1, "busy")[0]


def test_expired_windows_make_room_for_new_ones() -> None:
    clock = Clock()
    counter = InProcessCounter(clock)
    for number in range(100):
        consume(counter, 1, f"address {number}")

    clock.now += WINDOW + 1
    for number in range(50):
        consume(counter, 1, f"another {number}")

    assert len(counter._windows) == 50


def test_concurrent_threads_consume_no_more_than_the_limit() -> None:
    counter = InProcessCounter(Clock())
    accepted: list[bool] = []

    run_in_threads(lambda: accepted.extend(consume(counter)[0] for _ in range(50)), 8)

    assert sum(accepted) == LIMIT


def test_expired_window_that_is_used_again_is_not_replaced() -> None:
    clock = Clock()
    counter = InProcessCounter(clock)
    address = replace(Charge.to(1, TEN), key="address")
    assert counter.consume("address", [address])[0]

    clock.now += WINDOW + 1
    taken = [
        counter.consume("address", [address, replace(address, key=f"account {number}")])[0]
        for number in range(LIMIT + 1)
    ]

    assert taken == [True] * LIMIT + [False]


@given(st.floats(0, 1e7))
@example(474.23446202913823)
def test_window_of_a_new_key_ends_after_its_length_at_any_uptime(now: float) -> None:
    clock = Clock()
    clock.now = now

    _, status = consume(InProcessCounter(clock))

    assert status.reset_in == WINDOW
