"""A database connection of its own for health checks and the clock's heartbeat, on which everything has a deadline.

Django's connections wait as long as PostgreSQL and TCP permit. Here each wait ends at a deadline, also if the network
drops packets or PostgreSQL is suspended. The name of the host is resolved by libpq, which has no deadline: run the
checks in a thread of their own.
"""

import select
from time import monotonic
from typing import Any

from django.conf import settings
from django.db import connections
from psycopg import errors
from psycopg.conninfo import make_conninfo
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus, PollingStatus
from psycopg.pq import PGconn as LibpqConnection
from psycopg.pq.abc import PGconn, PGresult

Rows = list[tuple[str | None, ...]]
NOT_OF_LIBPQ = {"client_encoding", "context", "cursor_factory", "prepare_threshold"}  # parameters of psycopg
# Parts of messages of libpq and PostgreSQL, which have no SQLSTATE while a connection is made.
CONNECTION_FAILURES = {
    "password authentication failed": "PostgreSQL refuses the user or the password of DATABASE_URL.",
    "no pg_hba.conf entry": "PostgreSQL does not permit connections from this host.",
    "could not translate host name": "The host of DATABASE_URL cannot be resolved.",
    "Connection refused": "Nothing listens at the address of DATABASE_URL.",
    "No such file or directory": "Nothing listens at the address of DATABASE_URL.",
    "starting up": "PostgreSQL is starting.",
    "shutting down": "PostgreSQL is shutting down.",
    "too many clients": "PostgreSQL has no connection left (max_connections).",
    "remaining connection slots": "PostgreSQL has no connection left (max_connections).",
    "unsupported startup parameter": "The connection pooler refuses a startup parameter.",
    "SSL": "The TLS connection to PostgreSQL failed.",
    "does not exist": "The database or the user of DATABASE_URL does not exist.",
}


class DatabaseUnavailable(Exception):
    """No result within the deadline, or no connection. The message is a sentence without any secret."""


class QueryFailed(Exception):
    """PostgreSQL refused a statement. `kind` is psycopg's exception class of its SQLSTATE."""

    def __init__(self, kind: type[errors.Error]) -> None:
        super().__init__(f"PostgreSQL refused a statement of the check ({kind.__name__}).")
        self.kind = kind


class DeadlineConnection:
    """One connection, opened when it is needed and again after a failure. Use it from one thread at a time."""

    def __init__(self, alias: str = "default", options: str = "") -> None:
        self.alias = alias
        self.options = options  # of the session, as `-c name=value`
        self.raw: PGconn | None = None

    def query(self, sql: str, deadline: float) -> Rows:
        """Return the rows of a statement as text. `deadline` is a time of `monotonic`.

        Raises `DatabaseUnavailable` or `QueryFailed`. A connection that has ended since its last use is replaced.
        """
        if self.raw is not None:
            try:
                return self.execute(self.raw, sql, deadline)
            except DatabaseUnavailable:
                self.close()
                if monotonic() >= deadline:
                    raise
        self.raw = self.connect(deadline)
        try:
            return self.execute(self.raw, sql, deadline)
        except DatabaseUnavailable:
            self.close()
            raise

    def close(self) -> None:
        raw, self.raw = self.raw, None
        if raw is not None:
            raw.finish()

    def connect(self, deadline: float) -> PGconn:
        raw: PGconn = LibpqConnection.connect_start(build_conninfo(self.alias, self.options).encode())
        try:
            wait_for_connection(raw, deadline)
        except BaseException:
            raw.finish()
            raise
        raw.nonblocking = 1
        return raw

    def execute(self, raw: PGconn, sql: str, deadline: float) -> Rows:
        try:
            raw.send_query(sql.encode())
            while raw.flush():
                wait_for_socket(raw, select.POLLOUT, deadline)
            rows: Rows = []
            failure: QueryFailed | None = None
            while True:
                while raw.is_busy():
                    wait_for_socket(raw, select.POLLIN, deadline)
                    raw.consume_input()
                result = raw.get_result()
                if result is None:
                    break
                if result.status in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
                    rows = read_rows(result)
                else:
                    failure = build_query_failure(result)
        except errors.OperationalError:
            raise DatabaseUnavailable("The connection to PostgreSQL was lost.") from None
        if failure is not None:
            raise failure
        return rows


def build_conninfo(alias: str, options: str = "") -> str:
    wrapper: Any = connections.create_connection(alias)
    parameters = wrapper.get_connection_params()  # for the embedded server this also starts it
    if options:
        parameters["options"] = f"{parameters.get('options', '')} {options}".strip()
    return make_conninfo(**{name: value for name, value in parameters.items() if name not in NOT_OF_LIBPQ})


def wait_for_connection(raw: PGconn, deadline: float) -> None:
    state = PollingStatus.WRITING
    while state != PollingStatus.OK:
        if raw.status == ConnStatus.BAD or state == PollingStatus.FAILED:
            raise DatabaseUnavailable(explain_connection_failure(raw.error_message.decode(errors="replace")))
        wait_for_socket(raw, select.POLLIN if state == PollingStatus.READING else select.POLLOUT, deadline)
        state = PollingStatus(raw.connect_poll())


def wait_for_socket(raw: PGconn, event: int, deadline: float) -> None:
    """Wait until the socket is ready. Raises `DatabaseUnavailable` at the deadline."""
    poll = select.poll()
    poll.register(raw.socket, event)
    if not poll.poll(max(0, 1000 * (deadline - monotonic()))):
        raise DatabaseUnavailable("PostgreSQL does not respond in time.")


def read_rows(result: PGresult) -> Rows:
    return [
        tuple(None if value is None else value.decode() for value in map(result.get_value, [row] * width, range(width)))
        for row in range(result.ntuples)
        for width in [result.nfields]
    ]


def build_query_failure(result: PGresult) -> QueryFailed:
    state = (result.error_field(DiagnosticField.SQLSTATE) or b"").decode()
    try:
        return QueryFailed(errors.lookup(state))
    except KeyError:
        return QueryFailed(errors.Error)


def explain_connection_failure(message: str) -> str:
    """Return a sentence for a message of libpq, which contains the address, the user or the database."""
    for part, reason in CONNECTION_FAILURES.items():
        if part in message:
            return reason if not settings.EMBEDDED else reason.replace("DATABASE_URL", "the embedded PostgreSQL")
    return "No connection to PostgreSQL is possible."
