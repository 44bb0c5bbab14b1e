"""Changes that the connections of the checks see, although the transaction of a test is rolled back."""

from contextlib import closing
from time import monotonic

from contentapi.db.watch.link import DeadlineConnection


def commit(sql: str) -> None:
    """Execute a statement on a connection of its own."""
    with closing(DeadlineConnection()) as connection:
        connection.query(sql, monotonic() + 60)
