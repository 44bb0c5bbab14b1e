"""Fixtures of behaviour that spans modules."""

import msgspec
import pytest
from pytest_django import Settings

from contentapi.graphql import transactions

LONG = 600  # seconds


@pytest.fixture
def without_time_limits(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    """Let an operation in one transaction and its statements take as long as a busy machine needs."""
    monkeypatch.setattr(transactions, "TRANSACTION_LIMIT", LONG)
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_statement_timeout=1000 * LONG)
