"""Statements in SQL on the primary, for what Django's ORM cannot express."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection

Parameters = Sequence[Any] | Mapping[str, Any] | None


def execute(sql: str, parameters: Parameters = None) -> int:
    """Execute a statement. Return how many rows it has changed. Raises Django's database errors."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return int(cursor.rowcount)


def fetch_rows(sql: str, parameters: Parameters = None) -> list[tuple[Any, ...]]:
    """Return the rows of a statement. Raises Django's database errors."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())


def fetch_column(sql: str, parameters: Parameters = None) -> list[Any]:
    """Return the first value of each row."""
    return [row[0] for row in fetch_rows(sql, parameters)]
