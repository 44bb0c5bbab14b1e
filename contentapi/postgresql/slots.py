"""Connection slots: the few database connections of a server process, lent to its many threads.

A server thread that waits for a slow client costs little memory; a database connection costs a process of PostgreSQL.
So a thread takes a slot when it has a complete request, and returns it with the response. Django's live test server
lends connections to its threads in the same way.
"""

from collections import deque
from threading import Lock, local
from typing import Any

from django.db import connections

from contentapi.errors import Unavailable
from contentapi.postgresql.threads import use_connections

Wrappers = dict[str, Any]  # Django's database wrappers, by their aliases


class LentToThread(local):
    """The slot whose connections this thread uses, if any. It stays installed until another one replaces it."""

    wrappers: Wrappers | None = None


LENT = LentToThread()


class Waiter:
    """A thread that waits for a slot. `ready` is released when `wrappers` has arrived."""

    __slots__ = ("ready", "wrappers")

    def __init__(self) -> None:
        self.wrappers: Wrappers | None = None
        self.ready = Lock()
        self.ready.acquire()


class ConnectionSlots:
    """At most `size` sets of connections, lent to one thread each, first come, first served.

    `patience` is how many seconds a thread waits for a slot before its request fails as `Unavailable`.
    """

    def __init__(self, size: int, *, patience: float) -> None:
        self.patience = patience
        self.unused = size  # slots whose wrappers do not exist yet: they belong to the process that serves
        self.idle: list[Wrappers] = []
        self.waiting: deque[Waiter] = deque()
        self.lock = Lock()

    def acquire(self) -> Wrappers:
        """Lend a slot to this thread: `django.db.connections` are the slot's from now on. Raises `Unavailable`."""
        with self.lock:
            if self.idle:
                wrappers, waiter = self.idle.pop(), None
            elif self.unused:
                self.unused -= 1
                wrappers, waiter = make_wrappers(), None
            else:
                waiter = Waiter()
                self.waiting.append(waiter)
        if waiter is not None:
            wrappers = self.wait(waiter)
        if LENT.wrappers is not wrappers:
            install(wrappers)
        return wrappers

    def wait(self, waiter: Waiter) -> Wrappers:
        waiter.ready.acquire(timeout=self.patience)
        with self.lock:
            if waiter.wrappers is None:
                self.waiting.remove(waiter)
                raise Unavailable
            return waiter.wrappers

    def release(self, wrappers: Wrappers) -> None:
        """Return a slot. The thread that has waited longest gets it."""
        with self.lock:
            if self.waiting:
                waiter = self.waiting.popleft()
                waiter.wrappers = wrappers
                waiter.ready.release()
            else:
                self.idle.append(wrappers)


def make_wrappers() -> Wrappers:
    wrappers = {alias: connections.create_connection(alias) for alias in connections}
    for wrapper in wrappers.values():
        wrapper.inc_thread_sharing()
    return wrappers


def install(wrappers: Wrappers) -> None:
    for alias, wrapper in wrappers.items():
        connections[alias] = wrapper
    use_connections(wrappers)
    LENT.wrappers = wrappers


def uninstall() -> None:
    """Leave this thread without connections, so that code which runs after the response cannot use a lent one."""
    if LENT.wrappers is not None:
        for alias in LENT.wrappers:
            del connections[alias]
        use_connections({})
        LENT.wrappers = None
