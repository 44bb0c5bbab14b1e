"""Connections that stay open between requests, and whose health is asked of the kernel before the server."""

import select
from typing import Any

from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus


class DatabaseWrapper(base.DatabaseWrapper):
    prepared: Any = None  # what the projection engine has prepared on this connection

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        self.prepared = None  # there is no pool that would hand out one that has been used
        return super().get_new_connection(conn_params)

    def get_autocommit(self) -> bool:
        """Return Django's answer, without its look for an event loop where there is a connection."""
        return bool(self.autocommit if self.connection is not None else super().get_autocommit())

    def is_usable(self) -> bool:
        """Say whether the connection still works.

        On an idle connection nothing arrives until the server ends it, so silence means health, without a round trip;
        a host that vanishes without a word is what TCP's time-outs are for (`contentapi.settings`).
        """
        raw = self.connection.pgconn
        is_idle = raw.transaction_status == TransactionStatus.IDLE
        return (is_idle and has_no_data(raw.socket)) or super().is_usable()


def has_no_data(socket: int) -> bool:
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return not poll.poll(0)
