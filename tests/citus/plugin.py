"""Run other tests on a distributed database: `python -m pytest -p tests.citus.plugin` with DATABASE_URL."""

import pytest
from pytest_django import DjangoDbBlocker


@pytest.fixture(scope="session")
def django_db_setup(django_db_blocker: DjangoDbBlocker) -> None:  # noqa: ARG001
    """Use the database of DATABASE_URL as it is."""
