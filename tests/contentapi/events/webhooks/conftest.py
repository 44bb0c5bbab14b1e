"""Fixtures of tests of webhooks."""

import pytest

from contentapi.core.identity import Actor, Role
from tests.factories import make_actor


@pytest.fixture
def admin_actor() -> Actor:
    return make_actor(Role.ADMIN)
