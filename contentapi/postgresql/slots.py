"""Connection slots: the few database connections of a server process, lent to its many threads.

A server thread that waits for a slow client costs little memory; a database connection costs a process of PostgreSQL.
So a thread leases a slot when it has a complete request, and returns it with the response. Django's live test server
lends connections to its threads in the same way.

At most an eighth of the slots, but at least one, serves expensive requests, so that the others find a slot soon. A
request that turns out to be expensive while it runs calls `enter_expensive_lane`.
"""

from collections import deque
from dataclasses import dataclass
from threading import Lock, local
from typing import Any

from django.db import connections

from contentapi.errors import Unavailable
from contentapi.postgresql.threads import look_after_connections, use_connections

MAX_WAITING_EXPENSIVE = 32  # requests: each of them occupies a thread

Wrappers = dict[str, Any]  # Django's database wrappers, by their aliases


@dataclass(slots=True)
class Lease:
    """A thread's use of a slot for one request. Between two slots, `wrappers` is None."""

    slots: "ConnectionSlots"
    wrappers: Wrappers | None = None
    is_expensive: bool = False


class ThreadState(local):
    """The current lease of a thread, and the connections that are installed in it. They stay until others come."""

    lease: Lease | None = None
    installed: Wrappers | None = None


THREAD = ThreadState()


class Waiter:
    """A thread that waits for a slot. `ready` is released when `wrappers` has arrived."""

    __slots__ = ("ready", "wrappers")

    def __init__(self) -> None:
        self.wrappers: Wrappers | None = None
        self.ready = Lock()
        self.ready.acquire()


class ConnectionSlots:
    """At most `size` sets of connections, leased to one thread each, first come, first served.

    `patience` is how many seconds a thread waits for a slot before its request fails as `Unavailable`.
    """

    def __init__(self, size: int, *, patience: float) -> None:
        self.patience = patience
        self.unused = size  # slots whose wrappers do not exist yet: they belong to the process that serves
        self.idle: dict[int, Wrappers] = {}  # by identity
        self.waiting: deque[Waiter] = deque()
        self.unused_expensive = max(1, size // 8)
        self.waiting_expensive: deque[Waiter] = deque()
        self.lock = Lock()

    def acquire(self) -> Lease:
        """Lease a slot: this thread's `django.db.connections` are the slot's from now on. Raises `Unavailable`."""
        waiter = None
        with self.lock:
            if self.idle:  # the one that this thread used last needs no installation
                wrappers = self.idle.pop(id(THREAD.installed), None) or self.idle.popitem()[1]
            elif self.unused:
                self.unused -= 1
                wrappers = make_wrappers()
            else:
                waiter = Waiter()
                self.waiting.append(waiter)
        if waiter is not None:
            wrappers = self.wait(waiter, self.waiting)
        if THREAD.installed is not wrappers:
            install(wrappers)
        lease = THREAD.lease = Lease(self, wrappers)
        return lease

    def wait(self, waiter: Waiter, queue: deque[Waiter]) -> Wrappers:
        waiter.ready.acquire(timeout=self.patience)
        with self.lock:
            if waiter.wrappers is None:
                queue.remove(waiter)
                raise Unavailable
            return waiter.wrappers

    def release(self, lease: Lease) -> None:
        """Return a slot: an expensive request's to the next expensive one, else to the thread that waits longest."""
        THREAD.lease = None
        wrappers, lease.wrappers = lease.wrappers, None
        if wrappers is None:  # the request failed while it waited for another slot
            return
        with self.lock:
            if lease.is_expensive:
                if self.waiting_expensive:
                    hand_over(wrappers, self.waiting_expensive)
                    return
                self.unused_expensive += 1
            self.hand_on(wrappers)

    def hand_on(self, wrappers: Wrappers) -> None:
        if self.waiting:
            hand_over(wrappers, self.waiting)
        else:
            self.idle[id(wrappers)] = wrappers

    def move_to_expensive(self, lease: Lease, wrappers: Wrappers) -> None:
        """Make a lease expensive. While there are too many of these, it waits without a slot. Raises `Unavailable`."""
        with self.lock:
            if self.unused_expensive:
                self.unused_expensive -= 1
                lease.is_expensive = True
                return
            if len(self.waiting_expensive) >= MAX_WAITING_EXPENSIVE:
                raise Unavailable
            uninstall()  # before another thread gets the connections
            waiter = Waiter()
            self.waiting_expensive.append(waiter)
            self.hand_on(wrappers)
            lease.wrappers = None
        lease.wrappers = self.wait(waiter, self.waiting_expensive)
        lease.is_expensive = True
        install(lease.wrappers)
        look_after_connections()


def enter_expensive_lane() -> None:
    """Let the current request go on only among the few expensive ones.

    Call this before the work, outside of a transaction. Outside of a server, and called again, it does nothing.
    Raises `Unavailable`.
    """
    lease = THREAD.lease
    if lease is not None and lease.wrappers is not None and not lease.is_expensive:
        lease.slots.move_to_expensive(lease, lease.wrappers)


def hand_over(wrappers: Wrappers, queue: deque[Waiter]) -> None:
    waiter = queue.popleft()
    waiter.wrappers = wrappers
    waiter.ready.release()


def make_wrappers() -> Wrappers:
    wrappers = {alias: connections.create_connection(alias) for alias in connections}
    for wrapper in wrappers.values():
        wrapper.inc_thread_sharing()
    return wrappers


def install(wrappers: Wrappers) -> None:
    for alias, wrapper in wrappers.items():
        connections[alias] = wrapper
    use_connections(wrappers)
    THREAD.installed = wrappers


def uninstall() -> None:
    """Leave this thread without connections, so that code which runs after the response cannot use a leased one."""
    if THREAD.installed is not None:
        for alias in THREAD.installed:
            del connections[alias]
        use_connections({})
        THREAD.installed = None
