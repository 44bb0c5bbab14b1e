"""Backups of a distributed database: a snapshot of the coordinator is none of the workers, so that writes must wait."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.errors import DeadlockDetected, LockNotAvailable

from contentapi.conf.timeouts import BACKUP_LOCK_TIMEOUT, BACKUP_PAUSE
from contentapi.db.backups.programs import BackupError
from contentapi.db.backups.target import Target, connect
from contentapi.db.citus.tables import CLAIMS
from contentapi.db.placement import list_copied, list_distributed

ATTEMPTS = 20
SETTINGS = {"lock_timeout": round(1000 * BACKUP_LOCK_TIMEOUT), "idle_in_transaction_session_timeout": 0}


@contextmanager
def stop_writes(target: Target, connection: psycopg.Connection[Any]) -> Iterator[bool]:
    """On a distributed database, let writes wait during the block. Yield whether it is one.

    The catalog decides: CONTENTAPI_DISTRIBUTED may be missing. Take snapshots inside the block, by other connections.
    Raises `BackupError` if writes do not end, and psycopg's errors if the connection with the locks is lost.
    """
    if connection.execute("SELECT to_regclass(%s)", [CLAIMS]).fetchone() == (None,):
        yield False
        return
    with connect(target) as locks:
        lock_tables(locks)
        yield True
        locks.execute("COMMIT")


def lock_tables(connection: psycopg.Connection[Any]) -> None:
    """Wait for the writes that use the tables, for a short time, because others wait behind it. Then try again."""
    for left in reversed(range(ATTEMPTS)):
        connection.execute("BEGIN")
        for name, value in SETTINGS.items():
            connection.execute(f"SET LOCAL {name} = {value}")
        try:
            connection.execute(f"LOCK TABLE {', '.join((*list_copied(), *list_distributed(), CLAIMS))} IN SHARE MODE")
        except (LockNotAvailable, DeadlockDetected):
            connection.execute("ROLLBACK")
            if not left:
                raise BackupError("A long transaction or much load prevents the backup. Try again later.") from None
            time.sleep(BACKUP_PAUSE)
        else:
            return
