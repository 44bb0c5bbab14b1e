"""A pytest plugin for `make mutation`: leave out the tests that use the database, which are slow to start."""

import os
import resource
import sys
import time
from math import ceil

import pytest

DATABASE_FIXTURES = {"db", "transactional_db"}
MUTANT_LIMIT = 5  # seconds of processor time. Those of the clock, which mutmut limits, depend on other programs


def pytest_configure() -> None:
    sys.setrecursionlimit(10_000)  # mutmut calls each function through two of its own
    if "__mutmut_" in os.environ.get("MUTANT_UNDER_TEST", ""):
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(time.process_time()) + MUTANT_LIMIT, most))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if uses_database(item)]
    items[:] = [item for item in items if not uses_database(item)]
    config.hook.pytest_deselected(items=left_out)


def uses_database(item: pytest.Item) -> bool:
    fixtures = getattr(item, "fixturenames", ())
    return item.get_closest_marker("django_db") is not None or not DATABASE_FIXTURES.isdisjoint(fixtures)
