"""The locks of migrations, while another connection uses the table."""

from collections.abc import Iterator
from threading import Timer

import psycopg
import pytest
from django.db import OperationalError, connection, transaction

from contentapi.db import migration_locks
from contentapi.db.migration_locks import is_lock_failure, limit_locks
from contentapi.db.statements import fetch_column

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def reader() -> Iterator["psycopg.Connection"]:
    """A connection whose transaction has read the table."""
    connection.ensure_connection()
    with psycopg.connect(**connection.get_connection_params() | {"cursor_factory": None}) as reader:
        reader.execute("SELECT count(*) FROM orders_order")
        yield reader
        reader.rollback()


def read_lock_timeout() -> str:
    return str(fetch_column("SHOW lock_timeout")[0])


@pytest.mark.usefixtures("reader")
def test_statement_that_waits_for_a_reader_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration_locks, "LOCK_TIMEOUT", "50ms")
    with (
        pytest.raises(OperationalError) as failure,
        limit_locks(connection),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("ALTER TABLE orders_order ADD COLUMN note text")

    assert is_lock_failure(failure.value)
    connection.close()


@pytest.mark.thorough
def test_concurrent_index_waits_for_longer_than_the_limit(reader: "psycopg.Connection") -> None:
    reader.execute("UPDATE orders_order SET id = id")
    timer = Timer(3, reader.rollback)
    timer.start()
    try:
        with limit_locks(connection), connection.cursor() as cursor:
            cursor.execute("CREATE INDEX CONCURRENTLY test_orders_note ON orders_order (id)")
            after = read_lock_timeout()
            cursor.execute("DROP INDEX CONCURRENTLY test_orders_note")
    finally:
        timer.join()

    assert after == "1s"


def test_limit_ends_with_the_block() -> None:
    before = read_lock_timeout()
    with limit_locks(connection):
        inside = read_lock_timeout()

    assert (inside, read_lock_timeout()) == ("1s", before)


def test_other_database_errors_are_no_lock_failures() -> None:
    with pytest.raises(OperationalError) as failure, connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = '10ms'; SELECT pg_sleep(5)")
    connection.close()

    assert not is_lock_failure(failure.value)
