"""What `make bench-citus` computes from what its clients saw, and which promises it finds broken."""

import pytest

from benchmarks.citus.capacity import count_requests, scale
from benchmarks.citus.figures import Cost, find_median
from benchmarks.citus.growth import Watch, evaluate
from benchmarks.scale.clients import Exchange, Journal

PAGE = Cost("page of 10", hosts=1.0, coordinator=2.0, workers=4.0, round_trips=1.0, statements=8.0)
POST = Cost("post", hosts=1.0, coordinator=0.5, workers=0.25, round_trips=1.0, statements=1.0)


def build_journal(*reads: Exchange) -> Journal:
    writes = [Exchange("a", 0.0, 0.5, 201), Exchange("a", 1.0, 3.5, 201)]
    return Journal(
        writes=writes,
        reads=list(reads) or [Exchange("b", 0.0, 0.25, 200)],
        acknowledged={"one": "1", "two": "2"},
        own_reads=2,
        waits=[0.5, 2.5],
    )


def test_change_without_losses_breaks_no_promise() -> None:
    change = evaluate("grow", build_journal(), 9.0, {"one": 1, "two": 1})

    assert (change.writes, change.lost, change.duplicated, change.longest_write) == (2, 0, 0, 2.5)
    assert (change.lists, change.failed_lists, change.slowest_list) == (1, 0, 0.25)
    assert change.broken == []


def test_lost_and_duplicated_writes_are_counted() -> None:
    change = evaluate("grow", build_journal(), 9.0, {"one": 2})

    assert (change.lost, change.duplicated) == (1, 1)
    assert change.broken == ["1 lost, 1 duplicated, 0 own writes missed"]


@pytest.mark.parametrize(
    ("exchange", "promise"),
    [
        (Exchange("a", 0.0, 1.0, 503, "1"), []),
        (Exchange("a", 0.0, 1.0, 503), ["a refusal without Retry-After"]),
        (Exchange("a", 0.0, 1.0, 500), ["responses with status [500]"]),
        (Exchange("a", 0.0, 1.0, 0), ["responses with status [0]"]),
    ],
)
def test_refusal_is_503_with_retry_after(exchange: Exchange, promise: list[str]) -> None:
    assert evaluate("kill", build_journal(exchange), 9.0, {"one": 1, "two": 1}).broken == promise


@pytest.mark.parametrize(
    ("of_gone", "of_others", "broken"),
    [
        ((503, "1"), (200, ""), 0),
        ((503, ""), (200, ""), 1),
        ((200, ""), (200, ""), 1),
        ((503, "1"), (503, "1"), 1),
    ],
)
def test_posts_of_other_workers_stay_readable(
    of_gone: tuple[int, str], of_others: tuple[int, str], broken: int
) -> None:
    watch = Watch(8000, {})
    watch.during = (10.0, 20.0)
    watch.seen = [(True, Exchange("a", 11.0, 12.0, *of_gone)), (False, Exchange("a", 12.0, 13.0, *of_others))]
    watch.seen += [(True, Exchange("a", 9.0, 10.5, 200)), (False, Exchange("a", 19.0, 21.0, 0))]  # at the borders

    assert len(list(watch.list_broken_promises())) == broken


def test_watch_without_posts_of_both_kinds_proves_nothing() -> None:
    assert list(Watch(8000, {}).list_broken_promises()) == ["no read of a post of each kind"]


def test_median_of_costs_is_that_of_each_part() -> None:
    costs = [Cost("page", *[value] * 5) for value in (1.0, 9.0, 2.0)]

    assert find_median(costs) == Cost("page", 2.0, 2.0, 2.0, 2.0, 2.0)


def test_requests_that_ask_each_shard_grow_with_them() -> None:
    assert scale(PAGE, 4).workers == 16.0
    assert scale(POST, 4) == POST


def test_one_coordinator_limits_what_many_workers_carry() -> None:
    coordinator, workers, everywhere = count_requests(PAGE, servers=8)

    assert workers == pytest.approx(4 * coordinator)
    assert coordinator < everywhere < workers
