"""Connection slots for a test, and the connection of its thread."""

from collections.abc import Iterator

import pytest
from django.db import connections

from contentapi.db.engine.slots import ConnectionSlots, uninstall_connections


@pytest.fixture
def slots() -> Iterator[ConnectionSlots]:
    slots = ConnectionSlots(2, patience=60)
    yield slots
    for wrappers in slots.idle.values():
        for wrapper in wrappers.values():
            wrapper.close()


@pytest.fixture
def own_connection(db: None) -> Iterator[None]:  # noqa: ARG001
    """Restore the connection of the test's thread, to which some tests lease a slot."""
    own = connections["default"]
    yield
    uninstall_connections()
    connections["default"] = own
