"""A pytest plugin for `make test ONE_ROW=1`: run each test function with one of its rows of parameters.

CI runs all rows on another version of Python. Which row is chosen depends on the random order of the tests.
"""

import pytest


@pytest.hookimpl(trylast=True)  # after `-m` has left out tests
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen: dict[str, pytest.Item] = {}
    for item in items:
        chosen.setdefault(item.nodeid.partition("[")[0], item)
    kept = set(chosen.values())
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = chosen.values()
