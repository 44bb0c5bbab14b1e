"""Run other tests on a distributed database: `python -m pytest -p tests.citus.plugin` with its DATABASE_URL."""

from typing import Any

import pytest

# The fixtures that create the database of the tests: they use the one of DATABASE_URL as it is.
CREATING = ("django_db_modify_db_settings", "django_db_setup")


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> bool | None:
    if fixturedef.argname not in CREATING:
        return None
    fixturedef.cached_result = (None, fixturedef.cache_key(request), None)
    return True


def pytest_collection_finish() -> None:
    from tests import conftest  # imports models, so Django must be set up
    from tests.blog import racing

    vars(conftest)["empty_tables"] = empty_distributed_tables
    racing.count_waiting_backends = count_waiting_backends


def empty_distributed_tables() -> None:
    """Delete all rows that a test with transactions has committed. Citus asks one table in a statement."""
    from django.db import connection

    from contentapi.db.citus.tables import CLAIMS
    from contentapi.events.partitions import CREATE_LOG
    from tests.migrated_database import WRITTEN_BY_MIGRATE, list_tables

    with connection.cursor() as cursor:
        filled = []
        for table in sorted({CLAIMS, *list_tables()} - WRITTEN_BY_MIGRATE):
            cursor.execute(f"SELECT 1 FROM {table} LIMIT 1")  # noqa: S608 - names of tables
            if cursor.fetchone():
                filled.append(table)
        if filled:
            cursor.execute(f"TRUNCATE {', '.join(filled)} CASCADE")
        cursor.execute("DELETE FROM events_log")
        cursor.execute(CREATE_LOG)


def count_waiting_backends(backends: list[int]) -> int:
    """Count the sessions that wait for a lock, on whichever node it is."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(DISTINCT waiting_gpid) FROM citus_lock_waits WHERE mod(waiting_gpid, 10000000000) = ANY(%s)",
            [backends],
        )
        return int(cursor.fetchone()[0])
