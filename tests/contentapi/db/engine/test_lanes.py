"""The lanes of expensive requests and of new documents: limits, refusals, and the order of arrival."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from typing import Any

import pytest
from django.db import connection, connections

from contentapi.db.engine.slots import (
    MAX_WAITING,
    ConnectionSlots,
    NoSlotAvailable,
    enter_expensive_lane,
    enter_preparation_lane,
)

pytestmark = pytest.mark.usefixtures("own_connection")


def run_expensive(slots: ConnectionSlots, work: Callable[[], Any]) -> Any:
    lease = slots.acquire()
    try:
        enter_expensive_lane()
        enter_expensive_lane()  # the second call does nothing
        return work()
    finally:
        slots.release(lease)


def test_expensive_requests_leave_most_slots_to_others() -> None:
    slots = ConnectionSlots(16, patience=60)
    go_on = Event()

    with ThreadPoolExecutor(8) as threads:
        expensive = [threads.submit(run_expensive, slots, go_on.wait) for _ in range(6)]
        while len(slots.expensive.waiting) < 4:
            time.sleep(0.001)
        others = [slots.acquire() for _ in range(14)]
        is_full = slots.are_exhausted
        for lease in others:
            slots.release(lease)
        go_on.set()

    assert is_full
    assert [request.result() for request in expensive] == [True] * 6
    assert (slots.unused, slots.expensive.unused) == (16, 2)


def test_expensive_requests_use_an_eighth_of_the_slots_at_a_time() -> None:
    slots = ConnectionSlots(16, patience=60)
    running, most, lock = 0, 0, Lock()

    def work() -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        with connection.cursor() as cursor:  # the slot after the wait has a working connection
            cursor.execute("SELECT 1 FROM pg_sleep(0.005)")
        with lock:
            running -= 1
        return 1

    with ThreadPoolExecutor(12) as threads:
        done = sum(threads.map(lambda _: run_expensive(slots, work), range(48)))

    assert (done, most) == (48, 2)
    assert (slots.unused, slots.expensive.unused) == (16, 2)
    for wrappers in slots.idle.values():
        wrappers["default"].close()


def test_expensive_request_that_waits_too_long_fails_without_a_slot() -> None:
    slots = ConnectionSlots(2, patience=0.05)
    held = slots.acquire()
    enter_expensive_lane()

    def run() -> list[Any]:
        with pytest.raises(NoSlotAvailable, match=r"waited 0\.05 s for the expensive lane"):
            run_expensive(slots, int)
        return list(connections.all(initialized_only=True))

    with ThreadPoolExecutor(1) as threads:
        left = threads.submit(run).result()

    assert left == []  # another thread may have the connections by now
    assert not slots.expensive.waiting
    slots.release(held)
    assert (slots.unused, slots.expensive.unused) == (2, 1)


def test_expensive_request_is_refused_at_once_if_the_queue_is_full() -> None:
    slots = ConnectionSlots(64, patience=60)
    slots.expensive.unused = 0

    with ThreadPoolExecutor(MAX_WAITING) as threads:
        waiting = [threads.submit(run_expensive, slots, int) for _ in range(MAX_WAITING)]
        while len(slots.expensive.waiting) < MAX_WAITING:
            time.sleep(0.001)
        with pytest.raises(NoSlotAvailable, match="32 requests wait for the expensive lane already"):
            run_expensive(slots, int)
        expensive = slots.acquire()
        expensive.lane = slots.expensive
        slots.release(expensive)

    assert [request.result() for request in waiting] == [0] * MAX_WAITING
    assert not slots.expensive.waiting


def test_new_document_does_not_wait_for_expensive_requests() -> None:
    slots = ConnectionSlots(8, patience=60)
    go_on = Event()

    def prepare() -> bool:
        lease = slots.acquire()
        try:
            enter_preparation_lane()
            return True
        finally:
            slots.release(lease)

    with ThreadPoolExecutor(4) as threads:
        expensive = [threads.submit(run_expensive, slots, go_on.wait) for _ in range(3)]
        while len(slots.expensive.waiting) < 2:
            time.sleep(0.001)
        is_prepared = threads.submit(prepare).result(timeout=60)
        go_on.set()

    assert is_prepared
    assert [request.result() for request in expensive] == [True] * 3
    assert (slots.preparation.unused, slots.expensive.unused) == (1, 1)


def test_expensive_request_leaves_the_preparation_lane() -> None:
    slots = ConnectionSlots(8, patience=60)
    running, most, lock = 0, 0, Lock()

    def run(_: int) -> int:
        nonlocal running, most
        lease = slots.acquire()
        try:
            enter_preparation_lane()
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.002)
            with lock:
                running -= 1
            enter_expensive_lane()
            enter_preparation_lane()  # an expensive request stays in its lane
            assert lease.lane is slots.expensive
            return 1
        finally:
            slots.release(lease)

    with ThreadPoolExecutor(12) as threads:
        done = sum(threads.map(run, range(60)))

    assert (done, most) == (60, 1)
    assert (slots.preparation.unused, slots.expensive.unused) == (1, 1)
    assert slots.unused == 8


def test_any_number_of_documents_waits_and_is_prepared_in_the_order_of_arrival() -> None:
    slots = ConnectionSlots(2, patience=60)
    first = slots.acquire()
    enter_preparation_lane()
    order: list[int] = []

    def prepare(number: int) -> None:
        lease = slots.acquire()
        try:
            enter_preparation_lane()
            order.append(number)
        finally:
            slots.release(lease)

    with ThreadPoolExecutor(64) as threads:
        for number in range(64):
            threads.submit(prepare, number)
            while len(slots.preparation.waiting) <= number:
                time.sleep(0.001)
        known = slots.acquire()  # the waiting documents have no slot: a known document has one at once
        slots.release(known)
        slots.release(first)

    assert order == [*range(64)]
    assert (slots.preparation.unused, slots.unused) == (1, 2)


def test_document_that_waits_too_long_fails_and_leaves_the_queue() -> None:
    slots = ConnectionSlots(2, patience=0.05)
    first = slots.acquire()
    enter_preparation_lane()

    def prepare() -> None:
        lease = slots.acquire()
        try:
            enter_preparation_lane()
        finally:
            slots.release(lease)

    with ThreadPoolExecutor(1) as threads, pytest.raises(NoSlotAvailable) as raised:
        threads.submit(prepare).result()

    assert (str(raised.value), raised.value.awaited) == ("waited 0.05 s for the preparation lane", "preparation lane")
    assert not slots.preparation.waiting
    slots.release(first)
    assert (slots.preparation.unused, slots.unused) == (1, 2)


def test_lanes_do_nothing_outside_of_a_server() -> None:
    own = connections["default"]

    enter_expensive_lane()

    assert connections["default"] is own
