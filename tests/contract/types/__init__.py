"""A module for each type: who may do what with it, and the requests of each interface.

It has its part of what `tests/contract/` has for all types, by the same names: `TABLE`, `SERVICES`, `GRAPHQL`, `REST`,
`ADMIN`, `ADMIN_ROWS`, `NARROWER`, `PAGES`, `SUCCESSES`. `ROWS` are functions that make the row of a user, and `EVENTS`
are cases of `tests/contentapi/events/actions.py`.
"""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any


def iterate_parts(name: str) -> Iterator[Any]:
    for found in iter_modules(__path__):
        part = getattr(import_module(f"{__name__}.{found.name}"), name, None)
        if part is not None:
            yield part


def collect(name: str) -> dict[Any, Any]:
    """Return the tables of this name as one. Raises `ValueError` if two types have the same row."""
    rows = [row for table in iterate_parts(name) for row in table.items()]
    if len(dict(rows)) < len(rows):
        raise ValueError(f"Two types have the same row of {name}.")
    return dict(rows)


def collect_rows(name: str) -> list[Any]:
    return [row for rows in iterate_parts(name) for row in rows]
