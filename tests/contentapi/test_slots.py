"""Connection slots: few connections, many threads, first come, first served."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Lock
from typing import Any

import pytest
from django.db import connection, connections

from contentapi.errors import Unavailable
from contentapi.postgresql.slots import ConnectionSlots, uninstall
from contentapi.postgresql.threads import connection_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def slots() -> Iterator[ConnectionSlots]:
    slots = ConnectionSlots(2, patience=5)
    yield slots
    for wrappers in slots.idle:
        for wrapper in wrappers.values():
            wrapper.close()


def read_backend(slots: ConnectionSlots) -> tuple[int, bool]:
    """Return the id of the PostgreSQL process behind a slot, and whether every look-up finds the same connection."""
    wrappers = slots.acquire()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid(), pg_sleep(0.02)")
            backend: int = cursor.fetchone()[0]
        return backend, connection_of("default") is connections["default"] is wrappers["default"]
    finally:
        slots.release(wrappers)


def test_many_threads_share_the_connections_of_few_slots(slots: ConnectionSlots) -> None:
    with ThreadPoolExecutor(12) as threads:
        results = list(threads.map(lambda _: read_backend(slots), range(60)))

    assert len({backend for backend, _ in results}) == 2
    assert all(is_same for _, is_same in results)
    assert len(slots.idle) == 2


def test_no_more_threads_than_slots_run_at_a_time(slots: ConnectionSlots) -> None:
    running, most, lock = 0, 0, Lock()

    def run(_: int) -> None:
        nonlocal running, most
        wrappers = slots.acquire()
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.005)
        with lock:
            running -= 1
        slots.release(wrappers)

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(run, range(100)))

    assert most == 2


def test_the_thread_that_has_waited_longest_gets_the_slot(slots: ConnectionSlots) -> None:
    held = [slots.acquire(), slots.acquire()]
    order: list[int] = []

    def run(number: int) -> None:
        wrappers = slots.acquire()
        order.append(number)
        slots.release(wrappers)

    with ThreadPoolExecutor(5) as threads:
        for number in range(5):
            threads.submit(run, number)
            while len(slots.waiting) <= number:
                time.sleep(0.001)
        slots.release(held[0])

    assert order == [0, 1, 2, 3, 4]
    slots.release(held[1])


def test_a_thread_that_waits_too_long_gets_an_error_and_leaves_the_queue() -> None:
    slots = ConnectionSlots(1, patience=0.05)
    wrappers = slots.acquire()

    with ThreadPoolExecutor(1) as threads, pytest.raises(Unavailable):
        threads.submit(slots.acquire).result()

    assert not slots.waiting
    slots.release(wrappers)
    assert slots.acquire() is wrappers


def test_a_slot_that_arrives_at_the_last_moment_is_not_lost() -> None:
    """Release and time-out race: whichever wins, the slot is lent once or idle."""
    slots = ConnectionSlots(1, patience=0.002)
    lent = 0

    def run(_: int) -> None:
        nonlocal lent
        try:
            wrappers = slots.acquire()
        except Unavailable:
            return
        lent += 1
        time.sleep(0.002)
        slots.release(wrappers)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(run, range(400)))

    assert lent > 0
    assert len(slots.idle) == 1
    assert not slots.waiting


def test_a_thread_after_its_request_has_no_lent_connection(slots: ConnectionSlots) -> None:
    go_on = Event()
    ready = Barrier(2)

    def run() -> Any:
        wrappers = slots.acquire()
        uninstall()
        slots.release(wrappers)
        ready.wait()
        go_on.wait()
        return [wrapper for wrapper in connections.all(initialized_only=True) if wrapper is wrappers["default"]]

    with ThreadPoolExecutor(1) as threads:
        left = threads.submit(run)
        ready.wait()
        go_on.set()

    assert left.result() == []


@pytest.fixture(autouse=True)
def own_connection() -> Iterator[None]:
    """Give the test's thread its own connection back: some tests lend a slot to it."""
    own = connections["default"]
    yield
    uninstall()
    connections["default"] = own
