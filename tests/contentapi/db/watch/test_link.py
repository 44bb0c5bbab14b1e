"""The connection of the checks: each wait ends at its deadline, and no message contains an address or a name."""

import select
import socket
from threading import Event
from time import monotonic
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from psycopg import generators
from psycopg.pq.abc import PGconn

from contentapi.db.watch import link as module
from contentapi.db.watch.link import (
    DeadlineConnection,
    QueryFailed,
    connect_by,
    explain_failure,
    prefer_reached_host,
)

pytestmark = pytest.mark.django_db


def build_parameters(listener: socket.socket) -> dict[str, Any]:
    return {"host": "127.0.0.1", "port": listener.getsockname()[1], "user": "app", "password": "hunter2"}


def query(connection: DeadlineConnection, sql: str, seconds: float = 60) -> module.Rows:
    return connection.query(sql, monotonic() + seconds)


def test_rows_have_the_values_of_psycopg(connection: DeadlineConnection) -> None:
    assert query(connection, "SELECT 1, NULL, 'ä' UNION ALL SELECT 2, 'x', ''") == [(1, None, "ä"), (2, "x", "")]


def test_statement_ends_at_the_deadline_and_the_next_one_has_a_new_connection(connection: DeadlineConnection) -> None:
    (pid,) = query(connection, "SELECT pg_backend_pid()")[0]

    with pytest.raises(QueryFailed, match=r"^PostgreSQL does not respond in time\.$"):
        query(connection, "SELECT pg_sleep(600)", seconds=0.1)

    assert query(connection, f"SELECT pg_terminate_backend({pid}, 30000)") == [(True,)]


def test_response_that_has_arrived_counts_after_the_deadline(
    connection: DeadlineConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait_and_execute(raw: PGconn) -> Any:
        """Execute as a thread does that runs only after the response has arrived."""
        select.select([raw.socket], [], [])
        return generators.execute(raw)

    query(connection, "SELECT 1")
    monkeypatch.setattr(module, "generators", SimpleNamespace(execute=wait_and_execute))

    assert query(connection, "SELECT 2", seconds=0) == [(2,)]


def test_refused_statement_names_its_error_and_keeps_the_connection(connection: DeadlineConnection) -> None:
    before = query(connection, "SELECT pg_backend_pid()")

    with pytest.raises(QueryFailed) as caught:
        query(connection, "SELECT * FROM no_such_table")

    assert str(caught.value) == "PostgreSQL refused a statement of the check (UndefinedTable)."
    assert query(connection, "SELECT pg_backend_pid()") == before


def test_terminated_connection_is_replaced_at_once(connection: DeadlineConnection) -> None:
    (pid,) = query(connection, "SELECT pg_backend_pid()")[0]
    killer = DeadlineConnection()
    assert query(killer, f"SELECT pg_terminate_backend({pid}, 30000)") == [(True,)]
    killer.close()

    assert query(connection, "SELECT pg_backend_pid()") != [(pid,)]


def test_connection_to_a_silent_host_ends_at_the_deadline(
    connection: DeadlineConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # the kernel accepts; nobody responds
        monkeypatch.setattr(module, "build_parameters", lambda *_: build_parameters(silent))

        with pytest.raises(QueryFailed, match=r"^PostgreSQL does not respond in time\.$"):
            query(connection, "SELECT 1", seconds=0.1)


def test_refused_connection_is_explained_without_its_address(
    connection: DeadlineConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setattr(module, "build_parameters", lambda *_: build_parameters(unused))

        with pytest.raises(QueryFailed, match=r"^Nothing listens at the address of the embedded PostgreSQL\.$"):
            query(connection, "SELECT 1")


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ('FATAL:  password authentication failed for user "app"', "refuses the user or the password"),
        (
            'connection to server at "10.1.2.3", port 5432 failed: FATAL:  sorry, too many clients already',
            "no connection",
        ),
        ('FATAL:  database "secret_name" does not exist', "does not exist"),
        ("FATAL:  the database system is starting up", "is starting"),
        ("failed to resolve host 'secret_name': Name or service not known", "cannot be resolved"),
        ("eine unbekannte Meldung über 10.1.2.3", "No connection to PostgreSQL is possible."),
    ],
)
def test_messages_of_libpq_are_replaced(message: str, reason: str) -> None:
    explained = explain_failure(message, "default")

    assert reason in explained
    assert not any(secret in explained for secret in ("10.1.2.3", "secret_name", '"app"'))


class FakeConnection:
    def __init__(self) -> None:
        self.closed = Event()

    def close(self) -> None:
        self.closed.set()


def test_connection_that_comes_late_is_closed() -> None:
    may_connect, connection = Event(), FakeConnection()

    def connect(_: dict[str, Any]) -> FakeConnection:
        may_connect.wait()
        return connection

    with pytest.raises(TimeoutError):
        connect_by(monotonic() + 0.01, connect, {})
    may_connect.set()

    assert connection.closed.wait(60)


def test_error_of_an_attempt_to_connect_is_raised_unchanged() -> None:
    with pytest.raises(psycopg.OperationalError, match="No such file"):
        connect_by(monotonic() + 60, lambda given: psycopg.connect(**given), {"host": "/nowhere"})


def test_name_resolution_that_hangs_ends_at_the_deadline(
    connection: DeadlineConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = Event()
    monkeypatch.setattr(psycopg, "connect", lambda **_: may_end.wait() and FakeConnection())

    with pytest.raises(QueryFailed, match=r"^PostgreSQL does not respond in time\.$"):
        query(connection, "SELECT 1", seconds=0.1)

    may_end.set()


@pytest.mark.parametrize(
    ("given", "ordered"),
    [
        ({"host": "a,b,c", "port": "1,2,3"}, {"host": "b,a,c", "port": "2,1,3"}),
        ({"host": "a,b", "port": 2}, {"host": "b,a", "port": "2,2"}),
        ({"host": "a,c", "port": "1,3"}, {"host": "a,c", "port": "1,3"}),
        ({"host": "b", "port": "2"}, {"host": "b", "port": "2"}),
        ({"dbname": "app"}, {"dbname": "app"}),
    ],
)
def test_host_that_was_reached_is_tried_first(
    given: dict[str, Any], ordered: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(module.REACHED, "default", ("b", "2"))

    assert prefer_reached_host("default", given) == ordered
