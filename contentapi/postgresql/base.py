"""Connections that stay open between requests, and whose health is asked of the kernel before the server."""

import select
import time
from typing import Any

from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus

JUST_NOW = 0.02  # seconds


class DatabaseWrapper(base.DatabaseWrapper):
    answered_at = float("-inf")  # when the server last answered, by the monotonic clock
    prepared: Any = None  # what the projection engine has prepared on this connection

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        self.prepared = None
        return super().get_new_connection(conn_params)

    def is_usable(self) -> bool:
        """Say whether the connection still works; one that has just been heard of does.

        On an idle connection nothing arrives until the server ends it, so silence means health, without a round trip;
        a host that vanishes without a word is what TCP's time-outs are for (`contentapi.settings`).
        """
        raw = self.connection.pgconn
        is_idle = raw.transaction_status == TransactionStatus.IDLE
        has_just_answered = time.monotonic() - self.answered_at < JUST_NOW
        return (is_idle and (has_just_answered or is_silent(raw.socket))) or super().is_usable()


def is_silent(socket: int) -> bool:
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return not poll.poll(0)
