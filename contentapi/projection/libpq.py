"""Executing a statement by libpq itself.

psycopg's own cursors wait in an event loop, so that Ctrl-C and asyncio can interrupt them; a server needs neither, for
its statements end by their time-outs, and the loop costs as much as the rest of a small statement. What Django wraps
around a cursor stays: errors in its own terms and, where they are asked for, its log of queries and execute wrappers.
"""

from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime
from types import SimpleNamespace
from typing import Any, cast

from psycopg import Connection, DataError, Error, OperationalError
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import DiagnosticField, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from contentapi.conf import conf
from contentapi.core.errors import ResponseTooLarge
from contentapi.db.postgresql.thread_connections import get_connection

MOST_PREPARED = 100  # statements of a connection; each holds memory on the server


class PreparedStatements:
    """The statements that a connection has prepared, by their texts; what was used last is kept."""

    def __init__(self) -> None:
        self.names: OrderedDict[bytes, bytes] = OrderedDict()
        self.made = 0

    def name_of(self, connection: Connection[Any], sql: bytes) -> bytes:
        name = self.names.get(sql)
        if name is not None:
            self.names.move_to_end(sql)
            return name
        if len(self.names) >= MOST_PREPARED:
            _, oldest = self.names.popitem(last=False)
            require_status(connection.pgconn.close_prepared(oldest), ExecStatus.COMMAND_OK)
        self.made += 1
        name = b"projection_%d" % self.made
        require_status(connection.pgconn.prepare(name, sql), ExecStatus.COMMAND_OK)
        self.names[sql] = name
        return name


def execute(using: str, query: str, sql: bytes, parameters: Sequence[Any], *, prepare: bool) -> PGresult:
    """Execute a statement. Returns what the server sent. Raises Django's errors.

    `sql` has places numbered $1, $2…; `query`, which Django logs, is the same with %s.
    """
    connection: Any = get_connection(using)
    if not connection.health_check_done:
        connection.close_if_health_check_failed()
    if connection.connection is None:
        connection.ensure_connection()
    if connection.queries_logged or connection.execute_wrappers:
        wrap = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
        cursor = LibpqCursor(connection, sql, prepare=prepare)
        return cast("PGresult", wrap(cursor).execute(query, parameters))
    connection.validate_no_broken_transaction()
    try:
        return execute_unwrapped(connection, sql, parameters, prepare=prepare)
    except Error:
        with connection.wrap_database_errors:
            raise


def column(result: PGresult, number: int, room: int | None = None) -> list[bytes]:
    """Return the values in a column. NULL is JSON's.

    Raises `ResponseTooLarge` as soon as the values have more bytes than there is room for; None means no limit.
    """
    if room is None:
        return [result.get_value(row, number) or b"null" for row in range(result.ntuples)]
    texts = []
    for row in range(result.ntuples):
        text = result.get_value(row, number) or b"null"
        room -= len(text)
        if room < 0:
            result.clear()
            raise ResponseTooLarge(conf.environment.contentapi_max_response)
        texts.append(text)
    return texts


class LibpqCursor:
    """As much of a cursor as Django wraps: executes one statement, and returns what the server sent."""

    def __init__(self, wrapper: Any, sql: bytes, *, prepare: bool) -> None:
        self.wrapper = wrapper
        self.sql = sql
        self.prepare = prepare

    @property
    def _query(self) -> SimpleNamespace:
        """Return what Django's log of queries reads of psycopg's cursors."""
        return SimpleNamespace(query=self.sql)

    def execute(self, query: str, parameters: Sequence[Any]) -> PGresult:  # noqa: ARG002 - Django's call
        return execute_unwrapped(self.wrapper, self.sql, parameters, prepare=self.prepare)


def execute_unwrapped(wrapper: Any, sql: bytes, parameters: Sequence[Any], *, prepare: bool) -> PGresult:
    """Execute a statement on the connection of a Django wrapper. Raises psycopg's errors."""
    connection: Connection[Any] = wrapper.connection
    raw = connection.pgconn
    if not connection.autocommit and raw.transaction_status == TransactionStatus.IDLE:
        connection.execute("")  # psycopg begins the transaction
    values = encode_parameters(parameters, connection)
    if prepare:
        prepared = wrapper.prepared
        if prepared is None:
            prepared = wrapper.prepared = PreparedStatements()
        result = raw.exec_prepared(prepared.name_of(connection, sql), values)
    else:
        result = raw.exec_params(sql, values)
    require_status(result, ExecStatus.TUPLES_OK)
    return result


def require_status(result: PGresult, status: ExecStatus) -> None:
    if result.status != status:
        if result.error_field(DiagnosticField.SQLSTATE) is None:  # libpq's own words: the connection is lost
            raise OperationalError(result.get_error_message())
        raise error_from_result(result)


def encode_parameters(values: Sequence[Any], connection: Connection[Any]) -> list[Any]:
    """Return values in PostgreSQL's text form; one that stands there twice in a row, as times do, is written once."""
    texts: list[Any] = []
    before: Any = None
    text: bytes | None = None
    for value in values:
        if value is not before:
            is_plain = type(value) is str and "\0" not in value
            before, text = value, value.encode() if is_plain else encode_parameter(value, connection)
        texts.append(text)
    return texts


def encode_parameter(value: Any, connection: Connection[Any]) -> bytes | None:
    """Return a value in PostgreSQL's text form. The server infers its type from its place: the same for every value."""
    if value is None:
        return None
    if isinstance(value, str):
        if "\0" in value:
            raise DataError("PostgreSQL text cannot contain NUL (0x00) bytes")  # libpq would cut it off there
        return str.encode(value)  # of an enum's member the value
    if type(value) is int:
        return b"%d" % value
    if type(value) is datetime:
        return value.isoformat().encode()
    if type(value) is list and not value:
        return b"{}"
    return bytes(Transformer(connection).get_dumper(value, PyFormat.TEXT).dump(value) or b"")
