"""Check new connections to a server, and interrupt those to a server that does not respond.

libpq waits without a time limit for the result of a statement, and TCP notices only that a machine is gone, not that a
process hangs. To end the wait, another thread shuts the socket down; the waiting thread gets an error of libpq.
"""

import os
import socket
from collections.abc import Callable
from threading import Lock
from typing import Any
from weakref import WeakSet

REGISTRY_LOCK = Lock()
CHECKS: dict[str, Callable[[Any], None]] = {}  # by the alias of a database: checks a new connection, or raises
OPEN: dict[str, "WeakSet[Any]"] = {}  # psycopg connections by the alias of their database


def register_connection(alias: str, connection: Any) -> None:
    """Check a new connection, and let `interrupt_connections` find it. Raises what the check raises."""
    check = CHECKS.get(alias)
    if check is not None:
        check(connection)
    with REGISTRY_LOCK:
        OPEN.setdefault(alias, WeakSet()).add(connection)


def interrupt_connections(alias: str) -> int:
    """Shut down the sockets of all connections to a database. Returns their number."""
    with REGISTRY_LOCK:
        connections = [connection for connection in OPEN.get(alias, ()) if not connection.closed]
    return sum(interrupt_connection(connection) for connection in connections)


def interrupt_connection(connection: Any) -> bool:
    try:
        descriptor = os.dup(connection.pgconn.socket)
    except Exception:  # noqa: BLE001 - its thread has closed it: psycopg's error, or that of the system
        return False
    with socket.socket(fileno=descriptor) as copy:
        # The number of a closed socket may have been given to another file or connection.
        if connection.closed or not has_port(copy, connection):
            return False
        try:
            copy.shutdown(socket.SHUT_RDWR)
        except OSError:
            return False
    return True


def has_port(opened: socket.socket, connection: Any) -> bool:
    try:
        peer = opened.getpeername()
        return not isinstance(peer, tuple) or str(peer[1]) == connection.pgconn.port.decode()
    except Exception:  # noqa: BLE001 - not a socket, or closed
        return False
