"""Fixtures of the server."""

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from pytest_django import Settings

from contentapi.conf.environment import Environment
from contentapi.server.fast_path import FastPath
from tests.contentapi.server.fast_path_requests import FailingDjango

LIMIT = 1000


@pytest.fixture
def small_limit(settings: Settings) -> None:
    settings.ENVIRONMENT = Environment(contentapi_max_body=LIMIT)


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
