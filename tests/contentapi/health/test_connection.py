"""The connection of the checks: each wait ends at its deadline, and no message contains an address or a name."""

import socket
from time import monotonic

import pytest
from psycopg import errors

from contentapi.health import connection as module
from contentapi.health.connection import (
    DatabaseUnavailable,
    DeadlineConnection,
    QueryFailed,
    explain_connection_failure,
)

pytestmark = pytest.mark.django_db


def query(connection: DeadlineConnection, sql: str, seconds: float = 10) -> module.Rows:
    return connection.query(sql, monotonic() + seconds)


def test_rows_are_text_and_null_is_none(connection: DeadlineConnection) -> None:
    assert query(connection, "SELECT 1, NULL, 'ä' UNION ALL SELECT 2, 'x', ''") == [("1", None, "ä"), ("2", "x", "")]


def test_statement_ends_at_the_deadline_and_the_next_one_has_a_new_connection(connection: DeadlineConnection) -> None:
    (pid,) = query(connection, "SELECT pg_backend_pid()")[0]

    with pytest.raises(DatabaseUnavailable, match=r"^PostgreSQL does not respond in time\.$"):
        query(connection, "SELECT pg_sleep(600)", seconds=0.3)

    assert query(connection, f"SELECT pg_terminate_backend({pid}, 10000)") == [("t",)]


def test_refused_statement_names_its_error_and_keeps_the_connection(connection: DeadlineConnection) -> None:
    before = query(connection, "SELECT pg_backend_pid()")

    with pytest.raises(QueryFailed) as caught:
        query(connection, "SELECT * FROM no_such_table")

    assert caught.value.kind is errors.UndefinedTable
    assert query(connection, "SELECT pg_backend_pid()") == before


def test_terminated_connection_is_replaced_at_once(connection: DeadlineConnection) -> None:
    (pid,) = query(connection, "SELECT pg_backend_pid()")[0]
    killer = DeadlineConnection()
    assert query(killer, f"SELECT pg_terminate_backend({pid}, 5000)") == [("t",)]
    killer.close()

    assert query(connection, "SELECT pg_backend_pid()") != [(pid,)]


def test_connection_to_a_silent_host_ends_at_the_deadline(
    connection: DeadlineConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # the kernel accepts; nobody responds
        conninfo = f"host=127.0.0.1 port={silent.getsockname()[1]} user=app password=hunter2 dbname=app"
        monkeypatch.setattr(module, "build_conninfo", lambda *_: conninfo)
        start = monotonic()

        with pytest.raises(DatabaseUnavailable, match=r"^PostgreSQL does not respond in time\.$"):
            query(connection, "SELECT 1", seconds=0.3)

    assert monotonic() - start > 0.2


def test_refused_connection_is_explained_without_its_address(
    connection: DeadlineConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        conninfo = f"host=127.0.0.1 port={unused.getsockname()[1]} user=app password=hunter2 dbname=app"
        monkeypatch.setattr(module, "build_conninfo", lambda *_: conninfo)

        with pytest.raises(DatabaseUnavailable, match=r"^Nothing listens at the address of the embedded PostgreSQL\.$"):
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
        ("eine unbekannte Meldung über 10.1.2.3", "No connection to PostgreSQL is possible."),
    ],
)
def test_messages_of_libpq_are_replaced(message: str, reason: str) -> None:
    explained = explain_connection_failure(message)

    assert reason in explained
    assert not any(secret in explained for secret in ("10.1.2.3", "secret_name", '"app"'))
