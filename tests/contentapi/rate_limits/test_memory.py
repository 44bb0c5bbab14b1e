"""Counting in this process, compared with a simple exact model, with a clock that the test moves."""

from collections.abc import Sequence
from math import ceil
from threading import Thread
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from contentapi.rate_limits.counters import InProcessCounter
from contentapi.rate_limits.limits import Charge, Limit

WINDOW, LIMIT = 60, 10
TICK = 1 / 16  # longer than a tick of the storage; a power of two, so that sums of times are exact


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Ten(Limit):
    """A limit that no setting changes."""

    text = f"{LIMIT}/minute"


class Billion(Limit):
    text = "1000000000/minute"


TEN = Ten("anonymous")
BILLION = Billion("authenticated")
Hits = list[tuple[float, int]]
# Pauses in ticks, from none to more than a window, and the amount consumed after each.
sequences = st.lists(
    st.tuples(st.one_of(st.integers(0, 40), st.integers(0, 1000)), st.integers(1, LIMIT)), min_size=1, max_size=60
)


def make_counter(clock: Clock, **more: Any) -> InProcessCounter:
    return InProcessCounter(clock, **more)


def consume(counter: InProcessCounter, amount: int = 1, key: str = "somebody") -> tuple[bool, Any]:
    taken, [status] = counter.consume(key, [Charge.to(amount, TEN)])
    return taken, status


def has_room(accepted: Hits, now: float, amount: int) -> bool:
    """The model: the amounts of the last 60 seconds and this one are at most the limit."""
    return sum(taken for moment, taken in accepted if moment >= now - WINDOW) + amount <= LIMIT


def most_in_a_window(accepted: Sequence[tuple[float, int]]) -> int:
    return max(sum(amount for moment, amount in accepted if begin <= moment <= begin + WINDOW) for begin, _ in accepted)


@given(sequences)
def test_counter_accepts_what_the_model_accepts(sequence: list[tuple[int, int]]) -> None:
    clock, accepted = Clock(), Hits()
    counter = make_counter(clock)

    for ticks, amount in sequence:
        clock.now += ticks * TICK
        allowed = has_room(accepted, clock.now, amount)
        taken, status = consume(counter, amount)

        assert taken is allowed
        if taken:
            accepted.append((clock.now, amount))
        assert status.remaining == LIMIT - sum(one for moment, one in accepted if moment >= clock.now - WINDOW)
    assert most_in_a_window(accepted) <= LIMIT


@given(sequences)
def test_request_succeeds_after_the_wait_and_not_a_second_earlier(sequence: list[tuple[int, int]]) -> None:
    clock = Clock()
    counter = make_counter(clock)

    for ticks, amount in sequence:
        clock.now += ticks * TICK
        taken, status = consume(counter, amount)
        if not taken:
            clock.now += status.wait - 1 - TICK
            assert consume(counter, amount)[0] is False or status.wait == 1
            clock.now += 1 + TICK
            assert consume(counter, amount)[0]


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(1, LIMIT)), min_size=1, max_size=80))
def test_units_closer_than_a_tick_never_exceed_the_limit(sequence: list[tuple[int, int]]) -> None:
    clock, accepted = Clock(), Hits()
    counter = make_counter(clock)

    for thousandths, amount in sequence:
        clock.now += thousandths / 1024
        taken, status = consume(counter, amount)
        if taken:
            accepted.append((clock.now, amount))
        else:  # the wait is at most a tick longer than necessary
            assert not has_room(accepted, clock.now - WINDOW / 1024, amount)
            clock.now += status.wait
            assert consume(counter, amount)[0]
            accepted.append((clock.now, amount))
    assert most_in_a_window(accepted) <= LIMIT


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(1, LIMIT), st.integers(0, LIMIT)), max_size=60))
def test_refund_gives_back_the_newest_units_only(sequence: list[tuple[int, int, int]]) -> None:
    clock, accepted = Clock(), Hits()
    counter = make_counter(clock)

    for ticks, amount, refund in sequence:
        clock.now += ticks * TICK
        allowed = has_room(accepted, clock.now, amount)
        assert consume(counter, amount)[0] is allowed
        if allowed:
            accepted.append((clock.now, amount))
            refund = min(refund, amount)
            counter.refund("somebody", [Charge.to(refund, TEN)])
            accepted[-1] = (clock.now, amount - refund)


def test_unit_after_a_refund_of_the_newest_does_not_renew_older_units() -> None:
    clock = Clock()
    counter = make_counter(clock)
    consume(counter, LIMIT - 1)
    clock.now += 30
    consume(counter)
    counter.refund("somebody", [Charge.to(1, TEN)])
    consume(counter)

    clock.now += 31

    assert consume(counter, LIMIT - 1)[0]


def test_refund_of_an_unknown_key_changes_nothing() -> None:
    counter = make_counter(Clock())

    counter.refund("somebody", [Charge.to(1, TEN)])

    assert consume(counter, LIMIT)[0]
    counter.refund("somebody", [Charge.to(LIMIT, TEN), Charge.to(5, TEN)])
    assert [consume(counter, LIMIT)[0] for _ in range(2)] == [True, False]


def test_no_burst_is_possible_at_the_end_of_a_minute() -> None:
    clock = Clock()
    counter = make_counter(clock)
    clock.now = 1019.5  # half a second before a whole minute
    assert consume(counter, LIMIT)[0]

    clock.now = 1020.5

    assert not consume(counter)[0]


def test_window_includes_both_its_ends() -> None:
    clock = Clock()
    counter = make_counter(clock)
    consume(counter, LIMIT)

    clock.now += WINDOW
    assert not consume(counter)[0]
    clock.now += TICK
    assert consume(counter)[0]


def test_units_of_one_entry_count_from_the_latest() -> None:
    clock = Clock()
    counter = make_counter(clock)
    consume(counter, 1)
    clock.now += 1 / 32
    consume(counter, LIMIT - 1)

    clock.now += WINDOW - 1 / 64

    assert not consume(counter, LIMIT - 1)[0]


def test_refused_requests_are_not_counted() -> None:
    clock = Clock()
    counter = make_counter(clock)
    consume(counter, LIMIT)

    for _ in range(100):
        clock.now += 0.5
        assert not consume(counter)[0]
    clock.now += 10 + TICK

    assert consume(counter, LIMIT)[0]


def test_amount_over_the_limit_consumes_the_whole_limit() -> None:
    clock = Clock()
    counter = make_counter(clock)

    taken, status = consume(counter, 3 * LIMIT)

    assert (taken, status.remaining) == (True, 0)


def test_window_of_a_million_units_stays_small() -> None:
    clock = Clock()
    counter = make_counter(clock)
    for _ in range(100_000):
        clock.now += WINDOW / 100_000
        assert counter.consume("somebody", [Charge.to(10, BILLION)])[0]

    [window] = counter._windows.values()
    assert (window.used, len(window.entries) <= 1025) == (10**6, True)


def test_new_keys_replace_idle_keys_and_never_a_busy_one() -> None:
    clock = Clock()
    counter = make_counter(clock, max_keys=100)
    consume(counter, LIMIT, "busy")

    for number in range(1000):
        consume(counter, 1, f"address {number}")
        if number % 50 == 0:
            assert not consume(counter, 1, "busy")[0]

    assert len(counter._windows) == 100
    assert not consume(counter, 1, "busy")[0]


def test_expired_windows_make_room_for_new_ones() -> None:
    clock = Clock()
    counter = make_counter(clock)
    for number in range(100):
        consume(counter, 1, f"address {number}")

    clock.now += WINDOW + 1
    for number in range(50):
        consume(counter, 1, f"another {number}")

    assert len(counter._windows) == 50


def test_concurrent_threads_consume_no_more_than_the_limit() -> None:
    counter = make_counter(Clock())
    accepted: list[bool] = []
    threads = [Thread(target=lambda: accepted.extend(consume(counter)[0] for _ in range(50))) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(accepted) == LIMIT


def test_two_charges_of_one_key_consume_no_more_than_the_limit() -> None:
    counter = InProcessCounter()
    charges = [Charge.to(6, TEN), Charge.to(6, TEN)]

    assert counter.consume("somebody", charges)[0] is False
    assert counter.consume("somebody", [Charge.to(10, TEN)])[0] is True


def test_expired_window_that_is_used_again_is_not_replaced() -> None:
    clock = Clock()
    counter = InProcessCounter(clock)
    address = Charge.to(1, TEN)._replace(key="address")
    assert counter.consume("address", [address])[0]

    clock.now += WINDOW + 1
    taken = [
        counter.consume("address", [address, address._replace(key=f"account {number}")])[0]
        for number in range(LIMIT + 1)
    ]

    assert taken == [True] * LIMIT + [False]


@given(paid=st.integers(1, LIMIT), before=st.integers(0, LIMIT), total=st.integers(1, 2 * LIMIT))
def test_wait_includes_what_the_request_has_paid_already(paid: int, before: int, total: int) -> None:
    clock = Clock()
    counter = make_counter(clock)
    if before:
        consume(counter, before)
    clock.now += 5
    if not consume(counter, paid)[0]:
        return
    clock.now += 1

    taken, [status] = counter.consume("somebody", [Charge.to(total, TEN, min(paid, total))])

    if not taken:
        clock.now += status.wait
        assert consume(counter, total)[0]
        assert status.wait <= ceil(WINDOW)


@given(st.floats(0, 1e7))
@example(474.23446202913823)
def test_window_of_a_new_key_ends_after_its_length_at_any_uptime(now: float) -> None:
    clock = Clock()
    clock.now = now

    _, status = consume(make_counter(clock))

    assert status.reset_in == WINDOW
