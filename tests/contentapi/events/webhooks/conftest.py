"""Fixtures of tests of webhooks."""

from typing import Any

import pytest

from contentapi.conf.timeouts import WEBHOOK_RETRIES
from contentapi.core.identity import Actor, Role
from contentapi.events.webhooks import retries
from tests.contentapi.events.webhooks.hooks import allow_local_receivers
from tests.factories import make_actor


@pytest.fixture
def admin_actor() -> Actor:
    return make_actor(Role.ADMIN)


@pytest.fixture
def no_retry_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next attempt come in a day at the earliest, however busy the machine is."""
    monkeypatch.setattr(retries, "WEBHOOK_RETRIES", (86_400,) * len(WEBHOOK_RETRIES))


@pytest.fixture
def local_receivers(settings: Any) -> None:
    """Let senders connect to receivers of this machine."""
    allow_local_receivers(settings)
