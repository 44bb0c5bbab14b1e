"""Counting in this process, compared with a simple exact model, with a clock that the test moves."""

from collections.abc import Sequence
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contentapi.rate_limits.counters import InProcessCounter
from contentapi.rate_limits.limits import Charge
from tests.contentapi.rate_limits.counting import LIMIT, TEN, WINDOW, Clock, consume

TICK = 1 / 16  # longer than a tick of the storage; a power of two, so that sums of times are exact
Hits = list[tuple[float, int]]
# Pauses in ticks, from none to more than a window, and the amount consumed after each.
sequences = st.lists(
    st.tuples(st.one_of(st.integers(0, 40), st.integers(0, 1000)), st.integers(1, LIMIT)), min_size=1, max_size=60
)


def has_room(accepted: Hits, now: float, amount: int) -> bool:
    """The model: the amounts of the last 60 seconds and this one are at most the limit."""
    return sum(taken for moment, taken in accepted if moment >= now - WINDOW) + amount <= LIMIT


def most_in_a_window(accepted: Sequence[tuple[float, int]]) -> int:
    return max(sum(amount for moment, amount in accepted if begin <= moment <= begin + WINDOW) for begin, _ in accepted)


@pytest.mark.property
@given(sequences)
def test_counter_accepts_what_the_model_accepts(sequence: list[tuple[int, int]]) -> None:
    clock, accepted = Clock(), Hits()
    counter = InProcessCounter(clock)

    for ticks, amount in sequence:
        clock.now += ticks * TICK
        allowed = has_room(accepted, clock.now, amount)
        taken, status = consume(counter, amount)

        assert taken is allowed
        if taken:
            accepted.append((clock.now, amount))
        assert status.remaining == LIMIT - sum(one for moment, one in accepted if moment >= clock.now - WINDOW)
    assert most_in_a_window(accepted) <= LIMIT


@pytest.mark.property
@given(sequences)
def test_request_succeeds_after_the_wait_and_not_a_second_earlier(sequence: list[tuple[int, int]]) -> None:
    clock = Clock()
    counter = InProcessCounter(clock)

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
    counter = InProcessCounter(clock)

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
    counter = InProcessCounter(clock)

    for ticks, amount, refund in sequence:
        clock.now += ticks * TICK
        allowed = has_room(accepted, clock.now, amount)
        assert consume(counter, amount)[0] is allowed
        if allowed:
            accepted.append((clock.now, amount))
            refund = min(refund, amount)
            counter.refund("somebody", refund * [Charge.to(1, TEN)])
            accepted[-1] = (clock.now, amount - refund)


def test_unit_after_a_refund_of_the_newest_does_not_renew_older_units() -> None:
    clock = Clock()
    counter = InProcessCounter(clock)
    consume(counter, LIMIT - 1)
    clock.now += 30
    consume(counter)
    counter.refund("somebody", [Charge.to(1, TEN)])
    consume(counter)

    clock.now += 31

    assert consume(counter, LIMIT - 1)[0]


def test_refund_of_an_unknown_key_changes_nothing() -> None:
    counter = InProcessCounter(Clock())

    counter.refund("somebody", [Charge.to(1, TEN)])

    assert consume(counter, LIMIT)[0]
    counter.refund("somebody", (LIMIT + 5) * [Charge.to(1, TEN)])
    assert [consume(counter, LIMIT)[0] for _ in range(2)] == [True, False]


def test_window_includes_both_its_ends() -> None:
    clock = Clock()
    counter = InProcessCounter(clock)
    consume(counter, LIMIT)

    clock.now += WINDOW
    assert not consume(counter)[0]
    clock.now += TICK
    assert consume(counter)[0]


def test_units_of_one_entry_count_from_the_latest() -> None:
    clock = Clock()
    counter = InProcessCounter(clock)
    consume(counter, 1)
    clock.now += 1 / 32
    consume(counter, LIMIT - 1)

    clock.now += WINDOW - 1 / 64

    assert not consume(counter, LIMIT - 1)[0]


@given(paid=st.integers(1, LIMIT), before=st.integers(0, LIMIT), total=st.integers(1, 2 * LIMIT))
def test_wait_includes_what_the_request_has_paid_already(paid: int, before: int, total: int) -> None:
    clock = Clock()
    counter = InProcessCounter(clock)
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
