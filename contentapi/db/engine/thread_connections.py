"""The Django database connections of the current thread, without Django's check for an event loop.

For each of the two or three lookups of a request, `django.db.connections` checks whether the thread runs an event loop,
which raises and catches an exception. No thread of the servers runs one.
"""

from threading import local
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections


class ThreadConnections(local):
    """The connections that this thread has used, or those of the slot that it leases or leased last."""

    def __init__(self) -> None:
        self.by_alias: dict[str, Any] = {}


CURRENT = ThreadConnections()


def get_connection(alias: str) -> Any:
    """Return `connections[alias]`."""
    by_alias = CURRENT.by_alias
    return by_alias[alias] if alias in by_alias else by_alias.setdefault(alias, connections[alias])


def close_unusable_connection() -> None:
    """Close the connection to the primary if it is too old or unusable after an error, as Django does before a request.

    One to a replica is checked when a read is sent to it (`contentapi.core.replicas`).
    """
    get_connection(DEFAULT_DB_ALIAS).close_if_unusable_or_obsolete()
