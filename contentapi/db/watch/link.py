"""Connections to PostgreSQL on which each wait has a deadline.

Django's connections wait as long as PostgreSQL and TCP permit: libpq waits without a limit for the result of a
statement, and TCP notices only a machine that is gone, not a process that hangs. Name resolution and the attempts at
several hosts have no common limit either, so an attempt to connect runs in a thread of its own.
"""

import os
import socket
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import Any

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import errors, generators
from psycopg.adapt import Transformer
from psycopg.pq import ExecStatus

Connection = psycopg.Connection[Any]
Connect = Callable[[dict[str, Any]], Any]
Rows = list[tuple[Any, ...]]
Attempt = Future[Any]
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


class QueryFailed(Exception):
    """No connection, no result within the deadline, or a refusal. The message is a sentence without any secret."""


class DatabaseSilent(psycopg.OperationalError):
    """The database does not answer. Like other operational errors, the client gets 503."""

    def __init__(self) -> None:
        super().__init__("the database does not answer")


def call_in_thread(function: Callable[..., Any], *arguments: Any) -> Attempt:
    """Call a function in a thread of its own, which the end of the process ends, and return its future result."""
    future = Attempt()

    def run() -> None:
        try:
            future.set_result(function(*arguments))
        except BaseException as error:  # noqa: BLE001 - the other thread raises it
            future.set_exception(error)

    Thread(target=run, name=f"wait for {function.__name__}", daemon=True).start()
    return future


def connect_by(deadline: float, connect: Connect, parameters: dict[str, Any]) -> Any:
    """Return `connect(parameters)`. A connection that comes too late is closed.

    Raises the errors of `connect`, and `TimeoutError` at the deadline, a time of `monotonic`.
    """
    attempt = call_in_thread(connect, parameters)
    try:
        return attempt.result(max(0, deadline - monotonic()))
    except TimeoutError:
        attempt.add_done_callback(lambda late: late.exception() or late.result().close())
        raise


class DeadlineConnection:
    """One connection, opened when it is needed and again after a failure. Use it from one thread at a time."""

    def __init__(self, alias: str = DEFAULT_DB_ALIAS, options: str = "") -> None:
        self.alias = alias
        self.options = options  # of the session, as `-c name=value`
        self.connection: Connection | None = None

    def query(self, sql: str, deadline: float) -> Rows:
        """Return the rows of the last statement. `deadline` is a time of `monotonic`.

        Raises `QueryFailed`. A connection that has ended since its last use is replaced.
        """
        try:
            if self.connection is not None:
                with suppress(psycopg.Error):
                    return execute(self.connection, sql, deadline)
            self.close()
            parameters = prefer_reached_host(self.alias, build_parameters(self.alias, self.options))
            self.connection = connect_by(deadline, lambda given: psycopg.connect(**given, autocommit=True), parameters)
            REACHED[self.alias] = (self.connection.info.host, str(self.connection.info.port))
            return execute(self.connection, sql, deadline)
        except (TimeoutError, psycopg.Error) as error:
            reason = LOST if self.connection is not None else explain_failure(str(error), self.alias)
            self.close()
            raise QueryFailed(LATE if isinstance(error, TimeoutError) else reason) from None

    def is_pooled(self, reported: int) -> bool:
        """Return whether a pooler answers: the result of `pg_backend_pid` is not the process id of the connection."""
        return self.connection is not None and self.connection.info.backend_pid != reported

    def close(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()


def execute(connection: Connection, sql: str, deadline: float) -> Rows:
    """Return the rows of the last statement. Raises `QueryFailed`, `TimeoutError`, and psycopg's if it is lost."""
    connection.pgconn.send_query(sql.encode())
    try:  # what has arrived counts, however late this thread runs
        *_, last = connection.wait(generators.execute(connection.pgconn), timeout=max(0, deadline - monotonic()))
    except psycopg.OperationalError:
        if monotonic() < deadline:
            raise
        raise TimeoutError from None
    if last.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
        error = errors.error_from_result(last)
        if connection.closed:
            raise error
        raise QueryFailed(f"PostgreSQL refused a statement of the check ({type(error).__name__}).")
    loader = Transformer(connection)
    loader.set_pgresult(last)
    return loader.load_rows(0, last.ntuples, tuple)


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


def explain_failure(message: str, alias: str) -> str:
    """Return a sentence for a message of libpq, which contains the address, the user or the database."""
    variable = "DATABASE_URL" if alias == DEFAULT_DB_ALIAS else "DATABASE_REPLICA_URLS"
    for part, reason in CONNECTION_FAILURES.items():
        if part in message:
            return reason.replace("DATABASE_URL", "the embedded PostgreSQL" if settings.EMBEDDED else variable)
    return "No connection to PostgreSQL is possible."
