"""Backups of a distributed database: a snapshot of the coordinator is none of the workers, so that writes must wait."""

import time
from typing import Any

import psycopg
from psycopg.errors import DeadlockDetected, LockNotAvailable

from contentapi.conf.timeouts import BACKUP_LOCK_TIMEOUT, BACKUP_PAUSE
from contentapi.db.backups.programs import BackupError
from contentapi.db.citus.tables import CLAIMS, DISTRIBUTED, ON_EACH_NODE

ATTEMPTS = 20
LOCK = f"LOCK TABLE {', '.join((*ON_EACH_NODE, *DISTRIBUTED, CLAIMS))} IN SHARE MODE"


def read_is_distributed(connection: psycopg.Connection[Any]) -> bool:
    """Return whether `distribute` has run on the database, also where CONTENTAPI_DISTRIBUTED is not set."""
    return connection.execute("SELECT to_regclass(%s) IS NOT NULL", [CLAIMS]).fetchone() == (True,)


def lock_writes(connection: psycopg.Connection[Any]) -> None:
    """Let writes to the tables of several nodes wait until the transaction ends. Reads go on.

    It waits for writes that use these tables, for a short time, because others wait behind it. Then it tries again.
    Raises `BackupError`.
    """
    connection.execute(f"SET LOCAL lock_timeout = {round(1000 * BACKUP_LOCK_TIMEOUT)}")
    for left in reversed(range(ATTEMPTS)):
        try:
            with connection.transaction():
                connection.execute(LOCK)
        except (LockNotAvailable, DeadlockDetected):
            if not left:
                raise BackupError("A long transaction or much load prevents the backup. Try again later.") from None
            time.sleep(BACKUP_PAUSE)
        else:
            return
