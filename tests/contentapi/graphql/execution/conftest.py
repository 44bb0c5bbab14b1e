"""Fixtures of the tests of memory."""

import gc

import pytest


@pytest.fixture
def only_new_objects() -> None:
    """Hide all older objects from the garbage collector. This is faster, and those of other tests are not counted.

    They stay hidden. To visit all that is loaded would slow down the tests that follow.
    """
    gc.freeze()
