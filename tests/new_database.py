"""An empty database for a test of migrations, which leaves tables and sequences of the shared test database alone."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from psycopg import sql
from pytest_django import DjangoDbBlocker

Targets = list[tuple[str, str]]


@contextmanager
def use_new_database(blocker: DjangoDbBlocker) -> Iterator[None]:
    """Create an empty database beside the test database, and drop it after the use.

    The fixture that calls this needs `django_db_setup`, and its tests have no marker `django_db`.
    """
    shared = connection.settings_dict["NAME"]
    new = f"{shared}_migrations"
    with blocker.unblock():
        execute("DROP DATABASE IF EXISTS {} WITH (FORCE)", new)  # a killed run leaves one
        execute("CREATE DATABASE {} TEMPLATE template0", new)
        try:
            switch_database(new)
            yield
        finally:
            switch_database(shared)
            execute("DROP DATABASE {} WITH (FORCE)", new)


def execute(statement: str, database: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL(statement).format(sql.Identifier(database)))


def switch_database(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name


def migrate(targets: Targets | None = None) -> None:
    """Migrate forwards or backwards to the given migrations; without them, to the newest ones."""
    executor = MigrationExecutor(connection)
    executor.migrate(targets or executor.loader.graph.leaf_nodes())
