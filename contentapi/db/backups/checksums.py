"""Checksums of tables, which are equal for equal rows on every server: the order of the rows does not matter.

A checksum covers the names and types of the columns, the number of the rows, and all values as text.
"""

import hashlib
from typing import Any, NamedTuple

import psycopg
from psycopg import sql

# Formats that the settings of a server or a role could change.
FORMATS = {
    "timezone": "UTC",
    "datestyle": "ISO, MDY",
    "intervalstyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "xmlbinary": "base64",
    "lc_monetary": "C",
    "search_path": "pg_catalog",  # a name of another schema is always written with it
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "row_security": "off",
}
IS_OURS = """
    n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
    AND NOT EXISTS (SELECT FROM pg_depend d
                    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
"""
SELECT_TABLES = f"""
    SELECT n.nspname, c.relname,
      (SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum)
       FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND {IS_OURS}
    ORDER BY 1, 2
"""  # noqa: S608 - a constant
SELECT_SEQUENCES = f"""
    SELECT n.nspname, c.relname, pg_sequence_last_value(c.oid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'S' AND {IS_OURS}
    ORDER BY 1, 2
"""  # noqa: S608 - a constant
# The digests of the rows are added: the sum does not depend on the order, and repeated rows count.
SELECT_SUMS = """
    SELECT count(*), sum(('x' || substr(digest, 1, 16))::bit(64)::bigint),
      sum(('x' || substr(digest, 17, 16))::bit(64)::bigint)
    FROM (SELECT encode(sha256(convert_to("row of table"::text, 'UTF8')), 'hex') AS digest
          FROM ONLY {table} AS "row of table") AS digests
"""

Connection = psycopg.Connection[Any]


class Table(NamedTuple):
    schema: str
    name: str
    columns: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"


class Checksum(NamedTuple):
    rows: int
    checksum: str


def fix_formats(connection: Connection) -> None:
    """Set the formats of values for the present transaction, and remove the time limits of statements."""
    for name, value in FORMATS.items():
        connection.execute("SELECT pg_catalog.set_config(%s, %s, true)", [name, value])


def list_tables(connection: Connection) -> list[Table]:
    return [Table(*row) for row in connection.execute(SELECT_TABLES)]


def compute_checksum(connection: Connection, table: Table) -> Checksum:
    """Return the number of rows and the checksum of a table. Call `fix_formats` before in the same transaction."""
    statement = sql.SQL(SELECT_SUMS).format(table=sql.Identifier(table.schema, table.name))
    rows, *sums = connection.execute(statement).fetchone() or (0,)
    text = "\n".join([table.columns or "", str(rows), *(str(each or 0) for each in sums)])
    return Checksum(rows, hashlib.sha256(text.encode()).hexdigest()[:32])


def read_sequences(connection: Connection) -> dict[str, int]:
    """Return the last value of each sequence that has been used. Sequences are not part of a snapshot."""
    rows = connection.execute(SELECT_SEQUENCES)
    return {f"{schema}.{name}": value for schema, name, value in rows if value is not None}
