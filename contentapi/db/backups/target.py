"""The database that is backed up or restored: its libpq parameters, its version and its state."""

from contextlib import suppress
from typing import Any, NamedTuple

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg.conninfo import make_conninfo

from contentapi.db.backups.programs import BackupError, build_environment

SECRET_PARAMETERS = {"sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret"}
EMBEDDED_ENGINE = "contentapi.db.embedded"
SELECT_OBJECTS = """
    SELECT format('%I.%I', n.nspname, o.name)
    FROM (SELECT oid, relname AS name, relnamespace AS namespace, 'pg_class'::regclass AS class FROM pg_class
          WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
          UNION ALL
          SELECT oid, proname, pronamespace, 'pg_proc'::regclass FROM pg_proc
          UNION ALL
          SELECT oid, typname, typnamespace, 'pg_type'::regclass FROM pg_type WHERE typtype IN ('e', 'd')) AS o
    JOIN pg_namespace n ON n.oid = o.namespace
    WHERE n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = o.class AND d.objid = o.oid AND d.deptype = 'e')
    ORDER BY 1
"""


class Target(NamedTuple):
    """A database: the libpq parameters without the password, as one text, and the environment of programs."""

    parameters: dict[str, Any]
    conninfo: str
    environment: dict[str, str]


def read_target() -> Target:
    """Return the database of the settings. Raises `BackupError`."""
    database = connections[DEFAULT_DB_ALIAS]
    known = {each.keyword.decode() for each in psycopg.pq.Conninfo.get_defaults()}
    parameters = {
        name: value
        for name, value in database.get_connection_params().items()
        if name in known and value not in ("", None)
    }
    secret = SECRET_PARAMETERS & parameters.keys()
    if secret:
        raise BackupError(
            f"PostgreSQL's programs cannot get {', '.join(sorted(secret))} from DATABASE_URL without showing it to "
            "other users. Use a connection service file (PGSERVICEFILE)."
        )
    public = {name: value for name, value in parameters.items() if name != "password"}
    is_embedded = database.settings_dict["ENGINE"] == EMBEDDED_ENGINE
    environment = build_environment(parameters.get("password"), is_embedded=is_embedded)
    return Target(parameters, make_conninfo(**public), environment)


def connect(target: Target) -> psycopg.Connection[Any]:
    """Connect to the database. Raises `BackupError`."""
    try:
        return psycopg.connect(**target.parameters, autocommit=True)
    except psycopg.OperationalError as error:
        raise BackupError(f"Cannot connect to the database. {str(error).strip()}") from None


def get_major(version: int) -> int:
    """Return the major version of a version number of libpq, such as 180004."""
    return version // 10_000


def list_objects(connection: psycopg.Connection[Any]) -> list[str]:
    """Return the names of the tables, sequences, views, functions and types that no extension owns."""
    return [name for (name,) in connection.execute(SELECT_OBJECTS)]


def read_migrations(connection: psycopg.Connection[Any]) -> list[str]:
    """Return the names of the applied migrations, as `app.name`."""
    with suppress(psycopg.errors.UndefinedTable):
        rows = connection.execute("SELECT app || '.' || name FROM django_migrations ORDER BY app, name")
        return [name for (name,) in rows]
    return []
