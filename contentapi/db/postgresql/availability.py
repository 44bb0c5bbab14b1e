"""Notice that PostgreSQL does not answer, and fail the requests that wait for it, within two seconds.

libpq waits without a time limit for the result of a statement. TCP reports only a peer that does not acknowledge data,
and the kernel acknowledges the data of a process that hangs. A statement may take up to CONTENTAPI_STATEMENT_TIMEOUT,
so a long wait does not tell a slow statement from a server that is gone. A probe does: a thread of each server process
looks at the connections four times a second. If one of them has waited since the last look, the thread sends a probe on
a connection of its own. If neither the probe nor any statement ends within `ANSWER_LIMIT`, the database is silent: the
thread shuts down the sockets of all connections, so that the threads that wait get an error of libpq, which becomes
503.

While the database is silent, requests do not try to connect. The thread does, every `RETRY_INTERVAL`, and requests
connect again after its first success. A server that refuses connections is not silent: its errors arrive at once.

A pooler such as PgBouncer accepts a connection at once, and a probe waits in its queue while statements of others
occupy the pool. So a probe that passes a pooler has the time of a statement in addition. The silence then ends with the
result of a probe, not with a connection.

The path of a request is unchanged: `get_new_connection` of the database engine is the only caller. See
docs/decisions/0043-silent-database.md.
"""

import os
import select
import socket
import time
from collections.abc import Callable, Collection
from threading import Event, Lock, Thread
from typing import Any
from weakref import WeakSet

import psycopg
from django.conf import settings
from psycopg.pq import ExecStatus, TransactionStatus

TICK = 0.25  # seconds between two looks
PROBE = b"SELECT pg_backend_pid()"  # through a pooler, this is not the process id of the connection
LARGEST_PROCESS_ID = 2**22  # of Linux; poolers report random numbers of 32 bits
ANSWER_LIMIT = 0.75  # seconds in which a server that works answers a probe
CONNECT_LIMIT = 1.25  # seconds that a request waits for a new connection
RETRY_INTERVAL = 0.5  # seconds between two attempts to connect while the database is silent
RETRY_LIMIT = 2.0  # seconds of such an attempt, for each host

Connection = psycopg.Connection[Any]
Connect = Callable[[dict[str, Any]], Any]


class DatabaseSilent(psycopg.OperationalError):
    """The database does not answer. Like other operational errors, the client gets 503."""

    def __init__(self) -> None:
        super().__init__("the database does not answer")


class ConnectionAttempt:
    """An attempt to connect in a thread of its own.

    Name resolution and the attempts at several hosts have no common time limit. An abandoned attempt closes its
    connection.
    """

    def __init__(self, connect: Connect, parameters: dict[str, Any]) -> None:
        self.connection: Any = None
        self.error: BaseException | None = None
        self.is_abandoned = False
        self.finished = Event()
        self.lock = Lock()
        Thread(target=self.run, args=(connect, parameters), name="connect", daemon=True).start()

    def run(self, connect: Connect, parameters: dict[str, Any]) -> None:
        try:
            connection = connect(parameters)
        except BaseException as error:  # noqa: BLE001 - `wait` raises it in the other thread
            self.error = error
        else:
            with self.lock:
                self.connection = connection
                if self.is_abandoned:
                    connection.close()
        self.finished.set()

    def abandon(self) -> None:
        with self.lock:
            self.is_abandoned = True
            if self.connection is not None:
                self.connection.close()

    def wait(self, limit: float) -> Any:
        """Return the connection. Raises the error of the attempt, and `TimeoutError` after `limit` seconds."""
        if not self.finished.wait(limit):
            self.abandon()
            raise TimeoutError
        if self.error is not None:
            raise self.error
        return self.connection


class AvailabilityGuard:
    """Watches the connections of this process to one database.

    `is_silent` is true from the moment at which the database was found not to answer until a connection succeeds.
    """

    def __init__(self) -> None:
        self.is_enabled = False  # for processes other than a server
        self.forget()

    def forget(self) -> None:
        """Begin without connections and without a thread. A forked process inherits neither."""
        self.is_silent = False
        self.is_pooled: bool | None = None  # a guess from the first connection, until the result of a probe
        self.lock = Lock()
        self.connections: WeakSet[Connection] = WeakSet()
        self.thread: Thread | None = None
        self.stopping = Event()
        self.parameters: dict[str, Any] = {}
        self.reached: tuple[str, str] | None = None  # host and port of the newest connection of the thread
        self.probe: Connection | None = None
        self.is_probe_sent = False
        self.probe_sent_at = 0.0
        self.attempt: ConnectionAttempt | None = None
        self.attempted_at = 0.0
        self.waiting: set[Connection] = set()  # at the last look
        self.unanswered_since: float | None = None
        self.lost: set[tuple[int, int]] = set()  # backend process and client port of connections that were cut

    def connect(self, parameters: dict[str, Any], connect: Connect) -> Any:
        """Return `connect(parameters)`, a psycopg connection, which is then watched.

        Raises `DatabaseSilent` at once while the database is silent, and after `CONNECT_LIMIT` seconds. Raises the
        errors of `connect`.
        """
        self.parameters = parameters
        if self.is_silent:
            raise DatabaseSilent
        try:
            connection = ConnectionAttempt(connect, self.prefer_reached_host(parameters)).wait(CONNECT_LIMIT)
        except TimeoutError:
            self.is_silent = True
            raise DatabaseSilent from None
        finally:
            self.start()
        with self.lock:
            self.connections.add(connection)
        if self.is_pooled is None:
            self.is_pooled = not 0 < connection.info.backend_pid <= LARGEST_PROCESS_ID
        return connection

    def prefer_reached_host(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Of several hosts, put the one that the thread has reached first: the others may be silent."""
        hosts = str(parameters.get("host") or "").split(",")
        if len(hosts) == 1 or self.reached is None or parameters.get("hostaddr"):
            return parameters
        ports = str(parameters.get("port") or "5432").split(",")
        places = list(zip(hosts, ports * len(hosts) if len(ports) == 1 else ports, strict=False))
        places.sort(key=lambda place: place != self.reached)
        ordered_hosts, ordered_ports = zip(*places, strict=True)
        return {**parameters, "host": ",".join(ordered_hosts), "port": ",".join(ordered_ports)}

    def start(self) -> None:
        """Start the thread of this process."""
        with self.lock:
            if self.thread is None:
                self.thread = Thread(target=self.run, name="availability", daemon=True)
                self.thread.start()

    def run(self) -> None:
        while not self.stopping.wait(TICK):
            self.inspect()

    def stop(self) -> None:
        """End the thread and close its connection. A server process does not: the thread ends with it."""
        self.stopping.set()
        if self.thread is not None:
            self.thread.join()
        if self.attempt is not None:
            self.attempt.abandon()
        self.drop_probe()

    @property
    def answer_limit(self) -> float:
        """The seconds in which the database must answer a probe."""
        return ANSWER_LIMIT + (settings.TIMEOUTS.statement if self.is_pooled else 0)

    def inspect(self) -> None:
        """Look at the connections once, and do the next step of a probe or of an attempt to connect."""
        has_answered = self.continue_attempt() or self.has_probe_answered()
        if self.is_silent and self.is_pooled:
            if has_answered:
                self.is_silent = False
            elif self.is_probe_sent and time.monotonic() - self.probe_sent_at >= self.answer_limit:
                self.drop_probe()
        waiting = self.find_waiting_connections()
        still_waiting, finished = waiting & self.waiting, self.waiting - waiting
        self.waiting = waiting
        if has_answered or finished or not still_waiting:
            self.unanswered_since = None
        if not still_waiting:
            return
        if self.unanswered_since is None:
            self.unanswered_since = time.monotonic()
            self.send_probe()
        elif time.monotonic() - self.unanswered_since >= self.answer_limit:
            self.declare_silent()

    def find_waiting_connections(self) -> set[Connection]:
        """Return the connections that wait for the result of a statement."""
        with self.lock:
            connections = list(self.connections)
        return {each for each in connections if is_waiting(each)}

    # --- The connection of the thread

    def continue_attempt(self) -> bool:
        """Connect the thread if it has no connection or if the database is silent. Returns whether it accepted."""
        attempt, now = self.attempt, time.monotonic()
        if attempt is None:
            is_in_queue = self.is_pooled and self.is_probe_sent
            must_connect = self.probe is None or (self.is_silent and not is_in_queue)
            if must_connect and now >= self.attempted_at + RETRY_INTERVAL:
                self.attempted_at = now
                self.attempt = ConnectionAttempt(connect_probe, self.prefer_reached_host(self.parameters))
            return False
        if attempt.finished.is_set():
            self.attempt = None
            if attempt.connection is not None:
                self.accept_probe(attempt.connection)
                return not self.is_pooled
        elif now >= self.attempted_at + RETRY_LIMIT * (1 + str(self.parameters.get("host")).count(",")):
            attempt.abandon()
            self.attempt = None
        return False

    def accept_probe(self, connection: Connection) -> None:
        """Use a new connection for probes. Unless a pooler accepted it, the database is not silent any more."""
        self.drop_probe()
        self.probe = connection
        self.reached = (connection.info.host, str(connection.info.port))
        lost, self.lost = self.lost, set()
        self.send_probe(build_end_of_backends(lost) + b"; " + PROBE if lost else PROBE)
        self.is_silent = self.is_silent and bool(self.is_pooled)

    def drop_probe(self) -> None:
        probe, self.probe, self.is_probe_sent = self.probe, None, False
        if probe is not None:
            probe.close()

    def send_probe(self, statements: bytes = PROBE) -> None:
        """Send statements, the last of which is `PROBE`, without waiting for the results."""
        if self.probe is None or self.is_probe_sent:
            return
        try:
            self.probe.pgconn.send_query(statements)
            self.is_probe_sent, self.probe_sent_at = True, time.monotonic()
        except psycopg.Error:
            self.drop_probe()

    def has_probe_answered(self) -> bool:
        """Return whether the result of a probe has arrived since the last call."""
        has_answered = False
        if self.probe is None or not self.is_probe_sent:
            return has_answered
        raw = self.probe.pgconn
        try:
            if not has_incoming_data(raw.socket):
                return has_answered
            raw.consume_input()
            while self.is_probe_sent and not raw.is_busy():
                result = raw.get_result()
                if result is None:
                    self.is_probe_sent = False
                elif result.status != ExecStatus.TUPLES_OK:
                    raise psycopg.OperationalError  # such as that of a pooler that cannot connect
                elif result.fname(0) == b"pg_backend_pid":
                    self.is_pooled = int(result.get_value(0, 0) or 0) != raw.backend_pid
                    has_answered = True
        except psycopg.Error:  # the connection is of no use; an attempt to connect follows
            self.drop_probe()
        return has_answered

    # --- Silence

    def declare_silent(self) -> None:
        """Cut all connections. Their threads get an error, and new connections are refused until the thread has one."""
        self.is_silent = True
        self.unanswered_since = None
        self.waiting = set()
        with self.lock:
            connections = list(self.connections)
        for connection in connections:
            lost = cut(connection)
            if lost is not None:
                self.lost.add(lost)
        self.drop_probe()


def is_waiting(connection: Connection) -> bool:
    try:
        return not connection.closed and connection.pgconn.transaction_status == TransactionStatus.ACTIVE
    except psycopg.Error:  # its thread closes it just now
        return False


def connect_probe(parameters: dict[str, Any]) -> Connection:
    return psycopg.connect(**{**parameters, "autocommit": True})


def has_incoming_data(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def cut(connection: Connection) -> tuple[int, int] | None:
    """Shut down the socket of a connection that another thread may use. That thread gets an error of libpq.

    Returns the backend's process id and the client's port, or None if the connection is closed or uses a Unix socket.
    """
    raw = connection.pgconn
    try:
        descriptor, backend = raw.socket, raw.backend_pid
        with socket.socket(fileno=os.dup(descriptor)) as copy:
            if raw.socket != descriptor:
                return None
            # A connection never changes its socket: it was open before and after `dup`, so this is its socket.
            address = copy.getsockname()
            copy.shutdown(socket.SHUT_RDWR)
    except (psycopg.Error, OSError):  # its thread has closed it
        return None
    return (backend, address[1]) if isinstance(address, tuple) else None


def build_end_of_backends(lost: Collection[tuple[int, int]]) -> bytes:
    """Return a statement that ends the backends of connections that were cut: they may hold locks.

    PostgreSQL learns late, if packets were dropped, that a client has closed its connection. The client's port
    distinguishes a backend from one with the same process id on another server, or behind PgBouncer. For example:

        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE (pid, client_port) IN ((4711,50122)) AND usename = current_user
    """
    pairs = ",".join(f"({backend:d},{port:d})" for backend, port in sorted(lost))
    return (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "  # noqa: S608 - two integers each
        f"WHERE (pid, client_port) IN ({pairs}) AND usename = current_user"
    ).encode()


GUARD = AvailabilityGuard()
os.register_at_fork(after_in_child=GUARD.forget)
