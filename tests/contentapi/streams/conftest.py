"""Fixtures of the tests of streams."""

from collections.abc import Iterator

import pytest

from contentapi.streams.limits import LIMITS, PLAN_LIMITS


@pytest.fixture(autouse=True)
def _nobody_has_streams() -> Iterator[None]:
    yield
    LIMITS.open.clear()
    LIMITS.total = PLAN_LIMITS.document_bytes = 0
    PLAN_LIMITS.streams.clear()
    PLAN_LIMITS.documents.clear()
