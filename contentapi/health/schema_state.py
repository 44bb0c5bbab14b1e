"""Whether the database lacks migrations of this version, for errors about missing tables, columns and functions."""

from contextlib import closing
from threading import Lock
from time import monotonic

from contentapi.health.checks import check_database
from contentapi.health.connection import DeadlineConnection

CACHE_TIME = 1.0  # seconds
TIME_LIMIT = 1.6  # seconds


class SchemaState:
    """The result of the last look. Many requests fail at the same time, and one of them looks."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.looked_at = float("-inf")
        self.lacks_migrations = False

    def read(self) -> bool:
        with self.lock:
            if monotonic() - self.looked_at >= CACHE_TIME:
                with closing(DeadlineConnection()) as connection:
                    result = check_database(connection, TIME_LIMIT)["migrations"]
                self.lacks_migrations, self.looked_at = result.status == "failed", monotonic()
            return self.lacks_migrations


SCHEMA_STATE = SchemaState()
