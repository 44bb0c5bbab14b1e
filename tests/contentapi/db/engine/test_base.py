"""Persistent connections: health checks, lost connections, prepared statements and parameters."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Thread
from time import monotonic
from typing import Any

import psutil
import psycopg
import pytest
from django.db import DataError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from blog.models import Author, PostStatus
from blog.services.authors import AuthorRow
from contentapi.core.errors import Unavailable, to_api_error
from contentapi.db.engine.slots import get_connection
from contentapi.projection import PreparedInsert, PreparedQuery
from contentapi.projection.libpq import MOST_PREPARED, encode_parameters, execute, execute_on_connection, read_column
from tests.factories import make_author


def test_idle_connection_is_usable_without_a_round_trip() -> None:
    connection.ensure_connection()

    with CaptureQueriesContext(connection) as captured:
        usable = connection.is_usable()

    assert usable
    assert len(captured) == 0


@pytest.mark.django_db(transaction=True)
def test_connection_that_the_server_ended_is_not_usable() -> None:
    connection.ensure_connection()

    terminate(connection.connection.info.backend_pid)

    assert not connection.is_usable()
    connection.close()


def end_by_the_server() -> None:
    terminate(connection.connection.info.backend_pid)


def make_obsolete() -> None:
    connection.close_at = monotonic()


def leave_a_transaction_open() -> None:
    connection.set_autocommit(False)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("spoil", [end_by_the_server, make_obsolete, leave_a_transaction_open])
def test_request_replaces_a_connection_that_it_must_not_use(spoil: Callable[[], None]) -> None:
    connection.ensure_connection()
    connection.close_at = None  # persistent
    connection.close_if_unusable_or_obsolete()  # as at the start of a request
    first = connection.connection
    assert first is not None

    spoil()
    connection.close_if_unusable_or_obsolete()

    assert first.closed
    assert read_column(execute("default", "", b"SELECT 1", [], prepare=True), 0) == [b"1"]


@pytest.mark.django_db(transaction=True)
def test_connection_lost_during_a_statement_is_unavailable() -> None:
    connection.ensure_connection()
    terminate(connection.connection.info.backend_pid)

    with pytest.raises(OperationalError) as lost:
        read_column(execute("default", "", b"SELECT 1", [], prepare=True), 0)
    with pytest.raises(OperationalError) as closed:
        read_column(execute("default", "", b"SELECT 1", [], prepare=True), 0)

    for error in (lost.value, closed.value):
        assert isinstance(to_api_error(error), Unavailable)
        assert isinstance(error.__cause__, psycopg.Error)
    connection.close()


def terminate(process: int) -> None:
    """Terminate the server process of a connection, and wait until it has ended."""
    with psycopg.connect(**parameters()) as other:
        assert other.execute("SELECT pg_terminate_backend(%s, 60000)", [process]).fetchone() == (True,)


def parameters() -> dict[str, Any]:
    given = connection.get_connection_params()
    return {name: given[name] for name in ("dbname", "user", "password", "host", "port") if given.get(name)}


def test_nul_in_a_parameter_is_refused() -> None:
    with pytest.raises(DataError, match="NUL"):
        read_column(execute("default", "", b"SELECT $1::text", ["a\0b"], prepare=True), 0)


def test_connection_in_a_failed_transaction_is_not_usable() -> None:
    with pytest.raises(Exception, match="division by zero"), connection.cursor() as cursor:
        cursor.execute("SELECT 1 / 0")

    assert not connection.is_usable()


def test_prepared_insert_belongs_to_the_current_transaction() -> None:
    author = make_author(name="Before")

    with transaction.atomic():
        PreparedInsert(Author).create({"name": "Within"})
        transaction.set_rollback(True)

    names = PreparedQuery(AuthorRow, lambda given: Author.objects.filter(name=given("name")))
    assert names.first(name="Within") is None
    assert names.first(name="Before") == AuthorRow(id=author.pk)


def test_prepared_statements_of_a_connection_are_limited() -> None:
    for number in range(MOST_PREPARED + 20):
        text = str(number).encode()
        assert read_column(execute("default", "", b"SELECT " + text, [], prepare=True), 0) == [text]

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'projection%'")
        prepared = cursor.fetchone()
    assert prepared == (MOST_PREPARED,)
    assert len(get_connection("default").prepared.names) == MOST_PREPARED


def test_threads_run_while_a_statement_is_closed() -> None:
    """A thread that waits for PostgreSQL must not keep the interpreter lock."""
    for number in range(MOST_PREPARED):
        execute("default", "", b"SELECT %d" % number, [], prepare=True)
    backend = psutil.Process(connection.connection.info.backend_pid)
    wrapper, numbers = get_connection("default"), []

    def prepare_another() -> None:
        result = execute_on_connection(wrapper, b"SELECT 1000", [], prepare=True)
        numbers.extend(read_column(result, 0))

    thread = Thread(target=prepare_another)
    backend.suspend()
    while backend.status() != psutil.STATUS_STOPPED:
        time.sleep(0.01)
    rescue = ["sh", "-c", f"sleep 60; kill -CONT {backend.pid}"]  # in case that no thread runs
    with subprocess.Popen(rescue, start_new_session=True) as process:
        thread.start()
        thread.join(0.2)
        was_suspended = backend.status() == psutil.STATUS_STOPPED
        backend.resume()
        thread.join()
        os.killpg(process.pid, signal.SIGKILL)

    assert was_suspended
    assert numbers == [b"1000"]


def test_parameters_are_encoded_by_their_type() -> None:
    connection.ensure_connection()
    now = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)

    values: list[Any] = [None, now, "é", PostStatus.DRAFT, 7, True, [], [1, None]]

    texts = encode_parameters(values, connection.connection)

    assert texts == [None, b"2026-11-21T09:30:00+00:00", "é".encode(), b"draft", b"7", b"t", b"{}", b"{1,NULL}"]


@pytest.mark.property
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))))
def test_postgresql_reads_the_items_of_an_encoded_array(items: list[str]) -> None:
    (text,) = read_column(execute("default", "", b"SELECT to_json($1::text[])", [items], prepare=False), 0)

    assert json.loads(text) == items
