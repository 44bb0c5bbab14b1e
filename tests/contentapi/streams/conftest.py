"""Fixtures of the tests of streams."""

from collections.abc import Iterator

import pytest

from contentapi.streams import hub
from contentapi.streams.limits import DOCUMENTS, FOR_PROCESS, STREAMS


@pytest.fixture(autouse=True)
def _nobody_has_streams() -> Iterator[None]:
    forget_streams()  # tests of other folders leave some
    yield
    forget_streams()


def forget_streams() -> None:
    STREAMS.taken.clear()
    STREAMS.free = FOR_PROCESS
    DOCUMENTS.clear()


@pytest.fixture
def log_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let plans be read from memory, again soon after an error."""
    monkeypatch.setattr(hub, "STREAM_RETRY_INTERVAL", 0.01)
