"""Fixtures of the tests of memory."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture
def only_new_objects() -> Iterator[None]:
    """Hide all older objects from the garbage collector. This is faster, and those of other tests are not counted."""
    gc.freeze()
    yield
    gc.unfreeze()
