"""Rows that PostgreSQL refuses to write, as a value does that nobody expected."""

from collections.abc import Iterator
from contextlib import contextmanager

from contentapi.db.statements import execute

CREATE = """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'This row is poisonous.'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION refuse()
"""


@contextmanager
def poison(table: str, condition: str) -> Iterator[None]:
    """Let the rows of a table that meet a condition, such as `NEW.id = 7`, fail when they are written."""
    execute(CREATE.format(table=table, condition=condition))
    try:
        yield
    finally:
        execute("DROP FUNCTION refuse CASCADE")
