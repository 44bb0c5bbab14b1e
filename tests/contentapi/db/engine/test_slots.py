"""Connection slots and lanes: many threads, few connections, in the order of arrival."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event, Lock
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError, connections

from contentapi.db.engine.slots import (
    MAX_WAITING,
    ConnectionSlots,
    Lane,
    Lease,
    NoSlotAvailable,
    enter_expensive_lane,
    enter_preparation_lane,
    get_connection,
    uninstall_connections,
)
from contentapi.db.statements import execute

pytestmark = pytest.mark.usefixtures("own_connection")


def enter_no_lane() -> None:
    """Use a slot only."""


def get_queue(slots: ConnectionSlots, enter: Callable[[], None]) -> Lane:
    lanes = {enter_no_lane: slots, enter_preparation_lane: slots.preparation, enter_expensive_lane: slots.expensive}
    return lanes[enter]


def run(slots: ConnectionSlots, enter: Callable[[], None], work: Callable[[], Any]) -> Any:
    """Do the work of a request, in a lane."""
    lease = slots.acquire()
    try:
        enter()
        enter()  # the second call does nothing
        return work()
    finally:
        slots.release(lease)


def wait_for(queue: Lane, number: int) -> None:
    """Wait until some threads wait in a queue."""
    while len(queue.waiting) < number:
        time.sleep(0.001)


def wrapper_of(lease: Lease) -> Any:
    assert lease.wrappers is not None
    return lease.wrappers["default"]


def require_all_free(slots: ConnectionSlots) -> None:
    assert (slots.unused, slots.preparation.unused) == (slots.size, 1)
    assert slots.expensive.unused == max(1, slots.size // 8)
    assert [*slots.waiting, *slots.preparation.waiting, *slots.expensive.waiting] == []


class Running:
    """Counts how many threads run at a time."""

    def __init__(self) -> None:
        self.now, self.most, self.lock = 0, 0, Lock()

    def work(self) -> int:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        execute("SELECT pg_sleep(0.005)")  # also the slot after a wait has a working connection
        with self.lock:
            self.now -= 1
        return id(connections["default"])


@pytest.mark.parametrize(
    ("enter", "size", "most"),
    [
        (enter_no_lane, 2, 2),
        (enter_preparation_lane, 4, 1),
        (enter_expensive_lane, 4, 1),
        (enter_expensive_lane, 16, 2),
    ],
)
def test_requests_run_at_the_same_time_up_to_the_limit(enter: Callable[[], None], size: int, most: int) -> None:
    slots, running = ConnectionSlots(size, patience=60), Running()

    with ThreadPoolExecutor(12) as threads:
        wrappers = set(threads.map(lambda _: run(slots, enter, running.work), range(24)))

    assert running.most == most
    assert len(wrappers) <= size
    require_all_free(slots)
    for idle in slots.idle.values():
        idle["default"].close()


@pytest.mark.parametrize("enter", [enter_no_lane, enter_preparation_lane, enter_expensive_lane])
def test_requests_are_served_in_the_order_of_arrival(enter: Callable[[], None]) -> None:
    slots = ConnectionSlots(1 if enter is enter_no_lane else 2, patience=60)
    first = slots.acquire()
    enter()
    order: list[int] = []

    with ThreadPoolExecutor(MAX_WAITING) as threads:
        for number in range(MAX_WAITING):
            threads.submit(run, slots, enter, partial(order.append, number))
            wait_for(get_queue(slots, enter), number + 1)
        if enter is not enter_no_lane:  # those that wait have no slot: another request has one at once
            threads.submit(run, slots, enter_no_lane, int)
        slots.release(first)

    assert order == [*range(MAX_WAITING)]
    require_all_free(slots)


@pytest.mark.parametrize("enter", [enter_no_lane, enter_preparation_lane, enter_expensive_lane])
def test_request_that_waits_too_long_fails_and_leaves_the_queue(enter: Callable[[], None]) -> None:
    slots = ConnectionSlots(1 if enter is enter_no_lane else 2, patience=0.05)
    first = slots.acquire()
    enter()

    def fail() -> list[Any]:
        name = get_queue(slots, enter).name
        with pytest.raises(NoSlotAvailable, match=rf"waited 0\.05 s for the {name}") as error:
            run(slots, enter, int)
        assert error.value.awaited == name
        return list(connections.all(initialized_only=True))

    with ThreadPoolExecutor(1) as threads:
        left = threads.submit(fail).result()

    assert left == []  # another thread may have the connections by now
    slots.release(first)
    require_all_free(slots)


def test_slot_released_at_the_time_limit_is_not_lost() -> None:
    """The release and the time limit race: in both cases the slot is leased once or unused."""
    slots = ConnectionSlots(1, patience=0.002)

    def try_run(_: int) -> int:
        try:
            run(slots, enter_no_lane, lambda: time.sleep(0.002))
        except NoSlotAvailable:
            return 0
        return 1

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(try_run, range(400))) > 0

    require_all_free(slots)


def test_thread_has_no_leased_connection_after_its_request(slots: ConnectionSlots) -> None:
    def look() -> tuple[bool, list[Any]]:
        lease = slots.acquire()
        leased = wrapper_of(lease)
        is_same = get_connection("default") is connections["default"] is leased
        uninstall_connections()
        slots.release(lease)
        return is_same, [wrapper for wrapper in connections.all(initialized_only=True) if wrapper is leased]

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(look).result() == (True, [])


def test_slot_has_a_new_connection_after_an_error_that_broke_the_last_one(slots: ConnectionSlots) -> None:
    def break_connection() -> None:
        connections["default"].ensure_connection()
        connections["default"].connection.close()

    def request() -> bool:
        return bool(connections["default"].is_usable()) if connections["default"].connection else True

    with ThreadPoolExecutor(1) as threads:
        threads.submit(run, slots, enter_no_lane, break_connection).result()
        assert threads.submit(run, slots, enter_no_lane, request).result()


def test_slot_whose_connection_cannot_be_closed_is_not_lost(
    slots: ConnectionSlots, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Any) -> None:
        raise OperationalError("the connection is lost")

    def connect() -> bool:
        connections["default"].ensure_connection()
        connections["default"].close_at = 0
        return True

    with ThreadPoolExecutor(1) as threads:
        with monkeypatch.context() as patch:
            patch.setattr("contentapi.db.engine.base.DatabaseWrapper.close", fail)
            assert [threads.submit(run, slots, enter_no_lane, connect).result() for _ in range(2)] == [True, True]
        threads.submit(connections.close_all).result()

    require_all_free(slots)


def test_expensive_requests_leave_most_slots_and_the_preparation_to_others() -> None:
    slots = ConnectionSlots(16, patience=60)
    go_on = Event()

    with ThreadPoolExecutor(8) as threads:
        expensive = [threads.submit(run, slots, enter_expensive_lane, go_on.wait) for _ in range(6)]
        wait_for(slots.expensive, 4)
        assert threads.submit(run, slots, enter_preparation_lane, lambda: True).result(timeout=60)
        others = [slots.acquire() for _ in range(14)]
        is_full = not slots.unused
        for lease in others:
            slots.release(lease)
        go_on.set()

    assert is_full
    assert [request.result() for request in expensive] == [True] * 6
    require_all_free(slots)


def test_expensive_request_is_refused_at_once_if_the_queue_is_full() -> None:
    slots = ConnectionSlots(8, patience=60)
    first = slots.acquire()
    enter_expensive_lane()

    with ThreadPoolExecutor(MAX_WAITING + 1) as threads:
        waiting = [threads.submit(run, slots, enter_expensive_lane, int) for _ in range(MAX_WAITING)]
        wait_for(slots.expensive, MAX_WAITING)
        with pytest.raises(NoSlotAvailable, match="32 requests wait for the expensive lane already"):
            threads.submit(run, slots, enter_expensive_lane, int).result()
        slots.release(first)

    assert [request.result() for request in waiting] == [0] * MAX_WAITING
    require_all_free(slots)


def test_expensive_request_leaves_the_preparation_lane(slots: ConnectionSlots) -> None:
    lease = slots.acquire()
    enter_preparation_lane()
    enter_expensive_lane()
    enter_preparation_lane()  # an expensive request stays in its lane

    assert (lease.lane, slots.preparation.unused) == (slots.expensive, 1)
    slots.release(lease)
    require_all_free(slots)


def test_connections_to_all_databases_are_checked_after_a_wait_for_a_lane(slots: ConnectionSlots) -> None:
    checked: list[str] = []
    for _ in range(slots.size):
        wrappers = {
            alias: SimpleNamespace(close_if_unusable_or_obsolete=partial(checked.append, alias), close=bool)
            for alias in ("default", "replica0")
        }
        slots.idle[id(wrappers)] = wrappers
    first = slots.acquire()
    enter_expensive_lane()

    with ThreadPoolExecutor(1) as threads:
        request = threads.submit(run, slots, enter_expensive_lane, checked.copy)
        wait_for(slots.expensive, 1)
        before = checked.copy()
        slots.release(first)

    assert before == ["default"] * 2  # at the start of a request, the primary alone
    assert "replica0" in request.result()


def test_lanes_do_nothing_outside_of_a_server() -> None:
    own = connections["default"]

    enter_expensive_lane()

    assert connections["default"] is own
