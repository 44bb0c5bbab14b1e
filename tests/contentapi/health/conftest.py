"""The connection of health checks."""

from collections.abc import Iterator

import pytest

from contentapi.health.connection import DeadlineConnection


@pytest.fixture
def connection() -> Iterator[DeadlineConnection]:
    connection = DeadlineConnection()
    yield connection
    connection.close()
