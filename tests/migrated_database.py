"""The database of the tests: a copy of one that is migrated already, and that later runs copy too.

To migrate an empty database takes seconds, to copy a migrated one a fraction of a second.
"""

import hashlib
import re
from pathlib import Path

import pytest
from django.db import DEFAULT_DB_ALIAS, connection, transaction
from django.test.utils import setup_databases, teardown_databases

from contentapi.events.partitions import CREATE_LOG

ROOT = Path(__file__).resolve().parents[1]
PREFIX = "test_migrated_"
IMPORTED_MODULE = re.compile(r"^(?:from|import) ((?:blog|contentapi|orders|users)\.[\w.]+)", re.MULTILINE)
LOCK = "SELECT pg_advisory_lock(hashtext('contentapi.tests'))"
# `migrate` writes their rows, and a test with transactions keeps them.
WRITTEN_BY_MIGRATE = {"auth_permission", "django_content_type", "events_log"}
USED_TABLES = """
    SELECT oid::regclass::text FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> ALL(%s) AND pg_relation_size(oid) > 0
"""


def name_migrated_database() -> str:
    """Return a name that is another one if the migrations, what they import, or the packages are others."""
    migrations = sorted([*ROOT.glob("*/migrations/*.py"), *ROOT.glob("*/*/migrations/*.py")])
    modules = {name for path in migrations for name in IMPORTED_MODULE.findall(path.read_text())}
    imported = sorted(ROOT / f"{module.replace('.', '/')}.py" for module in modules)
    digest = hashlib.sha256()
    for path in (ROOT / "requirements.txt", *migrations, *imported):
        digest.update(path.read_bytes())
    return f"{PREFIX}{digest.hexdigest()[:16]}"


def get_or_create_migrated_database() -> str:
    """Return the name of the migrated database. The first process that needs it creates it, and deletes older ones."""
    name = name_migrated_database()
    with connection._nodb_cursor() as cursor:
        cursor.execute(LOCK)  # until the end of this connection
        cursor.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [PREFIX])
        existing = [found for (found,) in cursor.fetchall()]
        if name not in existing:
            for outdated in existing:
                cursor.execute(f"DROP DATABASE {outdated}")
            create_migrated_database(f"{PREFIX}incomplete")
            cursor.execute(f"ALTER DATABASE {PREFIX}incomplete RENAME TO {name}")
    return name


def create_migrated_database(name: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(connection.settings_dict["TEST"], "NAME", name)
        created = setup_databases(0, interactive=False, aliases={DEFAULT_DB_ALIAS: True}, serialized_aliases=[])
        teardown_databases(created, 0, keepdb=True)


def empty_tables() -> None:
    """Delete all rows that a test with transactions has committed.

    Django's `flush`, which it replaces, truncates all tables and lets `migrate` write their first rows again. This
    deletes the rows of the tables that ever had some, without triggers, and takes a fraction of the time.
    """
    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute(USED_TABLES, [[*WRITTEN_BY_MIGRATE, "django_migrations"]])
        deletions = [f"DELETE FROM {table}" for (table,) in cursor.fetchall()]  # noqa: S608
        cursor.execute("; ".join(["SET LOCAL session_replication_role = replica", *deletions]))
        cursor.execute("DELETE FROM events_log")  # its positions begin again
        cursor.execute(CREATE_LOG)


def list_tables() -> list[str]:
    return connection.introspection.django_table_names(only_existing=True, include_views=False)
