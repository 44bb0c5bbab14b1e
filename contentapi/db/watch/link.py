"""Connections to PostgreSQL on which each wait has a deadline.

Django's connections wait as long as PostgreSQL and TCP permit: libpq waits without a limit for the result of a
statement, and TCP notices only a machine that is gone, not a process that hangs. Name resolution and the attempts at
several hosts have no common limit either, so an attempt to connect runs in a thread of its own.
"""

import select
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import Any

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import errors
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGconn

from contentapi.conf.timeouts import WATCH_INTERVAL

Connection = psycopg.Connection[Any]
Connect = Callable[[dict[str, Any]], Any]
MustEnd = Callable[[], object]
Rows = list[tuple[str | None, ...]]
LATE = "PostgreSQL does not respond in time."
LOST = "The connection to PostgreSQL was lost."
# Parts of messages of psycopg, libpq and PostgreSQL, which have no SQLSTATE while a connection is made.
CONNECTION_FAILURES = {
    "password authentication failed": "PostgreSQL refuses the user or the password of DATABASE_URL.",
    "no pg_hba.conf entry": "PostgreSQL does not permit connections from this host.",
    "failed to resolve host": "The host of DATABASE_URL cannot be resolved.",
    "Connection refused": "Nothing listens at the address of DATABASE_URL.",
    "No such file or directory": "Nothing listens at the address of DATABASE_URL.",
    "timeout expired": LATE,
    "starting up": "PostgreSQL is starting.",
    "shutting down": "PostgreSQL is shutting down.",
    "too many clients": "PostgreSQL has no connection left (max_connections).",
    "remaining connection slots": "PostgreSQL has no connection left (max_connections).",
    "unsupported startup parameter": "The connection pooler refuses a startup parameter.",
    "SSL": "The TLS connection to PostgreSQL failed.",
    "does not exist": "The database or the user of DATABASE_URL does not exist.",
}
REACHED: dict[str, tuple[str, str]] = {}  # host and port of the newest connection, by the alias of a database


class DatabaseUnavailable(Exception):
    """No result within the deadline, or no connection. The message is a sentence without any secret."""


class QueryFailed(Exception):
    """PostgreSQL refused a statement. `kind` is psycopg's exception class of its SQLSTATE."""

    def __init__(self, kind: type[errors.Error]) -> None:
        super().__init__(f"PostgreSQL refused a statement of the check ({kind.__name__}).")
        self.kind = kind


def connect_by(deadline: float, connect: Connect, parameters: dict[str, Any], must_end: MustEnd = bool) -> Any:
    """Return `connect(parameters)`, which runs in a thread of its own. A connection that comes too late is closed.

    Raises the errors of `connect`, and `TimeoutError` at the deadline, or when `must_end` returns true meanwhile.
    """
    attempt: Future[Any] = Future()

    def run() -> None:
        try:
            attempt.set_result(connect(parameters))
        except BaseException as error:  # noqa: BLE001 - the other thread raises it
            attempt.set_exception(error)

    Thread(target=run, name="connect", daemon=True).start()
    while not wait([attempt], min(WATCH_INTERVAL, max(0, deadline - monotonic()))).done:
        if monotonic() >= deadline or must_end():
            attempt.add_done_callback(close_late)
            raise TimeoutError
    return attempt.result()


def close_late(attempt: "Future[Any]") -> None:
    if attempt.exception() is None:
        attempt.result().close()


class DeadlineConnection:
    """One connection, opened when it is needed and again after a failure. Use it from one thread at a time."""

    def __init__(self, alias: str = DEFAULT_DB_ALIAS, options: str = "") -> None:
        self.alias = alias
        self.options = options  # of the session, as `-c name=value`
        self.connection: Connection | None = None

    def query(self, sql: str, deadline: float, must_end: MustEnd = bool) -> Rows:
        """Return the rows of the last statement as text. `deadline` is a time of `monotonic`.

        `must_end` is called while it waits, and ends the wait. Raises `DatabaseUnavailable` or `QueryFailed`. A
        connection that has ended since its last use is replaced.
        """
        try:
            if self.connection is not None:
                with suppress(psycopg.Error):
                    return execute(self.connection, sql, deadline, must_end)
            self.close()
            parameters = prefer_reached_host(self.alias, build_parameters(self.alias, self.options))
            self.connection = connect_by(deadline, open_connection, parameters, must_end)
            REACHED[self.alias] = (self.connection.info.host, str(self.connection.info.port))
            return execute(self.connection, sql, deadline, must_end)
        except (psycopg.Error, TimeoutError) as error:
            reason = LATE if isinstance(error, TimeoutError) else explain_failure(str(error), self.alias)
            reason = LOST if self.connection is not None and reason != LATE else reason
            self.close()
            raise DatabaseUnavailable(reason) from None

    def is_pooled(self, reported: str | None) -> bool:
        """Return whether a pooler answers: the result of `pg_backend_pid` is not the process id of the connection."""
        return self.connection is not None and str(self.connection.info.backend_pid) != reported

    def close(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()


def execute(connection: Connection, sql: str, deadline: float, must_end: MustEnd) -> Rows:
    """Return the rows of the last statement. Raises `QueryFailed`, `TimeoutError` and psycopg's errors."""
    raw, rows, failure = connection.pgconn, Rows(), None
    raw.send_query(sql.encode())
    while (result := wait_for_result(raw, deadline, must_end)) is not None:
        if result.status == ExecStatus.TUPLES_OK:
            rows = [
                tuple(decode(result.get_value(row, column)) for column in range(result.nfields))
                for row in range(result.ntuples)
            ]
        elif result.status != ExecStatus.COMMAND_OK:
            failure = QueryFailed(type(errors.error_from_result(result)))
    if failure is not None:
        raise failure
    return rows


def wait_for_result(raw: PGconn, deadline: float, must_end: MustEnd) -> Any:
    """Return the next result of a connection, or None after the last one."""
    poll = select.poll()
    poll.register(raw.socket, select.POLLIN)
    while raw.is_busy():
        if poll.poll(1000 * min(WATCH_INTERVAL, max(0, deadline - monotonic()))):
            raw.consume_input()
        elif monotonic() >= deadline or must_end():
            raise TimeoutError
    return raw.get_result()


def build_parameters(alias: str, options: str = "") -> dict[str, Any]:
    """Return the parameters of `psycopg.connect` for a database of the settings."""
    wrapper: Any = connections.create_connection(alias)
    parameters: dict[str, Any] = wrapper.get_connection_params()  # for the embedded server this also starts it
    if options:
        parameters["options"] = f"{parameters.get('options', '')} {options}".strip()
    return parameters


def prefer_reached_host(alias: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Of several hosts, put the one that was reached last first: the others may be silent."""
    hosts = str(parameters.get("host") or "").split(",")
    if len(hosts) == 1 or alias not in REACHED or parameters.get("hostaddr"):
        return parameters
    ports = str(parameters.get("port") or "5432").split(",")
    places = list(zip(hosts, ports * len(hosts) if len(ports) == 1 else ports, strict=False))
    places.sort(key=lambda place: place != REACHED[alias])
    ordered_hosts, ordered_ports = zip(*places, strict=True)
    return {**parameters, "host": ",".join(ordered_hosts), "port": ",".join(ordered_ports)}


def open_connection(parameters: dict[str, Any]) -> Connection:
    return psycopg.connect(**{**parameters, "autocommit": True})


def decode(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def explain_failure(message: str, alias: str) -> str:
    """Return a sentence for a message of libpq, which contains the address, the user or the database."""
    variable = "DATABASE_URL" if alias == DEFAULT_DB_ALIAS else "DATABASE_REPLICA_URLS"
    for part, reason in CONNECTION_FAILURES.items():
        if part in message:
            return reason.replace("DATABASE_URL", "the embedded PostgreSQL" if settings.EMBEDDED else variable)
    return "No connection to PostgreSQL is possible."
