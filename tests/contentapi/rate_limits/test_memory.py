"""Counting in process: against a simple exact model, with a clock of the test's own."""

from collections.abc import Sequence
from math import ceil
from threading import Thread
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from contentapi.rate_limits.counters import InProcessCounter, MovingWindows
from contentapi.rate_limits.limits import Charge, Limit
from contentapi.rate_limits.memory import InProcessStorage

WINDOW, LIMIT = 60, 10
TICK = 1 / 16  # longer than what the storage keeps as one; in halves of halves, so that sums of times are exact


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Ten(Limit):
    """A limit that no setting changes."""

    text = f"{LIMIT}/minute"


TEN = Ten("anonymous")
Hits = list[tuple[float, int]]
# Pauses in ticks, from none to more than a window, and what is taken after each.
sequences = st.lists(
    st.tuples(st.one_of(st.integers(0, 40), st.integers(0, 1000)), st.integers(1, LIMIT)), min_size=1, max_size=60
)


def counting(clock: Clock, **more: Any) -> MovingWindows:
    return MovingWindows(InProcessStorage(clock=clock, **more), clock)


def take(counter: MovingWindows, amount: int = 1, key: str = "somebody") -> tuple[bool, Any]:
    taken, [standing] = counter.take(key, [Charge.to(amount, TEN)])
    return taken, standing


def has_room(accepted: Hits, now: float, amount: int) -> bool:
    """The model: what was taken in the last 60 seconds, and this, are no more than the limit."""
    return sum(taken for moment, taken in accepted if moment >= now - WINDOW) + amount <= LIMIT


def most_in_a_window(accepted: Sequence[tuple[float, int]]) -> int:
    return max(sum(amount for moment, amount in accepted if begin <= moment <= begin + WINDOW) for begin, _ in accepted)


@given(sequences)
def test_what_is_taken_is_what_the_model_allows_and_no_window_holds_more(sequence: list[tuple[int, int]]) -> None:
    clock, accepted = Clock(), Hits()
    counter = counting(clock)

    for ticks, amount in sequence:
        clock.now += ticks * TICK
        allowed = has_room(accepted, clock.now, amount)
        taken, standing = take(counter, amount)

        assert taken is allowed
        if taken:
            accepted.append((clock.now, amount))
        assert standing.remaining == LIMIT - sum(one for moment, one in accepted if moment >= clock.now - WINDOW)
    assert most_in_a_window(accepted) <= LIMIT


@given(sequences)
def test_who_waits_as_long_as_told_has_room_and_a_second_less_has_none(sequence: list[tuple[int, int]]) -> None:
    clock = Clock()
    counter = counting(clock)

    for ticks, amount in sequence:
        clock.now += ticks * TICK
        taken, standing = take(counter, amount)
        if not taken:
            clock.now += standing.wait - 1 - TICK
            assert take(counter, amount)[0] is False or standing.wait == 1
            clock.now += 1 + TICK
            assert take(counter, amount)[0]


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(1, LIMIT)), min_size=1, max_size=80))
def test_hits_closer_than_what_is_kept_as_one_never_pass_the_limit(sequence: list[tuple[int, int]]) -> None:
    clock, accepted = Clock(), Hits()
    counter = counting(clock)

    for thousandths, amount in sequence:
        clock.now += thousandths / 1024
        taken, standing = take(counter, amount)
        if taken:
            accepted.append((clock.now, amount))
        else:  # refused for no longer than a tick more than it has to be
            assert not has_room(accepted, clock.now - WINDOW / 1024, amount)
            clock.now += standing.wait
            assert take(counter, amount)[0]
            accepted.append((clock.now, amount))
    assert most_in_a_window(accepted) <= LIMIT


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(1, LIMIT), st.integers(0, LIMIT)), max_size=60))
def test_a_refund_gives_back_the_newest_units_and_no_more(sequence: list[tuple[int, int, int]]) -> None:
    clock, accepted = Clock(), Hits()
    storage = InProcessStorage(clock=clock)

    for ticks, amount, refund in sequence:
        clock.now += ticks * TICK
        allowed = has_room(accepted, clock.now, amount)
        assert (storage.spend([("somebody", LIMIT, WINDOW, amount)]) is not None) is allowed
        if allowed:
            accepted.append((clock.now, amount))
            refund = min(refund, amount)
            storage.refund("somebody", refund)
            accepted[-1] = (clock.now, amount - refund)


def test_a_refund_of_a_key_that_is_not_known_changes_nothing() -> None:
    storage = InProcessStorage()

    storage.refund("somebody", 1)

    assert storage.spend([("somebody", 1, WINDOW, 1)]) is not None
    storage.refund("somebody", 5)
    assert [storage.spend([("somebody", 1, WINDOW, 1)]) is not None for _ in range(2)] == [True, False]


def test_there_is_no_burst_at_the_edge_of_a_minute() -> None:
    clock = Clock()
    counter = counting(clock)
    clock.now = 1019.5  # half a second before a whole minute
    assert take(counter, LIMIT)[0]

    clock.now = 1020.5

    assert not take(counter)[0]


def test_a_window_holds_both_its_ends() -> None:
    clock = Clock()
    counter = counting(clock)
    take(counter, LIMIT)

    clock.now += WINDOW
    assert not take(counter)[0]
    clock.now += TICK
    assert take(counter)[0]


def test_what_is_kept_as_one_counts_from_its_latest() -> None:
    clock = Clock()
    counter = counting(clock)
    take(counter, 1)
    clock.now += 1 / 32
    take(counter, LIMIT - 1)

    clock.now += WINDOW - 1 / 64

    assert not take(counter, LIMIT - 1)[0]


def test_refusals_are_not_counted() -> None:
    clock = Clock()
    counter = counting(clock)
    take(counter, LIMIT)

    for _ in range(100):
        clock.now += 0.5
        assert not take(counter)[0]
    clock.now += 10 + TICK

    assert take(counter, LIMIT)[0]


def test_an_amount_over_the_limit_takes_the_whole_limit() -> None:
    clock = Clock()
    counter = counting(clock)

    taken, standing = take(counter, 3 * LIMIT)

    assert (taken, standing.remaining) == (True, 0)


def test_a_window_that_is_hit_a_million_times_stays_small() -> None:
    clock, storage = Clock(), InProcessStorage(clock=(clock := Clock()))
    for _ in range(100_000):
        clock.now += WINDOW / 100_000
        assert storage.acquire_entry("somebody", 10**9, WINDOW, amount=10)

    window = storage._windows["somebody"]
    assert (window.used, len(window.entries) <= 1025) == (10**6, True)


def test_ever_new_keys_push_out_idle_ones_and_never_a_busy_one() -> None:
    clock = Clock()
    counter = counting(clock, most_keys=100)
    take(counter, LIMIT, "busy")

    for number in range(1000):
        take(counter, 1, f"address {number}")
        if number % 50 == 0:
            assert not take(counter, 1, "busy")[0]

    assert len(counter.storage._windows) == 100
    assert not take(counter, 1, "busy")[0]


def test_windows_that_are_over_make_room_for_new_ones() -> None:
    clock = Clock()
    counter = counting(clock)
    for number in range(100):
        take(counter, 1, f"address {number}")

    clock.now += WINDOW + 1
    for number in range(50):
        take(counter, 1, f"another {number}")

    assert len(counter.storage._windows) == 50


def test_threads_take_no_more_than_the_limit_together() -> None:
    counter = counting(Clock())
    accepted: list[bool] = []
    threads = [Thread(target=lambda: accepted.extend(take(counter)[0] for _ in range(50))) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(accepted) == LIMIT


def test_two_charges_of_one_key_take_no_more_than_the_limit_together() -> None:
    counter = InProcessCounter()
    charges = [Charge.to(6, TEN), Charge.to(6, TEN)]

    assert counter.take("somebody", charges)[0] is False
    assert counter.take("somebody", [Charge.to(10, TEN)])[0] is True


def test_an_expired_window_that_is_asked_for_makes_no_room_for_another() -> None:
    clock = Clock()
    counter = InProcessCounter()
    counter.storage.clock = counter.clock = clock
    address = Charge.to(1, TEN)._replace(key="address")
    assert counter.take("address", [address])[0]

    clock.now += WINDOW + 1
    taken = [
        counter.take("address", [address, address._replace(key=f"account {number}")])[0] for number in range(LIMIT + 1)
    ]

    assert taken == [True] * LIMIT + [False]


@given(paid=st.integers(1, LIMIT), before=st.integers(0, LIMIT), total=st.integers(1, 2 * LIMIT))
def test_what_a_request_has_paid_before_its_refusal_is_in_its_wait(paid: int, before: int, total: int) -> None:
    clock = Clock()
    counter = counting(clock)
    if before:
        take(counter, before)
    clock.now += 5
    if not take(counter, paid)[0]:
        return
    clock.now += 1

    taken, [standing] = counter.take("somebody", [Charge.to(total, TEN, min(paid, total))])

    if not taken:
        clock.now += standing.wait
        assert take(counter, total)[0]
        assert standing.wait <= ceil(WINDOW)
