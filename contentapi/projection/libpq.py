"""Execute statements through libpq (`psycopg.pq`), without psycopg's cursors.

A cursor waits in an event loop, so that Ctrl-C and asyncio can interrupt it. A server needs neither, because statements
have a time-out, and the loop takes as long as the rest of a small statement. Django's wrapping stays: its exceptions,
and, if they are in use, its query log and execute wrappers.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from math import inf
from time import perf_counter
from types import SimpleNamespace
from typing import Any, cast

import msgspec
from django.db import DEFAULT_DB_ALIAS
from django.db import Error as DatabaseError
from psycopg import Connection, DataError, Error, OperationalError, generators
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import DiagnosticField, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from contentapi.conf import conf
from contentapi.core.errors import ResponseTooLarge
from contentapi.core.replicas import ROUTE, leave_replica
from contentapi.db.engine.slots import get_connection
from contentapi.monitoring.records import current_record

# Python 3.11 calls a function for each look into an enumeration.
IDLE, COMMAND_OK, TUPLES_OK = TransactionStatus.IDLE, ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK
MOST_PREPARED = 100  # statements of a connection; each occupies memory of the server


class PreparedStatements:
    """The names of the statements that a connection has prepared, by their texts; the least recently used first."""

    def __init__(self) -> None:
        self.names: OrderedDict[bytes, bytes] = OrderedDict()
        self.last_number = 0

    def get_name(self, connection: Connection[Any], sql: bytes) -> bytes:
        """Return the name of a prepared statement. Prepare it if necessary. Raises psycopg's errors."""
        name = self.names.get(sql)
        if name is not None:
            self.names.move_to_end(sql)
            return name
        if len(self.names) >= MOST_PREPARED:
            _, oldest = self.names.popitem(last=False)
            close_statement(connection, oldest)
        self.last_number += 1
        name = b"projection_%d" % self.last_number
        require_status(connection.pgconn.prepare(name, sql), COMMAND_OK)
        self.names[sql] = name
        return name


def close_statement(connection: Connection[Any], name: bytes) -> None:
    """Close a prepared statement. Raises psycopg's errors.

    `close_prepared` of psycopg keeps the interpreter lock until PostgreSQL answers. Behind a full pool of PgBouncer,
    the threads whose transactions occupy the pool could then never end them.
    """
    connection.pgconn.send_close_prepared(name)
    (result,) = connection.wait(generators.execute(connection.pgconn))
    require_status(result, COMMAND_OK)


def execute(using: str, query: str, sql: bytes, parameters: Sequence[Any], *, prepare: bool) -> PGresult:
    """Execute a statement. Raises Django's database errors. A read that fails on a replica is repeated elsewhere.

    `sql` has the placeholders $1, $2 …; `query`, which Django logs, is the same statement with %s.
    """
    connection: Any = get_connection(using)
    try:
        if connection.connection is None:
            connection.ensure_connection()
        is_logged = connection.force_debug_cursor or conf.debug
        if is_logged or connection.execute_wrappers:
            wrap = connection.make_debug_cursor if is_logged else connection.make_cursor
            cursor = LibpqCursor(connection, sql, prepare=prepare)
            return cast("PGresult", wrap(cursor).execute(query, parameters))
        if connection.needs_rollback:
            connection.validate_no_broken_transaction()
        start, error_type = perf_counter(), ""
        try:
            return execute_on_connection(connection, sql, parameters, prepare=prepare)
        except Error as error:
            error_type = type(error).__name__
            with connection.wrap_database_errors:
                raise
        finally:
            current_record.get().add_statement(perf_counter() - start, sql, error_type)
    except DatabaseError as error:
        if using == DEFAULT_DB_ALIAS or not leave_replica(error):
            raise
    return execute(ROUTE.alias or DEFAULT_DB_ALIAS, query, sql, parameters, prepare=prepare)


def read_column(result: PGresult, number: int, room: int | None = None) -> list[bytes]:
    """Return the values of a column as text. NULL becomes `null`.

    `room` is the maximum size of all values in bytes; None means no maximum. Raises `ResponseTooLarge`.
    """
    texts, left = [], inf if room is None else room
    for row in range(result.ntuples):
        text = result.get_value(row, number) or b"null"
        left -= len(text)
        if left < 0:
            result.clear()
            raise ResponseTooLarge(conf.environment.contentapi_max_response)
        texts.append(text)
    return texts


class LibpqCursor:
    """The part of a cursor that Django's wrappers use. `execute` returns the result of libpq."""

    def __init__(self, wrapper: Any, sql: bytes, *, prepare: bool) -> None:
        self.wrapper = wrapper
        self.sql = sql
        self.prepare = prepare

    @property
    def _query(self) -> SimpleNamespace:
        """Return the attribute of psycopg's cursors that Django's query log reads."""
        return SimpleNamespace(query=self.sql)

    def execute(self, query: str, parameters: Sequence[Any]) -> PGresult:  # noqa: ARG002 - Django's call
        return execute_on_connection(self.wrapper, self.sql, parameters, prepare=self.prepare)


def execute_on_connection(wrapper: Any, sql: bytes, parameters: Sequence[Any], *, prepare: bool) -> PGresult:
    """Execute a statement on the connection of a Django wrapper. Raises psycopg's errors, and `UnconfirmedCommit`."""
    connection: Connection[Any] = wrapper.connection
    raw = connection.pgconn
    if not wrapper.autocommit and raw.transaction_status == IDLE:
        connection.execute("")  # lets psycopg begin the transaction
    values = encode_parameters(parameters, connection)
    if prepare:
        prepared = wrapper.prepared
        if prepared is None:
            prepared = wrapper.prepared = PreparedStatements()
        result = raw.exec_prepared(prepared.get_name(connection, sql), values)
    else:
        result = raw.exec_params(sql, values)
    require_status(result, TUPLES_OK)
    if wrapper.is_unconfirmed:
        wrapper.require_confirmation()
    return result


def require_status(result: PGresult, status: ExecStatus) -> None:
    if result.status != status:
        if result.error_field(DiagnosticField.SQLSTATE) is None:  # the message is libpq's: the connection is lost
            raise OperationalError(result.get_error_message())
        raise error_from_result(result)


def encode_parameters(values: Sequence[Any], connection: Connection[Any]) -> list[Any]:
    """Return values in PostgreSQL's text format. The server infers the types from the places in the statement."""
    encoded = []
    for value in values:  # not a comprehension, which is a function of its own
        encode = ENCODERS.get(type(value))
        encoded.append(encode(value) if encode else encode_other(value, connection))
    return encoded


def encode_other(value: Any, connection: Connection[Any]) -> bytes | None:
    if isinstance(value, str):
        return encode_text(value)
    if type(value) is list and all(type(item) is str for item in value):
        return encode_text_array(value) if value else b"{}"
    return bytes(Transformer(connection).get_dumper(value, PyFormat.TEXT).dump(value) or b"")


def encode_text(value: str) -> bytes:
    if "\0" in value:
        raise DataError("PostgreSQL text cannot contain NUL (0x00) bytes")  # libpq would truncate the text
    return str.encode(value)  # the value of an enum member too


def encode_text_array(items: list[str]) -> bytes:
    """Return a text array with every item in quotes (PostgreSQL documentation, 8.15.2): `{"a","b \\"c\\""}`."""
    escaped = [item.replace("\\", r"\\").replace('"', r"\"") for item in items]
    return encode_text("{" + ",".join([f'"{item}"' for item in escaped]) + "}")


def encode_datetime(value: datetime) -> bytes:
    """Return what `isoformat` does, in a tenth of its time if the time is in UTC."""
    return msgspec.json.encode(value)[1:-2] + b"+00:00" if value.tzinfo is UTC else value.isoformat().encode()


ENCODERS: dict[type, Callable[[Any], bytes | None]] = {
    type(None): {}.get,  # None, as fast as Python can
    str: encode_text,
    int: b"%d".__mod__,
    datetime: encode_datetime,
    dict: msgspec.json.encode,
}
