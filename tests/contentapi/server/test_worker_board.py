"""The watch over a worker, step by step."""

import os
from multiprocessing import get_context

import pytest

from contentapi.server import worker_board
from contentapi.server.worker_board import Field, Limits, WorkerBoard, WorkerWatch, choose_limits


@pytest.fixture
def watch() -> WorkerWatch:
    watch = WorkerWatch(WorkerBoard().create_place())
    watch.place.set(Field.IS_READY, 1)
    watch.limits = Limits(requests=100, memory=2**60)
    return watch


def observe(watch: WorkerWatch, steps: int, *, seconds: float = 1.0, beats: int = 0) -> None:
    for _ in range(steps):
        watch.place.set(Field.BEATS, watch.place.get(Field.BEATS) + beats)
        watch.observe(seconds)


def test_worker_that_beats_has_no_fault(watch: WorkerWatch) -> None:
    observe(watch, 1000, beats=4)

    assert watch.find_fault() is None


def test_silent_worker_has_a_fault_after_its_timeout(watch: WorkerWatch) -> None:
    observe(watch, 1, beats=1)
    observe(watch, 30)
    assert watch.find_fault() is None

    observe(watch, 1)

    assert watch.find_fault() == "it gave no sign of life for 30 s"


def test_one_beat_ends_the_silence(watch: WorkerWatch) -> None:
    observe(watch, 30)
    observe(watch, 1, beats=1)
    observe(watch, 30)

    assert watch.find_fault() is None


def test_pause_of_the_master_counts_one_second(watch: WorkerWatch) -> None:
    observe(watch, 20, seconds=3600)

    assert watch.silent == 20
    assert watch.find_fault() is None


def test_worker_that_does_not_start_has_a_fault(watch: WorkerWatch) -> None:
    watch.place.set(Field.IS_READY, 0)

    observe(watch, 61, beats=1)

    assert watch.find_fault() == "it did not start within 60 s"


def test_worker_reaches_its_limit_of_requests(watch: WorkerWatch) -> None:
    watch.place.set(Field.REQUESTS, 99)
    assert watch.find_end_of_life(os.getpid()) is None

    watch.place.set(Field.REQUESTS, 100)

    assert watch.find_end_of_life(os.getpid()) == "it has served 100 requests"


def test_worker_reaches_its_limit_of_memory(watch: WorkerWatch, monkeypatch: pytest.MonkeyPatch) -> None:
    watch.limits = Limits(requests=100, memory=500_000_000)
    sizes = iter([100_000_000, 500_000_000, 500_000_001])
    monkeypatch.setattr(worker_board, "read_memory", lambda _: next(sizes))

    assert [watch.find_end_of_life(1) for _ in range(3)] == [None, None, "it uses 500 MB of memory"]


def test_limit_of_memory_below_a_new_worker_replaces_it_when_it_has_grown(
    watch: WorkerWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.limits = Limits(requests=100, memory=1)
    sizes = iter([100_000_000, 150_000_000, 151_000_000])
    monkeypatch.setattr(worker_board, "read_memory", lambda _: next(sizes))

    assert [watch.find_end_of_life(1) for _ in range(3)] == [None, None, "it uses 151 MB of memory"]


def test_limits_of_requests_differ() -> None:
    requests = {choose_limits().requests for _ in range(50)}

    assert len(requests) > 10
    assert min(requests) >= 450_000
    assert max(requests) <= 550_000


def test_forked_process_writes_to_its_own_place() -> None:
    board = WorkerBoard()
    first, second = board.create_place(), board.create_place()

    process = get_context("fork").Process(target=first.set, args=(Field.REQUESTS, 2**40))
    process.start()
    process.join()

    assert (first.get(Field.REQUESTS), second.get(Field.REQUESTS)) == (2**40, 0)
