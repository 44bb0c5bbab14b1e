"""A new database, which squashed migrations create, equals one that was migrated step by step."""

from collections.abc import Iterator

import pytest

from tests.deployment.hosts import SECRET
from tests.deployment.postgresql import PostgresServer
from tests.deployment.processes import inherit_environment, run_manage, run_program

pytestmark = [pytest.mark.servers, pytest.mark.thorough]

# Migrates to a point within what each squashed migration replaces: `migrate` continues with the replaced ones.
MIGRATE_TO_A_POINT = """
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
executor = MigrationExecutor(connection)
executor.loader = MigrationLoader(connection, replace_migrations=False)
executor.migrate([
    ("blog", "0026_one_check"),
    ("users", "0005_events"),
    ("events", "0002_webhooks"),
    ("contentapi", "0002_stored_of_users"),
    ("orders", "0001_initial"),
])
"""
READ_ROWS = """
    SELECT relname, reltuples FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'django_migrations' ORDER BY 1
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """A server with the database "contentapi", which `migrate` has created."""
    server = PostgresServer(tmp_path_factory.mktemp("squashed") / "postgres").create()
    try:
        manage(server, "contentapi", "migrate", "--verbosity", "0")
        yield server
    finally:
        server.remove()


def manage(server: PostgresServer, database: str, *arguments: str) -> str:
    settings = {"DATABASE_URL": server.build_url(database), "SECRET_KEY": SECRET, "JWT_SECRET": SECRET}
    return run_manage({**inherit_environment(), **settings}, *arguments)


def read_schema(server: PostgresServer, database: str) -> list[str]:
    """Return the lines of `pg_dump`, without its random keys. The columns of a table are in their order."""
    done = run_program(server.programs / "pg_dump", "--schema-only", server.build_url(database))
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if not line.startswith("\\")]


def count_rows(server: PostgresServer, database: str) -> list[tuple[str, float]]:
    """Return the number of rows of each table, which PostgreSQL counts exactly if they are few."""
    server.execute("ANALYZE", database=database)
    return server.execute(READ_ROWS, database=database)


def test_database_that_is_migrated_step_by_step_equals_a_new_one(server: PostgresServer) -> None:
    server.execute("CREATE DATABASE earlier")
    manage(server, "earlier", "shell", "--verbosity", "0", "-c", MIGRATE_TO_A_POINT)

    manage(server, "earlier", "migrate", "--verbosity", "0")

    assert read_schema(server, "earlier") == read_schema(server, "contentapi")
    assert count_rows(server, "earlier") == count_rows(server, "contentapi")
    manage(server, "earlier", "migrate", "--check")


def test_database_with_all_that_is_replaced_needs_no_migration(server: PostgresServer) -> None:
    server.execute("CREATE DATABASE last TEMPLATE contentapi")
    server.execute("DELETE FROM django_migrations WHERE name LIKE '%_squashed_%'", database="last")

    manage(server, "last", "migrate", "--check")
