"""Positions in the write-ahead log (WAL), and the state of a PostgreSQL server in replication.

A position is a pair of a timeline and a log sequence number (LSN), the offset in the log in bytes. A promotion begins a
new timeline, so every position after it is greater than every position before it.
"""

import select
import time
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.pq import ExecStatus

Position = tuple[int, int]  # timeline, LSN

ORIGIN: Position = (0, 0)
UNREACHABLE_POSITION: Position = (2**32 - 1, 2**64 - 1)  # greater than the position of any replica
TIME_LIMIT = 1.0  # seconds for a statement
CONNECT_TIMEOUT = 2  # seconds; libpq's minimum

# The insert position also covers a commit that does not wait for the disk (synchronous_commit = off).
POSITION_SQL = b"""
SELECT pg_current_wal_insert_lsn() - '0/0',
    ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int8
"""
REPLAYED_SQL = b"SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END - '0/0'"
STATE_SQL = b"""
SELECT pg_is_in_recovery(),
    CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END - '0/0',
    CASE WHEN pg_is_in_recovery() THEN 0
        ELSE ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int8 END,
    (SELECT system_identifier FROM pg_control_system())
"""


@dataclass(frozen=True, slots=True)
class ServerState:
    """The state of a server. `lsn` is the position that it has replayed or, as a primary, written.

    `timeline` is 0 for a server in recovery. `cluster` is the same for a primary and all of its copies. `time` is that
    of the request for this state, on the monotonic clock.
    """

    is_in_recovery: bool
    lsn: int
    timeline: int
    cluster: int
    time: float

    @property
    def position(self) -> Position:
        return self.timeline, self.lsn


class StateReader:
    """Reads the state of a server through its own connection, within seconds also if the server hangs."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        self.parameters = {**parameters, "connect_timeout": CONNECT_TIMEOUT, "autocommit": True}
        self.connection: Connection[Any] | None = None

    def read(self) -> ServerState:
        """Return the state of the server. Raises `psycopg.Error`."""
        try:
            if self.connection is None:
                self.connection = psycopg.connect(**self.parameters)
            now = time.monotonic()
            in_recovery, lsn, timeline, cluster = fetch_row(self.connection, STATE_SQL, TIME_LIMIT)
        except psycopg.Error:
            self.close()
            raise
        return ServerState(in_recovery == b"t", int(lsn or 0), int(timeline), int(cluster), now)

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def read_position(connection: Connection[Any]) -> Position:
    """Return the position of a primary, which covers all that this connection has committed. Raises `psycopg.Error`."""
    lsn, timeline = fetch_row(connection, POSITION_SQL, TIME_LIMIT)
    return int(timeline), int(lsn)


def read_replayed_lsn(connection: Connection[Any]) -> int | None:
    """Return the position that a replica has replayed; None for a primary. Raises `psycopg.Error`."""
    (lsn,) = fetch_row(connection, REPLAYED_SQL, TIME_LIMIT)
    return int(lsn) if lsn else None


def fetch_row(connection: Connection[Any], sql: bytes, limit: float) -> list[bytes]:
    """Execute a statement without parameters, and return its row as text; NULL is empty.

    Raises `psycopg.OperationalError` if the server does not respond within `limit` seconds. The connection is then
    unusable, because its result may still arrive.
    """
    raw = connection.pgconn
    raw.send_query(sql)
    deadline = time.monotonic() + limit
    poll = select.poll()
    poll.register(raw.socket, select.POLLIN)
    rows: list[list[bytes]] = []
    while True:
        while raw.is_busy():
            if not poll.poll(max(0, deadline - time.monotonic()) * 1000):
                connection.close()
                raise psycopg.OperationalError(f"no response within {limit:g} s")
            raw.consume_input()
        result = raw.get_result()
        if result is None:
            break
        if result.status != ExecStatus.TUPLES_OK:
            raise psycopg.OperationalError(result.get_error_message())
        rows = [
            [result.get_value(row, column) or b"" for column in range(result.nfields)] for row in range(result.ntuples)
        ]
    return rows[0]
