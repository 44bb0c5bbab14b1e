"""The places of a sender are shared fairly, whatever some receivers do."""

from datetime import UTC, date, datetime
from time import monotonic

import pytest

from contentapi.events.webhooks import lanes as lanes_module
from contentapi.events.webhooks.claims import Claimed
from contentapi.events.webhooks.lanes import MOST_OF_LINE, PLACES, Lanes, Line

NOW = datetime(2026, 11, 3, 8, tzinfo=UTC)


def make_line(lanes: Lanes, number: int, *, is_slow: bool | None, window: int = MOST_OF_LINE) -> Line:
    """Return a line with many deliveries that are ready."""
    line = lanes.lines[number] = Line(number, is_slow=is_slow)
    line.window, line.leased_until = window, monotonic() + 3600
    for each in range(20):
        delivery = Claimed(each, date(2026, 11, 3), number, f"evt_{each}", "post.created", 1, each, None, 0, NOW, None)
        lanes.add(line, delivery, b"{}")
    return line


def fill(lanes: Lanes) -> None:
    """Give places to all lines in turn, as long as one gets some."""
    while sum(lanes.take_place(line) for line in lanes.lines.values()):
        pass


def test_webhook_has_eight_places_at_most() -> None:
    lanes = Lanes()
    line = make_line(lanes, 1, is_slow=False)
    fill(lanes)

    assert line.places == MOST_OF_LINE
    assert lanes.free == PLACES - MOST_OF_LINE


def test_eight_webhooks_leave_places_for_another() -> None:
    lanes = Lanes()
    for number in range(8):
        make_line(lanes, number, is_slow=False)
    fill(lanes)
    late = make_line(lanes, 99, is_slow=False)

    assert lanes.take_place(late)


@pytest.mark.parametrize("is_slow", [True, None], ids=["slow", "not known"])
def test_receivers_that_hang_have_half_of_the_places(*, is_slow: bool | None) -> None:
    lanes = Lanes()
    for number in range(100):
        make_line(lanes, number, is_slow=is_slow, window=1)
    fill(lanes)

    assert lanes.free == PLACES // 2


def test_slow_and_unknown_receivers_leave_a_quarter_to_the_fast_ones() -> None:
    lanes = Lanes()
    for number in range(200):
        make_line(lanes, number, is_slow=True if number % 2 else None, window=1)
    fill(lanes)
    fast = make_line(lanes, 999, is_slow=False, window=2)

    assert lanes.free == PLACES // 4
    assert lanes.take_place(fast)


def test_fast_responses_open_the_window_and_slow_ones_close_it() -> None:
    line = Line(1)
    for _ in range(3):
        line.adapt(0.1)
    assert (line.window, line.is_slow) == (8, False)

    line.adapt(1.5)
    assert (line.window, line.is_slow) == (4, False)
    line.adapt(15)
    assert (line.window, line.is_slow) == (1, True)


def test_supply_is_large_only_for_a_fast_receiver() -> None:
    line = Line(1)
    assert (line.wanted, line.needs_supply) == (1, True)
    line.taken.add(7)
    assert (line.wanted, line.needs_supply) == (0, False)
    line.window = MOST_OF_LINE
    assert line.wanted == 63


def test_place_is_given_back_when_the_lease_is_nearly_over() -> None:
    lanes = Lanes()
    line = make_line(lanes, 1, is_slow=False)
    lanes.take_place(line)
    line.leased_until = monotonic() + 1

    assert lanes.get_next(line, None) is None
    assert (lanes.free, line.places, len(line.ready)) == (PLACES, 0, 20)


def test_speed_of_the_webhook_that_was_sent_to_first_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes_module, "MOST_REMEMBERED", 2)
    lanes = Lanes()
    for number, is_slow in ((1, True), (2, True), (1, False), (3, None)):
        lanes.remember(Line(number, is_slow=is_slow))

    assert lanes.slow == {1: False, 3: False}


def test_size_of_what_is_ready_is_known() -> None:
    lanes = Lanes()
    line = make_line(lanes, 1, is_slow=False)
    assert lanes.size == 40
    lanes.take_place(line)
    lanes.get_next(line, None)
    assert lanes.size == 38

    assert len(lanes.drop(line)) == 19
    assert lanes.size == 0
    assert lanes.list_ending() == {1}
