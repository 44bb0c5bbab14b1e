"""Threads that use the database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import Error as DatabaseError
from django.db import OperationalError

from contentapi.core.errors import Unavailable, to_api_error
from contentapi.db.engine.thread_connections import close_unusable_connection
from contentapi.db.outages import is_outage

OUTAGES = (DatabaseError, Unavailable)
T = TypeVar("T")


class Readers(ThreadPoolExecutor):
    """Threads that use the database, each with a connection of its own."""

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function in one of the threads."""
        return await asyncio.get_running_loop().run_in_executor(self, call_with_connection, function, *arguments)


def call_with_connection(function: Callable[..., T], *arguments: Any) -> T:
    close_unusable_connection()
    return function(*arguments)


def may_end(error: Exception) -> bool:
    """Return whether streams wait for the end of an error: the database is away, or a migration has still to run."""
    is_of_statement = isinstance(error, OperationalError) and not is_outage(error)  # such as one that takes too long
    return isinstance(to_api_error(error), Unavailable) and not is_of_statement
