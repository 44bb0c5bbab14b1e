"""Requests of ASGI as WSGI environs."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from contentapi.core.errors import Malformed, Unavailable
from contentapi.http.body import read_request_body
from contentapi.streams import requests
from contentapi.streams.requests import BodyReader, Message, build_environ


def build_scope(*headers: tuple[bytes, bytes], path: str = "/events/stream") -> dict[str, Any]:
    return {
        "method": "POST",
        "path": path,
        "query_string": b"type=post.*",
        "http_version": "1.1",
        "scheme": "http",
        "client": ("192.0.2.7", 4711),
        "server": ("127.0.0.1", 8100),
        "headers": headers,
    }


def read(parts: Sequence[Message], *headers: tuple[bytes, bytes], reader: BodyReader | None = None) -> dict[str, Any]:
    """Read a body whose parts arrive at once. After the last one, nothing arrives."""
    waiting = [*parts]

    async def receive() -> Message:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop(0)

    environ = build_environ(build_scope(*headers))
    asyncio.run((reader or BodyReader()).read(receive, environ))
    return environ


def build_part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def test_environ_has_the_request() -> None:
    environ = build_environ(
        build_scope(
            (b"host", b"localhost"), (b"content-type", b"application/json"), (b"accept", b"a"), (b"accept", b"b")
        )
    )

    expected = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/events/stream",
        "QUERY_STRING": "type=post.*",
        "REMOTE_ADDR": "192.0.2.7",
        "HTTP_HOST": "localhost",
        "CONTENT_TYPE": "application/json",
        "HTTP_ACCEPT": "a,b",
    }
    assert {name: environ[name] for name in expected} == expected


def test_header_with_an_underscore_cannot_imitate_another() -> None:
    environ = build_environ(
        build_scope((b"x_forwarded_for", b"192.0.2.1"), (b"x-api-key", b"mine"), (b"x_api_key", b"x"))
    )

    assert "HTTP_X_FORWARDED_FOR" not in environ
    assert environ["HTTP_X_API_KEY"] == "mine"


def test_body_in_parts_is_read_to_its_end() -> None:
    environ = read([build_part(b'{"a"', more=True), build_part(b":1}")], (b"content-length", b"7"))

    assert read_request_body(environ) == b'{"a":1}'


def test_body_that_stops_is_refused_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "STREAM_BODY_TIMEOUT", 0.05)

    with pytest.raises(Malformed, match="did not arrive"):
        read([build_part(b"{", more=True)], (b"content-length", b"7"))


def test_body_of_a_client_that_leaves_is_refused() -> None:
    with pytest.raises(Malformed):
        read([build_part(b"{", more=True), {"type": "http.disconnect"}], (b"content-length", b"7"))


def test_waiting_bodies_have_a_limit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MOST_BUFFERED", 10)
    reader = BodyReader()

    with pytest.raises(Unavailable):
        read([build_part(b"x" * 11, more=True)], (b"content-length", b"20"), reader=reader)

    assert reader.buffered == 0


def test_long_body_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "STREAM_BODY_TIMEOUT", 0.05)

    read([], (b"content-length", b"99999999"))  # would wait for its first part
