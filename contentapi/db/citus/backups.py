"""Backups of a distributed database: a snapshot of the coordinator is none of the workers, so that writes must wait."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError
from psycopg.errors import DeadlockDetected, LockNotAvailable

from contentapi.conf.timeouts import BACKUP_LOCK_TIMEOUT, BACKUP_PAUSE
from contentapi.db.distribution import CLAIMS, Connection
from contentapi.db.placement import list_shard_keys

ATTEMPTS = 20
LIMITS = f"SET LOCAL lock_timeout = {1000 * BACKUP_LOCK_TIMEOUT:.0f}; SET LOCAL idle_in_transaction_session_timeout = 0"


@contextmanager
def stop_writes(connect: Callable[[], Connection], report: Callable[[str], None]) -> Iterator[None]:
    """Let writes to a distributed database wait during the block. CONTENTAPI_DISTRIBUTED may be missing.

    It waits for present writes only for a short time, because others wait behind it, and then tries again. Raises
    `CommandError` if they do not end, and psycopg's errors if the connection with the locks is lost.
    """
    with connect() as locks:
        if locks.execute("SELECT to_regclass(%s)", [CLAIMS]).fetchone() == (None,):
            yield
            return
        for _ in range(ATTEMPTS):
            locks.execute(f"BEGIN; {LIMITS}")
            try:
                locks.execute(f"LOCK TABLE {', '.join((*list_shard_keys(), CLAIMS))} IN SHARE MODE")
                break
            except (LockNotAvailable, DeadlockDetected):
                locks.execute("ROLLBACK")
                time.sleep(BACKUP_PAUSE)
        else:
            raise CommandError("A long transaction or much load prevents the backup. Try again later.")
        report("The database is distributed: writes wait until all rows are read, or get 503.")
        yield
        locks.execute("COMMIT")
