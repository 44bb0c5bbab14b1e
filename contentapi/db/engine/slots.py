"""Connection slots: share the few database connections of a server process among its many threads.

A thread leases a slot when it has a complete request, and returns it with the response. A request that has a document
to parse and validate enters the preparation lane, one of a process at a time, and one that turns out to be expensive
the expensive lane, which has an eighth of the slots. Slots and lanes serve in the order of arrival. See
docs/decisions/0007-connection-slots-and-two-lanes.md.
"""

from collections import deque
from collections.abc import Callable, Iterator
from math import inf
from threading import Lock, local
from time import perf_counter
from typing import Any

import msgspec
from django.db import DEFAULT_DB_ALIAS, connections

from contentapi.monitoring.figures import Sample
from contentapi.monitoring.records import current_record

MAX_WAITING = 32  # requests that wait for the expensive lane, each of them for seconds and in a thread

Wrappers = dict[str, Any]  # Django's database wrappers, by their aliases


class NoSlotAvailable(Exception):
    """A request waited too long, or found no place in a queue. `awaited` names the slots or the lane."""

    def __init__(self, awaited: str, message: str) -> None:
        super().__init__(message)
        self.awaited = awaited


class Lane:
    """A limit of `size` requests at a time. Up to `most_waiting` others wait, each for `patience` seconds."""

    def __init__(self, name: str, size: int, patience: float, *, most_waiting: float = inf) -> None:
        self.name = name
        self.unused = size
        self.patience = patience
        self.most_waiting = most_waiting
        self.waiting: deque[Any] = deque()  # a lock of each thread, which is released when it is its turn
        self.lock = Lock()

    def enter(self, give_way: Callable[[], object] = bool) -> bool:
        """Take a place. Return whether the thread has waited for it; `give_way` is called before.

        Raises `NoSlotAvailable`.
        """
        with self.lock:
            if self.unused:
                self.unused -= 1
                return False
            if len(self.waiting) >= self.most_waiting:
                raise NoSlotAvailable(self.name, f"{self.most_waiting} requests wait for the {self.name} already")
            turn = Lock()
            turn.acquire()
            self.waiting.append(turn)
        give_way()
        start = perf_counter()
        try:
            if not turn.acquire(timeout=self.patience):
                with self.lock:
                    if turn in self.waiting:  # otherwise it is served just now
                        self.waiting.remove(turn)
                        raise NoSlotAvailable(self.name, f"waited {self.patience:g} s for the {self.name}")
        finally:
            current_record.get().waited += perf_counter() - start
        return True

    def leave(self) -> None:
        """Give the place to the thread that has waited longest."""
        with self.lock:
            if self.waiting:
                self.waiting.popleft().release()
            else:
                self.unused += 1


class Lease(msgspec.Struct):
    """A thread's use of a slot for one request. Between two slots, `wrappers` is None."""

    slots: "ConnectionSlots"
    wrappers: Wrappers | None = None
    lane: Lane | None = None


class ThreadState(local):
    """The lease of this thread, and the connections that it has used, or those of the slot that it leased last."""

    def __init__(self) -> None:
        self.lease: Lease | None = None
        self.connections: Wrappers = {}


THREAD = ThreadState()


class ConnectionSlots(Lane):
    """At most `size` sets of connections. Each is leased to one thread at a time, in the order of arrival.

    A thread waits `patience` seconds for a slot or a lane. Its request then fails with `NoSlotAvailable`.
    """

    def __init__(self, size: int, *, patience: float) -> None:
        super().__init__("connection slots", size, patience)
        self.size = size
        self.idle: dict[int, Wrappers] = {}  # by identity; a worker process creates its own
        self.preparation = Lane("preparation lane", 1, patience)
        self.expensive = Lane("expensive lane", max(1, size // 8), patience, most_waiting=MAX_WAITING)
        self.released = 0  # slots, since the start: the watch of the worker sees that requests progress

    def acquire(self) -> Lease:
        """Lease a slot, whose connections become `django.db.connections` of this thread. Raises `NoSlotAvailable`."""
        self.enter()
        lease = THREAD.lease = Lease(self, self.install())
        return lease

    def install(self) -> Wrappers:
        """Install the connections of a free slot in this thread, that to the primary in a state to be used."""
        wrappers = self.idle.pop(id(THREAD.connections), None)  # of the slot that this thread used last
        if wrappers is None:
            try:
                wrappers = self.idle.popitem()[1]
            except KeyError:
                wrappers = create_wrappers()
            for alias, wrapper in wrappers.items():
                connections[alias] = wrapper
            THREAD.connections = wrappers
        wrappers[DEFAULT_DB_ALIAS].close_if_unusable_or_obsolete()
        return wrappers

    def give_back(self, lease: Lease) -> None:
        """Return the slot of a lease, which has none if its request failed while it waited for another one."""
        wrappers, lease.wrappers = lease.wrappers, None
        if wrappers is not None:
            self.idle[id(wrappers)] = wrappers
            self.released += 1
            self.leave()

    def measure(self) -> Iterator[Sample]:
        """Yield how many slots there are, how many serve a request, and how many requests wait."""
        waiting = len(self.waiting) + len(self.preparation.waiting) + len(self.expensive.waiting)
        yield "contentapi_slots", (), self.size
        yield "contentapi_slots_in_use", (), self.size - self.unused
        yield "contentapi_slots_waiting", (), waiting

    def release(self, lease: Lease) -> None:
        """Return the slot, and leave the lane."""
        THREAD.lease = None
        if lease.lane is not None:
            leave_lane(lease)
        self.give_back(lease)

    def enter_lane(self, lease: Lease, lane: Lane) -> None:
        """Move a lease to a lane. While the lane is full, the thread waits without a slot.

        Raises `NoSlotAvailable`.
        """

        def give_way() -> None:
            uninstall_connections()  # before another thread gets the connections
            self.give_back(lease)

        leave_lane(lease)
        has_waited = lane.enter(give_way)
        lease.lane = lane
        if has_waited:
            self.enter()
            lease.wrappers = self.install()
            for wrapper in lease.wrappers.values():  # the thread may continue a read of a replica
                wrapper.close_if_unusable_or_obsolete()


def leave_lane(lease: Lease) -> None:
    lane, lease.lane = lease.lane, None
    if lane is not None:
        lane.leave()


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


def uninstall_connections() -> None:
    """Remove the connections from this thread, so that code that runs after the response cannot use a leased one."""
    for alias in THREAD.connections:
        del connections[alias]
    THREAD.connections = {}


def get_connection(alias: str) -> Any:
    """Return `connections[alias]`, without Django's check for an event loop, which costs an exception each time."""
    known = THREAD.connections
    return known[alias] if alias in known else known.setdefault(alias, connections[alias])
