"""Fixtures of the tests of streams."""

from collections.abc import Iterator

import pytest

from contentapi.streams.limits import LIMITS


@pytest.fixture(autouse=True)
def _nobody_has_streams() -> Iterator[None]:
    yield
    LIMITS.open.clear()
    LIMITS.total = 0
