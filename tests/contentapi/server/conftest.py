"""Fixtures of the fast path."""

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection

from contentapi.server.fast_path import FastPath
from tests.contentapi.server.fast_path_requests import FailingDjango


@pytest.fixture
def kept_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the test's connection open for its transaction, as Django's test client does."""
    monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", lambda: None)


@pytest.fixture
def fast_path() -> FastPath:
    return FastPath(FailingDjango())


@pytest.fixture
def django() -> WSGIHandler:
    return WSGIHandler()
