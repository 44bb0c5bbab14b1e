"""Watch a PostgreSQL server: a thread asks it for its state, and knows the connections of this process to it."""

import logging
import os
import socket
from collections.abc import Collection
from dataclasses import dataclass
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any
from weakref import WeakSet

import psycopg
from django.db import connections
from psycopg.pq import TransactionStatus

from contentapi.conf.timeouts import ANSWER_LIMIT, CONNECT_LIMIT, QUESTION_INTERVAL, RECONNECT_LIMIT, WATCH_INTERVAL
from contentapi.db.watch.link import (
    Connect,
    Connection,
    DatabaseUnavailable,
    DeadlineConnection,
    QueryFailed,
    connect_by,
    prefer_reached_host,
)

LOG = logging.getLogger("contentapi.replicas")

PROBE = "SELECT pg_backend_pid()"  # through a pooler, this is not the process id of the connection
# The insert position also covers a commit that does not wait for the disk (synchronous_commit = off).
READ_STATE = """
SELECT pg_backend_pid(), pg_is_in_recovery(),
    CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END - '0/0',
    CASE WHEN pg_is_in_recovery() THEN 0
        ELSE ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int8 END,
    (SELECT system_identifier FROM pg_control_system())
"""


class DatabaseSilent(psycopg.OperationalError):
    """The database does not answer. Like other operational errors, the client gets 503."""

    def __init__(self) -> None:
        super().__init__("the database does not answer")


@dataclass(frozen=True, slots=True)
class State:
    """The state of a server. `lsn` is the position in the log that it has replayed or, as a primary, written.

    `timeline` is 0 for a server in recovery. `cluster` is the same for a primary and all of its copies. `time` is that
    of the question, on the monotonic clock.
    """

    is_in_recovery: bool
    lsn: int
    timeline: int
    cluster: int
    time: float


class Watch:
    """A thread that asks one server. Subclasses decide when, and what follows from its responses and failures."""

    def __init__(self, alias: str) -> None:
        self.alias = alias
        self.link = DeadlineConnection(alias)
        self.lock = Lock()
        self.connections: WeakSet[Connection] = WeakSet()
        self.thread: Thread | None = None
        self.stopping = Event()
        self.asked_at = float("-inf")
        self.is_new = False  # the connection of the question

    def start(self) -> None:
        """Start the thread of this process."""
        with self.lock:
            if self.thread is None:
                self.thread = Thread(target=self.run, name=f"watch-{self.alias}", daemon=True)
                self.thread.start()

    def run(self) -> None:
        while not self.stopping.is_set():
            try:
                self.check_connections()
                if self.must_ask() and monotonic() >= self.asked_at + QUESTION_INTERVAL:
                    self.ask()
            except Exception:
                LOG.exception("The state of %s is unknown.", self.alias)
                self.link.close()
            self.stopping.wait(WATCH_INTERVAL)
        self.link.close()

    def stop(self) -> None:
        """End the thread, which closes its connection. A server process does not: the thread ends with it."""
        self.stopping.set()
        if self.thread is not None:
            self.thread.join()

    def connect(self, parameters: dict[str, Any], connect: Connect) -> Any:
        """Return `connect(parameters)`, a psycopg connection, which is then watched.

        Raises `DatabaseSilent` after `CONNECT_LIMIT` seconds, and the errors of `connect`.
        """
        try:
            preferred = prefer_reached_host(self.alias, parameters)
            connection = connect_by(monotonic() + CONNECT_LIMIT, connect, preferred)
        except TimeoutError:
            raise DatabaseSilent from None
        with self.lock:
            self.connections.add(connection)
        return connection

    # --- Questions

    @property
    def question(self) -> str:
        """The statement of the question, whose row `accept_row` gets."""
        return READ_STATE

    @property
    def answer_limit(self) -> float:
        """The seconds in which the server must answer a question."""
        return ANSWER_LIMIT

    def ask(self) -> None:
        """Ask the server, and take its response or its failure."""
        self.is_new, self.asked_at = self.link.connection is None, monotonic()
        hosts = 1 + connections.settings[self.alias]["HOST"].count(",")
        limit = max(self.answer_limit, RECONNECT_LIMIT * hosts) if self.is_new else self.answer_limit
        try:
            rows = self.link.query(self.question, self.asked_at + limit, self.check_connections)
        except (DatabaseUnavailable, QueryFailed) as error:
            self.accept_failure(str(error).rstrip("."))
        else:
            self.accept_row(rows[0])

    def check_connections(self) -> bool:
        """Check the connections of requests, also during a question. Returns whether to end the question."""
        return False

    def must_ask(self) -> bool:
        return True

    def accept_row(self, row: tuple[str | None, ...]) -> None:
        _, is_in_recovery, lsn, timeline, cluster = row
        self.accept_state(
            State(is_in_recovery == "t", int(lsn or 0), int(timeline or 0), int(cluster or 0), self.asked_at)
        )

    def accept_state(self, state: State) -> None:
        raise NotImplementedError

    def accept_failure(self, reason: str) -> None:
        raise NotImplementedError

    # --- Connections of requests

    def list_connections(self) -> list[Connection]:
        with self.lock:
            return list(self.connections)

    def cut_connections(self) -> set[tuple[int, int]]:
        """End the waits of all threads for this server. Returns backend and port of each connection by TCP."""
        return {lost for lost in map(cut, self.list_connections()) if lost is not None}


def is_waiting(connection: Connection) -> bool:
    """Return whether a connection waits for the result of a statement."""
    try:
        return not connection.closed and connection.info.transaction_status == TransactionStatus.ACTIVE
    except psycopg.Error:  # its thread closes it just now
        return False


def cut(connection: Connection) -> tuple[int, int] | None:
    """Shut down the socket of a connection that another thread may use. That thread gets an error of libpq.

    Returns the backend's process id and the client's port, or None if the connection is closed or uses a Unix socket.
    """
    try:
        descriptor, backend = connection.fileno(), connection.info.backend_pid
        with socket.socket(fileno=os.dup(descriptor)) as copy:
            if connection.fileno() != descriptor:
                return None
            # A connection never changes its socket: it was open before and after `dup`, so this is its socket.
            address = copy.getsockname()
            copy.shutdown(socket.SHUT_RDWR)
    except (psycopg.Error, OSError):  # its thread has closed it
        return None
    return (backend, address[1]) if isinstance(address, tuple) else None


def build_end_of_backends(lost: Collection[tuple[int, int]]) -> str:
    """Return a statement that ends the backends of connections that were cut: they may hold locks.

    PostgreSQL learns late, if packets were dropped, that a client has closed its connection. The client's port
    distinguishes a backend from one with the same process id on another server, or behind PgBouncer. A commit that
    waits for a synchronous standby is not ended: others would see it before the standby has it. For example:

        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE (pid, client_port) IN ((4711,50122)) AND usename = current_user
        AND wait_event IS DISTINCT FROM 'SyncRep'
    """
    pairs = ",".join(f"({backend:d},{port:d})" for backend, port in sorted(lost))
    return (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "  # noqa: S608 - two integers each
        f"WHERE (pid, client_port) IN ({pairs}) AND usename = current_user "
        "AND wait_event IS DISTINCT FROM 'SyncRep'"
    )
