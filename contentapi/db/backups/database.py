"""The database that is backed up or restored: its libpq parameters, and what it contains."""

import os
from typing import Any, NamedTuple

import psycopg
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import sql

Connection = psycopg.Connection[Any]
NO_LIMITS = " ".join(
    f"SET {name} = 0;" for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
)
# A restored database begins a new log of events: positions would be given a second time. Deliveries are of the old log.
EVENTS = "events_(outbox|log|event|delivery|attempt)(|_[0-9]+|_id_seq)"
NOT_DUMPED = f"*.{EVENTS}"  # a pattern of pg_dump, which knows these regular expressions
IS_OURS = """
    nspname <> 'information_schema' AND nspname !~ '^pg_' AND NOT EXISTS (
        SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
"""
SELECT_TABLES = f"""
    SELECT nspname, relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
    WHERE relkind = 'r' AND relname !~ '^{EVENTS}$' AND {IS_OURS} ORDER BY 1, 2
"""  # noqa: S608 - a constant
SELECT_OBJECTS = f"""
    SELECT format('%I.%I', nspname, relname) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
    WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND {IS_OURS}
    UNION ALL
    SELECT format('%I.%I', nspname, typname) FROM pg_type c JOIN pg_namespace n ON n.oid = typnamespace
    WHERE typtype IN ('e', 'd') AND {IS_OURS.replace("pg_class", "pg_type")} ORDER BY 1
"""  # noqa: S608 - a constant


class Target(NamedTuple):
    """A database: the libpq parameters, and the environment of programs. All users can read arguments."""

    parameters: dict[str, Any]
    environment: dict[str, str]


def read_target() -> Target:
    """Return the database of the settings."""
    database = connections[DEFAULT_DB_ALIAS]
    known = {each.keyword.decode(): each.envvar for each in psycopg.pq.Conninfo.get_defaults()}
    given = database.get_connection_params()
    parameters = {name: value for name, value in given.items() if name in known and value not in ("", None)}
    variables = {name.decode(): str(parameters[key]) for key, name in known.items() if name and key in parameters}
    is_embedded = database.settings_dict["ENGINE"] == "contentapi.db.embedded"
    return Target(parameters, build_environment(variables, is_embedded=is_embedded))


def build_environment(variables: dict[str, str], *, is_embedded: bool) -> dict[str, str]:
    """Return the environment of programs. They lack the parameters for which libpq reads no variable."""
    inherited = {name: value for name, value in os.environ.items() if not (is_embedded and name.startswith("PG"))}
    return {**inherited, **variables, "LC_ALL": "C"}  # messages in English


def connect(target: Target) -> Connection:
    """Connect to the database, without the time limits of the role. Raises `CommandError`."""
    try:
        connection = psycopg.connect(**target.parameters, autocommit=True)
    except psycopg.OperationalError as error:
        raise CommandError(f"Cannot connect to the database. {str(error).strip()}") from None
    connection.execute(NO_LIMITS)
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    return connection


def get_major(connection: Connection) -> int:
    return connection.info.server_version // 10_000


def count_rows(connection: Connection) -> dict[str, int]:
    """Return the number of rows of each table, by its name."""
    rows = {}
    for schema, name in connection.execute(SELECT_TABLES).fetchall():
        statement = sql.SQL("SELECT count(*) FROM ONLY {}").format(sql.Identifier(schema, name))
        (rows[f"{schema}.{name}"],) = connection.execute(statement).fetchone() or (0,)
    return rows
