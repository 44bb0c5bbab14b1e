"""Connection slots: share the few database connections of a server process among its many threads.

A thread that waits for a slow client needs little memory; a database connection needs a process of PostgreSQL. So a
thread leases a slot when it has a complete request, and returns it with the response. Django's live test server shares
connections with its threads in the same way.

Expensive requests leave most slots to the others. A request that has a document to parse and validate, which takes
only the processor, calls `enter_preparation_lane`: one request of a process does so at a time. A request that turns out
to be expensive calls `enter_expensive_lane`: at most an eighth of the slots, but at least one, serves those. The lanes
are separate so that a cheap request with a new document does not wait for an expensive statement.

Slots and lanes serve in the order of arrival.
"""

from collections import deque
from collections.abc import Iterator
from math import inf
from threading import Lock, local
from time import perf_counter
from typing import Any

import msgspec
from django.db import connections

from contentapi.db.engine.thread_connections import CURRENT, close_unusable_connection
from contentapi.monitoring.figures import Sample
from contentapi.monitoring.records import current_record

MAX_WAITING = 32  # requests that wait for the expensive lane, each of them for seconds and in a thread
SLOTS = "connection slots"

Wrappers = dict[str, Any]  # Django's database wrappers, by their aliases


class NoSlotAvailable(Exception):
    """A request waited too long, or found no place in a queue. `awaited` names the slots or the lane."""

    def __init__(self, awaited: str, message: str) -> None:
        super().__init__(message)
        self.awaited = awaited


class Waiter:
    """A thread that waits for a slot or for a lane. `ready` is released when it is its turn."""

    __slots__ = ("ready", "wrappers")

    def __init__(self) -> None:
        self.wrappers: Wrappers | None = None
        self.ready = Lock()
        self.ready.acquire()


class Lane:
    """A limit of `size` requests at a time. Up to `most_waiting` others wait."""

    def __init__(self, name: str, size: int, *, most_waiting: float = inf) -> None:
        self.name = name
        self.unused = size
        self.most_waiting = most_waiting
        self.waiting: deque[Waiter] = deque()


class Lease(msgspec.Struct):
    """A thread's use of a slot for one request. Between two slots, `wrappers` is None."""

    slots: "ConnectionSlots"
    wrappers: Wrappers | None = None
    lane: Lane | None = None


class ThreadState(local):
    lease: Lease | None = None


THREAD = ThreadState()


class ConnectionSlots:
    """At most `size` sets of connections. Each is leased to one thread at a time, in the order of arrival.

    `patience` is the number of seconds that a thread waits for a slot or a lane. Its request then fails with
    `NoSlotAvailable`.
    """

    def __init__(self, size: int, *, patience: float) -> None:
        self.patience = patience
        self.size = size
        self.unused = size  # slots without wrappers: a worker process must create its own
        self.idle: dict[int, Wrappers] = {}  # by identity
        self.waiting: deque[Waiter] = deque()
        self.preparation = Lane("preparation lane", 1)
        self.expensive = Lane("expensive lane", max(1, size // 8), most_waiting=MAX_WAITING)
        self.released = 0  # slots, since the start: the watch of the worker sees that requests progress
        self.lock = Lock()

    @property
    def are_exhausted(self) -> bool:
        """Whether every slot is in use."""
        return not self.unused and not self.idle

    def acquire(self) -> Lease:
        """Lease a slot, whose connections become `django.db.connections` of this thread. Raises `NoSlotAvailable`."""
        lease = THREAD.lease = Lease(self, self.take())
        return lease

    def take(self) -> Wrappers:
        """Take a slot's connections and install them in this thread. Raises `NoSlotAvailable`."""
        waiter = None
        with self.lock:
            if self.idle:  # the slot that this thread used last is still installed
                wrappers = self.idle.pop(id(CURRENT.by_alias), None) or self.idle.popitem()[1]
            elif self.unused:
                self.unused -= 1
                wrappers = create_wrappers()
            else:
                waiter = Waiter()
                self.waiting.append(waiter)
        if waiter is not None:
            wrappers = self.wait(waiter, self.waiting, SLOTS).wrappers or {}
        if CURRENT.by_alias is not wrappers:
            install_connections(wrappers)
        return wrappers

    def wait(self, waiter: Waiter, queue: deque[Waiter], awaited: str) -> Waiter:
        start = perf_counter()
        try:
            if not waiter.ready.acquire(timeout=self.patience):
                with self.lock:
                    if waiter in queue:  # otherwise it is served just now
                        queue.remove(waiter)
                        raise NoSlotAvailable(awaited, f"waited {self.patience:g} s for the {awaited}")
            return waiter
        finally:
            current_record.get().waited += perf_counter() - start

    def measure(self) -> Iterator[Sample]:
        """Yield how many slots there are, how many serve a request, and how many requests wait."""
        waiting = len(self.waiting) + len(self.preparation.waiting) + len(self.expensive.waiting)
        yield "contentapi_slots", (), self.size
        yield "contentapi_slots_in_use", (), self.size - self.unused - len(self.idle)
        yield "contentapi_slots_waiting", (), waiting

    def release(self, lease: Lease) -> None:
        """Return the slot, which goes to the thread that has waited longest, and leave the lane."""
        THREAD.lease = None
        wrappers, lease.wrappers = lease.wrappers, None
        with self.lock:
            self.leave_lane(lease)
            if wrappers is not None:  # otherwise the request failed while it waited for another slot
                self.reassign(wrappers)

    def reassign(self, wrappers: Wrappers) -> None:
        self.released += 1
        if self.waiting:
            waiter = self.waiting.popleft()
            waiter.wrappers = wrappers
            waiter.ready.release()
        else:
            self.idle[id(wrappers)] = wrappers

    def leave_lane(self, lease: Lease) -> None:
        lane, lease.lane = lease.lane, None
        if lane is None:
            return
        if lane.waiting:
            lane.waiting.popleft().ready.release()
        else:
            lane.unused += 1

    def enter_lane(self, lease: Lease, lane: Lane) -> None:
        """Move a lease to a lane. While the lane is full, the thread waits without a slot.

        Raises `NoSlotAvailable`.
        """
        with self.lock:
            self.leave_lane(lease)
            if lane.unused:
                lane.unused -= 1
                lease.lane = lane
                return
            if len(lane.waiting) >= lane.most_waiting:
                raise NoSlotAvailable(lane.name, f"{lane.most_waiting} requests wait for the {lane.name} already")
            waiter = Waiter()
            lane.waiting.append(waiter)
            if lease.wrappers is not None:
                uninstall_connections()  # before another thread gets the connections
                self.reassign(lease.wrappers)
                lease.wrappers = None
        self.wait(waiter, lane.waiting, lane.name)
        lease.lane = lane
        lease.wrappers = self.take()
        close_unusable_connection()


def enter_preparation_lane() -> None:
    """Wait until no other request parses and validates a document.

    Call this before the work, outside of a transaction. Outside of a server, and when called again, it does nothing.
    Raises `NoSlotAvailable`.
    """
    lease = THREAD.lease
    if lease is not None and lease.lane is None:
        lease.slots.enter_lane(lease, lease.slots.preparation)


def enter_expensive_lane() -> None:
    """Wait until fewer expensive requests run than the limit. The rules of `enter_preparation_lane` apply."""
    lease = THREAD.lease
    if lease is not None and lease.lane is not lease.slots.expensive:
        lease.slots.enter_lane(lease, lease.slots.expensive)


def create_wrappers() -> Wrappers:
    wrappers = {alias: connections.create_connection(alias) for alias in connections}
    for wrapper in wrappers.values():
        wrapper.inc_thread_sharing()
    return wrappers


def install_connections(wrappers: Wrappers) -> None:
    for alias, wrapper in wrappers.items():
        connections[alias] = wrapper
    CURRENT.by_alias = wrappers


def uninstall_connections() -> None:
    """Remove the connections from this thread, so that code that runs after the response cannot use a leased one."""
    for alias in CURRENT.by_alias:
        del connections[alias]
    CURRENT.by_alias = {}
