"""A pytest plugin for `make mutation`: leave out the tests that use the database, which are slow to start."""

import sys

import pytest

DATABASE_FIXTURES = {"db", "transactional_db"}


def pytest_configure() -> None:
    sys.setrecursionlimit(10_000)  # mutmut calls each function through two of its own


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if uses_database(item)]
    items[:] = [item for item in items if not uses_database(item)]
    config.hook.pytest_deselected(items=left_out)


def uses_database(item: pytest.Item) -> bool:
    fixtures = getattr(item, "fixturenames", ())
    return item.get_closest_marker("django_db") is not None or not DATABASE_FIXTURES.isdisjoint(fixtures)
