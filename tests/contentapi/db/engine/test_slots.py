"""Connection slots: many threads, few connections, in the order of arrival."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Lock
from typing import Any

import pytest
from django.db import connection, connections

from contentapi.db.engine.slots import ConnectionSlots, Lease, NoSlotAvailable, uninstall_connections
from contentapi.db.engine.thread_connections import get_connection

pytestmark = pytest.mark.usefixtures("own_connection")


def read_backend(slots: ConnectionSlots) -> tuple[int, bool]:
    """Return the id of the PostgreSQL process behind a slot, and whether every look-up finds the same connection."""
    lease = slots.acquire()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid(), pg_sleep(0.02)")
            backend: int = cursor.fetchone()[0]
        return backend, get_connection("default") is connections["default"] is wrapper_of(lease)
    finally:
        slots.release(lease)


def wrapper_of(lease: Lease) -> Any:
    assert lease.wrappers is not None
    return lease.wrappers["default"]


def test_many_threads_share_the_connections_of_two_slots(slots: ConnectionSlots) -> None:
    with ThreadPoolExecutor(12) as threads:
        results = list(threads.map(lambda _: read_backend(slots), range(60)))

    assert len({backend for backend, _ in results}) == 2
    assert all(is_same for _, is_same in results)
    assert len(slots.idle) == 2


def test_two_slots_let_two_threads_run_at_a_time(slots: ConnectionSlots) -> None:
    running, most, lock = 0, 0, Lock()

    def run(_: int) -> None:
        nonlocal running, most
        lease = slots.acquire()
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.005)
        with lock:
            running -= 1
        slots.release(lease)

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(run, range(100)))

    assert most == 2


def test_slot_goes_to_the_thread_that_waited_longest(slots: ConnectionSlots) -> None:
    held = [slots.acquire(), slots.acquire()]
    order: list[int] = []

    def run(number: int) -> None:
        lease = slots.acquire()
        order.append(number)
        slots.release(lease)

    with ThreadPoolExecutor(5) as threads:
        for number in range(5):
            threads.submit(run, number)
            while len(slots.waiting) <= number:
                time.sleep(0.001)
        slots.release(held[0])

    assert order == [0, 1, 2, 3, 4]
    slots.release(held[1])


def test_thread_that_waits_too_long_gets_unavailable_and_leaves_the_queue() -> None:
    slots = ConnectionSlots(1, patience=0.05)
    lease = slots.acquire()
    wrapper = wrapper_of(lease)

    with (
        ThreadPoolExecutor(1) as threads,
        pytest.raises(NoSlotAvailable, match=r"waited 0\.05 s for the connection slots"),
    ):
        threads.submit(slots.acquire).result()

    assert not slots.waiting
    slots.release(lease)
    assert wrapper_of(slots.acquire()) is wrapper


def test_slot_released_at_the_time_limit_is_not_lost() -> None:
    """The release and the time limit race: in both cases the slot is leased once or idle."""
    slots = ConnectionSlots(1, patience=0.002)
    leased = 0

    def run(_: int) -> None:
        nonlocal leased
        try:
            lease = slots.acquire()
        except NoSlotAvailable:
            return
        leased += 1
        time.sleep(0.002)
        slots.release(lease)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(run, range(400)))

    assert leased > 0
    assert len(slots.idle) == 1
    assert not slots.waiting


def test_thread_has_no_leased_connection_after_its_request(slots: ConnectionSlots) -> None:
    go_on = Event()
    ready = Barrier(2)

    def run() -> Any:
        lease = slots.acquire()
        leased = wrapper_of(lease)
        uninstall_connections()
        slots.release(lease)
        ready.wait()
        go_on.wait()
        return [wrapper for wrapper in connections.all(initialized_only=True) if wrapper is leased]

    with ThreadPoolExecutor(1) as threads:
        left = threads.submit(run)
        ready.wait()
        go_on.set()

    assert left.result() == []
