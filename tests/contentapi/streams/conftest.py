"""Fixtures of the tests of streams."""

from collections.abc import Iterator

import pytest

from contentapi.events.feed import LogState
from contentapi.streams import groups, hub
from contentapi.streams.limits import FOR_PROCESS, PLAN_LIMITS, STREAMS


@pytest.fixture(autouse=True)
def _nobody_has_streams() -> Iterator[None]:
    forget_streams()  # tests of other folders leave some
    yield
    forget_streams()


def forget_streams() -> None:
    STREAMS.taken.clear()
    STREAMS.free, PLAN_LIMITS.document_bytes = FOR_PROCESS, 0
    PLAN_LIMITS.streams.clear()
    PLAN_LIMITS.documents.clear()


@pytest.fixture
def log_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let plans be read from memory, without a log in the database."""
    monkeypatch.setattr(hub, "read_log", lambda: LogState("e", 10**9, 0))
    monkeypatch.setattr(groups, "STREAM_RETRY_INTERVAL", 0.01)
