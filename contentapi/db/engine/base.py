"""Django database engine with persistent connections.

The health check polls the socket first. It asks the server only if that is not conclusive. A connection that must write
is unusable on a server that only reads, as on a primary that was replaced by one of its replicas.

In a server, connections are watched: if the database does not answer, requests fail soon (`contentapi.db.watch`).

A commit whose wait for the synchronous standby is cancelled succeeds on the primary alone, with a warning (PostgreSQL's
documentation, "Synchronous Replication"). Here it raises `UnconfirmedCommit`: a failover could lose it.
"""

import select
import time
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import Any

from django.conf import settings
from django.db import Error, OperationalError
from django.db.backends.postgresql import base
from django.db.backends.utils import CursorWrapper
from psycopg.errors import Diagnostic
from psycopg.pq import TransactionStatus

from contentapi.db.watch.servers import SERVERS
from contentapi.monitoring.records import current_record

IDLE = TransactionStatus.IDLE
READ_ONLY = (b"in_hot_standby", b"default_transaction_read_only")  # parameters that PostgreSQL 14 reports
WAIT_FOR_STANDBY = "SyncRepWaitForLSN"  # the function of PostgreSQL that warns; its message is in any language


class UnconfirmedCommit(OperationalError):
    """A transaction was committed on the primary, and no standby has confirmed it. The client gets 503."""


class MeasuredCursor(CursorWrapper):
    """Django's cursor, which adds the time of each statement to the record of the request."""

    def execute(self, sql: Any, params: Any = None) -> Any:
        return self.measure(super().execute, sql, params)

    def executemany(self, sql: Any, param_list: Any) -> Any:
        return self.measure(super().executemany, sql, param_list)

    def measure(self, execute: Callable[[Any, Any], Any], sql: Any, params: Any) -> Any:
        start, error_type = perf_counter(), ""
        try:
            result = execute(sql, params)
        except Error as error:
            error_type = type(error.__cause__ or error).__name__
            raise
        else:
            self.db.require_confirmation()
            return result
        finally:
            current_record.get().add_statement(perf_counter() - start, sql, error_type)


class DatabaseWrapper(base.DatabaseWrapper):
    prepared: Any = None  # the `PreparedStatements` of this connection (`contentapi.projection.libpq`)
    is_unconfirmed = False  # a commit of this connection has just ended without its standby

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        self.prepared, self.is_unconfirmed = None, False  # a new connection has no prepared statements
        if settings.SERVING:
            connection = SERVERS.connect(self.alias, conn_params, super().get_new_connection)
        else:
            connection = super().get_new_connection(conn_params)
        connection.add_notice_handler(self.accept_notice)
        self.must_write = conn_params.get("target_session_attrs") in ("read-write", "primary")
        self.incoming = select.poll()
        self.incoming.register(connection.fileno(), select.POLLIN)
        return connection

    def accept_notice(self, notice: Diagnostic) -> None:
        if notice.source_function == WAIT_FOR_STANDBY:
            self.is_unconfirmed = True

    def require_confirmation(self) -> None:
        """Raise `UnconfirmedCommit` if the statement that has just ended was committed without its standby."""
        if self.is_unconfirmed:
            self.is_unconfirmed = False
            raise UnconfirmedCommit("the standby has not confirmed the commit")

    def commit(self) -> None:
        """Commit the transaction. Raises `UnconfirmedCommit`, and Django's database errors."""
        super().commit()
        self.require_confirmation()

    def make_cursor(self, cursor: Any) -> MeasuredCursor:
        return MeasuredCursor(cursor, self)

    def get_autocommit(self) -> bool:
        """Return whether autocommit is on. With a connection, Django's check for an event loop is skipped."""
        return bool(self.autocommit if self.connection is not None else super().get_autocommit())

    def close_if_unusable_or_obsolete(self) -> None:
        """Close a connection that a request must not use. Django checks the same in three methods."""
        is_fresh = self.close_at is None or time.monotonic() < self.close_at
        if self.connection is None or (is_fresh and self.autocommit and self.is_usable()):
            return
        with suppress(Error):  # Django opens another one
            self.close()

    def is_usable(self) -> bool:
        """Return whether the connection still works.

        The server sends nothing on an idle connection unless it ends the connection. So a socket without data means
        that the connection works, without a round trip. TCP time-outs detect an unreachable host (`settings`).
        """
        raw = self.connection.pgconn
        if (raw.transaction_status != IDLE or self.incoming.poll(0)) and not super().is_usable():
            return False
        return not self.must_write or all(raw.parameter_status(name) != b"on" for name in READ_ONLY)
