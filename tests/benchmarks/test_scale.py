"""What `make scale` computes from the responses that its clients got, and which promises it finds broken."""

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.scale.__main__ import format_range
from benchmarks.scale.clients import Exchange, Journal
from benchmarks.scale.faults import FAULTS
from benchmarks.scale.outages import Outage, evaluate, find_longest_pause, list_broken_promises
from benchmarks.scale.patroni import read_example

BEGAN, REPAIRED = 100.0, 130.0
NO_PAUSE = (float("inf"), float("inf"))
WHOLE = Outage(
    "kill", writes=9, own_reads=9, missed=0, reads=9, failed_reads=0, slowest_read=0.1, pause=20.0, first_write=20.0,
    refusals=5, last_refusal=19.0, writes_apart=0, refusals_apart=0,
)  # fmt: skip


def build_journal() -> Journal:
    """Host b acknowledges a write 1 and 21 seconds after the fault. Host a is beside the old primary."""
    writes = [
        *(Exchange("b", 99.0, 99.5, 201), Exchange("b", 100.5, 101.0, 201)),
        *(Exchange("b", 102.0, 103.0, 503), Exchange("b", 118.0, 119.0, 0), Exchange("b", 120.5, 121.0, 201)),
        *(Exchange("a", 99.0, 99.2, 201), Exchange("a", 101.0, 116.0, 0), Exchange("a", 121.5, 122.0, 201)),
        *(Exchange("a", 131.0, 131.5, 503), Exchange("a", 132.0, 133.0, 201)),  # after the repair
    ]
    reads = [Exchange("b", 99.0, 99.7, 200), Exchange("b", 110.0, 110.1, 503), Exchange("a", 110.0, 110.1, 503)]
    return Journal(writes=writes, reads=reads, acknowledged={"one": "1", "two": "2"}, own_reads=2)


def test_hosts_beside_the_old_primary_are_counted_apart() -> None:
    outage = evaluate(build_journal(), "cut", BEGAN, REPAIRED, {"a"})

    assert (outage.first_write, outage.pause, outage.refusals, outage.last_refusal) == (21.0, 20.0, 2, 19.0)
    assert (outage.reads, outage.failed_reads) == (2, 1)
    assert outage.slowest_read == pytest.approx(0.7)
    assert (outage.writes_apart, outage.refusals_apart) == (1, 3)


def test_hosts_are_counted_together_without_a_cut() -> None:
    outage = evaluate(build_journal(), "kill", BEGAN, REPAIRED, set())

    assert (outage.refusals, outage.reads, outage.failed_reads) == (4, 3, 2)
    assert (outage.writes_apart, outage.refusals_apart) == (0, 0)


@pytest.mark.parametrize(
    ("times", "pause"), [([], NO_PAUSE), ([-1.0], NO_PAUSE), ([2.0], (2.0, 2.0)), ([9.0, -5.0, 1.0, 2.0], (7.0, 9.0))]
)
def test_longest_pause_begins_with_the_fault(times: list[float], pause: tuple[float, float]) -> None:
    assert find_longest_pause(times) == pause


def test_failover_without_losses_breaks_no_promise() -> None:
    assert list(list_broken_promises(WHOLE, FAULTS["kill"], has_moved=True)) == []


@pytest.mark.parametrize(
    ("change", "promise"),
    [
        ({"lost": 1}, "1 writes lost, 0 duplicated, 0 own writes missed"),
        ({"duplicated": 1}, "0 writes lost, 1 duplicated, 0 own writes missed"),
        ({"missed": 1}, "0 writes lost, 0 duplicated, 1 own writes missed"),
        ({"failed_reads": 1}, "1 anonymous reads failed"),
        ({"writes_apart": 1}, "1 writes acknowledged beside the old primary"),
        ({"pause": float("inf")}, "no write succeeded after the fault"),
    ],
)
def test_broken_promise_is_named(change: dict[str, Any], promise: str) -> None:
    assert list(list_broken_promises(replace(WHOLE, **change), FAULTS["kill"], has_moved=True)) == [promise]


def test_failover_must_move_the_primary_and_a_fault_of_etcd_must_not() -> None:
    quiet = replace(WHOLE, refusals=0)

    assert list(list_broken_promises(WHOLE, FAULTS["kill"], has_moved=False)) == ["no other host became the primary"]
    assert list(list_broken_promises(quiet, FAULTS["etcd"], has_moved=True)) == ["another host became the primary"]
    assert list(list_broken_promises(WHOLE, FAULTS["etcd"], has_moved=False)) == ["5 writes refused"]
    assert list(list_broken_promises(quiet, FAULTS["etcd"], has_moved=False)) == []


@pytest.mark.parametrize(
    ("values", "text"), [([2.04], "2.0"), ([1.0, 9.0, 2.0], "2.0 / 9.0"), ([3, 5], "4 / 5"), ([], "")]
)
def test_range_is_the_median_and_the_greatest(values: list[float], text: str) -> None:
    assert format_range(values) == text


def test_value_for_a_variable_that_the_example_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match=r"etcd\.env\.example has no ETCD_NAMES\."):
        read_example("etcd.env.example", {"ETCD_NAMES": "etcd1"})
