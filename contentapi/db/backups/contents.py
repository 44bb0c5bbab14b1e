"""What a database contains: the number of rows of each table, and the last values of its sequences."""

from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import sql

SETTINGS = {
    "search_path": "pg_catalog",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "row_security": "off",
}
# A restored database begins a new log of events: positions would be given a second time. Deliveries are of the old log.
EVENTS = "events_(outbox|log|event|delivery|attempt)(|_[0-9]+|_id_seq)"
NOT_DUMPED = f"*.{EVENTS}"  # a pattern of pg_dump, which knows these regular expressions
IS_OURS = f"""
    c.relname !~ '^{EVENTS}$' AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
    AND NOT EXISTS (SELECT FROM pg_depend d
                    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
"""
SELECT_TABLES = f"""
    SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND {IS_OURS}
    ORDER BY 1, 2
"""  # noqa: S608 - a constant
SELECT_SEQUENCES = f"""
    SELECT n.nspname, c.relname, pg_sequence_last_value(c.oid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'S' AND {IS_OURS}
    ORDER BY 1, 2
"""  # noqa: S608 - a constant

Connection = psycopg.Connection[Any]


def lift_limits(connection: Connection) -> None:
    """Let the statements of the present transaction take long and read every row."""
    for name, value in SETTINGS.items():
        connection.execute("SELECT pg_catalog.set_config(%s, %s, true)", [name, value])


def count_rows(connection: Connection, check: Callable[[], None] = lambda: None) -> dict[str, int]:
    """Return the number of rows of each table. `check` is called after each one. Call `lift_limits` before."""
    rows = {}
    for schema, name in connection.execute(SELECT_TABLES).fetchall():
        statement = sql.SQL("SELECT count(*) FROM ONLY {}").format(sql.Identifier(schema, name))
        (rows[f"{schema}.{name}"],) = connection.execute(statement).fetchone() or (0,)
        check()
    return rows


def read_sequences(connection: Connection) -> dict[str, int]:
    """Return the last value of each sequence that has been used. Sequences are not part of a snapshot."""
    rows = connection.execute(SELECT_SEQUENCES)
    return {f"{schema}.{name}": value for schema, name, value in rows if value is not None}
