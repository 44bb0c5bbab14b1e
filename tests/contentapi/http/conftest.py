"""Fixtures of the log lines of requests."""

import logging
from typing import Any

import pytest
from django.db import connection

from tests.contentapi.http.logged_requests import get_applications


@pytest.fixture(params=["fast path", "Django"])
def application(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    # The test's transaction is on this connection, which Django would close after a failure in it.
    monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", lambda: None)
    return get_applications()[request.param]


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO)
    return caplog
