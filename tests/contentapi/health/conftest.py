"""Fixtures of health checks: their connection, and a database without a heartbeat of a worker."""

from collections.abc import Iterator

import pytest

from contentapi.health import deployment
from tests.contentapi.health.commits import commit


@pytest.fixture
def roomy_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no disk of this machine be a problem."""
    for limit in ("LEAST_FREE_SPACE", "LEAST_FREE_SHARE"):
        monkeypatch.setattr(deployment, limit, 0)


@pytest.fixture
def no_heartbeat(db: None) -> Iterator[None]:  # noqa: ARG001
    """Remove the heartbeats that a test commits."""
    yield
    commit("DELETE FROM contentapi_jobheartbeat")
