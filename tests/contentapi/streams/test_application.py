"""The responses of the process of streams that are no streams."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from contentapi.health import readiness
from contentapi.health.readiness import BackgroundCheck, Readiness
from contentapi.health.results import OK, Results
from contentapi.http.response import Response
from contentapi.streams import application
from contentapi.streams.application import StreamApplication
from contentapi.streams.requests import Message


async def receive_nothing() -> Message:
    return {"type": "http.disconnect"}


def test_readiness_of_streams_does_not_run_the_checks_of_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def build_check(*names: str) -> BackgroundCheck:
        def run() -> Results:
            ran.extend(names)
            return dict.fromkeys(names, OK)

        return BackgroundCheck(names, run)

    checks = Readiness([build_check("database", "migrations"), build_check("media")])
    monkeypatch.setattr(application, "get_readiness", lambda: checks)
    monkeypatch.setattr(readiness, "READINESS_MAX_AGE", 3600)
    monkeypatch.setattr(readiness, "READINESS_LIMIT", 60)
    service: Any = SimpleNamespace(inspect=lambda: OK)
    fast_path: Any = None

    async def ask(method: str) -> Response:
        environ = {"REQUEST_METHOD": method, "PATH_INFO": "/readyz", "QUERY_STRING": ""}
        outcome = await StreamApplication(service, fast_path).handle(environ, receive_nothing)
        assert ("Cache-Control", "no-store") in outcome.headers
        assert isinstance(outcome.result, Response)
        return outcome.result

    responses = [asyncio.run(ask(method)) for method in ("GET", "HEAD", "POST")]

    assert [response.status for response in responses] == [200, 200, 405]
    assert [bool(response.body) for response in responses] == [True, False, True]
    assert ran == ["database", "migrations"]
