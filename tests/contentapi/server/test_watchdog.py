"""The watch over the workers, step by step."""

import os
from multiprocessing import get_context

import pytest

from contentapi.conf.timeouts import LIFE_SIGN_INTERVAL, LINGER, WATCHDOG_INTERVAL
from contentapi.db.engine.slots import ConnectionSlots
from contentapi.server import watchdog
from contentapi.server.watchdog import PROCESS_ID, Limits, Progress, Watchdog
from contentapi.server.worker import WORKER

PID = 12345
STEPS = round(30 / WATCHDOG_INTERVAL)  # of the time-out of a worker
MB = 1_000_000


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watchdog:
    monkeypatch.setattr(watchdog, "is_worker", lambda *_: True)
    watch = Watchdog()
    watch.timeout = 30
    watch.observe({PID})
    return watch


def observe_silence(watch: Watchdog, steps: int) -> list[int]:
    return [pid for _ in range(steps) for pid in watch.observe(set())]


def test_silent_worker_is_killed_once_after_its_timeout(watch: Watchdog) -> None:
    assert observe_silence(watch, STEPS - 1) == []
    assert observe_silence(watch, 10) == [PID]


def test_process_with_the_id_of_a_worker_that_has_ended_is_not_killed(
    watch: Watchdog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    watch.master = os.getpid()  # nobody's parent
    watch.silent = {os.getppid(): 0.0}

    assert observe_silence(watch, 2 * STEPS) == []
    assert watch.silent == {}


def test_first_beat_of_a_worker_says_that_it_is_ready(watch: Watchdog) -> None:
    ready: list[bool] = []
    watch.on_ready = lambda: ready.append(True)

    watch.observe({PID})
    watch.observe({PID, PID + 1})
    watch.observe({PID + 1})

    assert ready == [True]


def test_workers_of_a_server_that_ends_are_killed_after_its_limit(watch: Watchdog) -> None:
    watch.end_within(60)

    assert observe_silence(watch, 2 * STEPS - 2) == []
    assert observe_silence(watch, 10) == [PID]


def test_forked_process_is_heard() -> None:
    watch = Watchdog()
    watch.reader, watch.writer = os.pipe()
    os.set_blocking(watch.reader, False)
    process = get_context("fork").Process(target=os.write, args=(watch.writer, 3 * PROCESS_ID.pack(PID)))

    process.start()
    process.join()

    assert watch.read() == {PID}
    assert watch.read() == set()
    os.close(watch.reader)
    os.close(watch.writer)


# --- In the worker


@pytest.fixture
def slots(monkeypatch: pytest.MonkeyPatch) -> ConnectionSlots:
    slots = ConnectionSlots(1, patience=1)
    monkeypatch.setattr(WORKER, "slots", slots)
    return slots


def count_steps(progress: Progress) -> int:
    """Return the number of steps in which progress is made, up to a thousand."""
    return next((step for step in range(1000) if not progress.is_made()), 1000)


def test_worker_without_a_free_slot_makes_no_progress_after_the_longest_operation(slots: ConnectionSlots) -> None:
    assert count_steps(Progress()) == 1000

    slots.unused = 0

    progress = Progress()
    assert count_steps(progress) == round(progress.stall / LIFE_SIGN_INTERVAL) + 1
    assert progress.stall == 100  # the master waits for another 30 s


def test_released_slot_is_progress(slots: ConnectionSlots) -> None:
    slots.unused = 0
    progress = Progress()
    count_steps(progress)

    slots.released += 1

    assert progress.is_made()


def test_worker_that_does_not_end_makes_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WORKER, "is_retiring", True)

    assert count_steps(Progress()) == round((30 + LINGER) / LIFE_SIGN_INTERVAL)


def test_worker_is_replaced_at_its_limits() -> None:
    limits = Limits(0)
    limits.requests, limits.memory = 100, 500 * MB

    assert limits.find_end_of_life(99, 500 * MB) == ""
    assert limits.find_end_of_life(100, 500 * MB) == "it has served 100 requests"
    assert limits.find_end_of_life(99, 501 * MB) == "it uses 501 MB of memory"


def test_limit_of_memory_allows_a_worker_to_grow_by_half() -> None:
    assert Limits(100 * MB).memory == 1024**3
    assert Limits(1000 * MB).memory == 1500 * MB


def test_limits_of_requests_differ() -> None:
    requests = {Limits(0).requests for _ in range(50)}

    assert len(requests) > 10
    assert min(requests) >= 450_000
    assert max(requests) <= 550_000
