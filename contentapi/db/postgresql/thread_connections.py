"""Django's connections of a thread, by their aliases.

Django's own look-up asks first whether the thread runs an event loop, and raises and catches an exception where it does
not: at each of the two or three look-ups of a request. Here no thread runs one.
"""

from threading import local
from typing import Any

from django.db import connections


class ThreadConnections(local):
    def __init__(self) -> None:
        self.connections: dict[str, Any] = {}


KNOWN = ThreadConnections()


def get_connection(alias: str) -> Any:
    """Return `connections[alias]`."""
    known = KNOWN.connections
    return known[alias] if alias in known else known.setdefault(alias, connections[alias])


def set_connections(wrappers: dict[str, Any]) -> None:
    """Make `connection_of` return these in this thread, as `connections` does."""
    KNOWN.connections = wrappers


def close_unusable_connections() -> None:
    """Close those that are too old, or that an error has left behind, as Django does before a request."""
    for alias in connections.settings:
        get_connection(alias).close_if_unusable_or_obsolete()
