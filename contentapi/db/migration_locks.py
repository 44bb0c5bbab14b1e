"""Limits on the locks of migrations, so that a migration that waits for a lock does not block all requests.

A statement such as ALTER TABLE waits until no transaction uses the table, and every later statement on the table waits
behind it. So it may wait for one second; then the migration is rolled back and repeated.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import OperationalError
from psycopg.errors import DeadlockDetected, LockNotAvailable

from contentapi.conf.timeouts import MIGRATION_LOCK_TIMEOUT

LOCK_TIMEOUT = f"{MIGRATION_LOCK_TIMEOUT:g}s"
# These wait for old transactions without blocking reads or writes. A time-out would leave an invalid index behind.
PATIENT_STATEMENTS = ("CREATE INDEX CONCURRENTLY", "CREATE UNIQUE INDEX CONCURRENTLY", "DROP INDEX CONCURRENTLY")


@contextmanager
def limit_locks(connection: Any) -> Iterator[None]:
    """Limit the time for which statements inside the block wait for a lock."""
    set_timeout(connection, LOCK_TIMEOUT)
    with connection.execute_wrapper(wait_for_transactions):
        yield
    set_timeout(connection, "DEFAULT")


def wait_for_transactions(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:  # noqa: FBT001
    """Execute a statement, without the limit if it builds or drops an index concurrently."""
    if not str(sql).lstrip().upper().startswith(PATIENT_STATEMENTS):
        return execute(sql, params, many, context)
    set_timeout(context["connection"], "0")
    try:
        return execute(sql, params, many, context)
    finally:
        set_timeout(context["connection"], LOCK_TIMEOUT)


def set_timeout(connection: Any, value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = {value if value == 'DEFAULT' else repr(value)}")


def is_lock_failure(error: OperationalError) -> bool:
    """Return whether a statement did not get a lock in time, or was in a deadlock."""
    return isinstance(error.__cause__, LockNotAvailable | DeadlockDetected)
