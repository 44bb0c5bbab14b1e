"""Requests are read completely before the application gets them. Otherwise the connection closes."""

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any

import pytest
from django.http import FileResponse, HttpResponse
from pytest_django import Settings

from contentapi.conf.environment import Environment
from contentapi.db.engine.slots import NoSlotAvailable
from contentapi.server.bodies import DRAIN_LIMIT
from contentapi.server.complete_requests import RequestBufferingLayer
from tests.contentapi.server.conftest import LIMIT
from tests.contentapi.server.test_uploads import Application, use_own_connection  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("small_limit")


class Stream:
    """A connection that counts what is read of it."""

    def __init__(self, content: bytes, *, breaks_off: bool = False) -> None:
        self.stream = BytesIO(content)
        self.breaks_off = breaks_off
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        part = self.stream.read(size)
        if self.breaks_off and not part:
            raise OSError("reset by peer")
        self.count += len(part)
        return part


def refuse(environ: dict[str, Any], error: NoSlotAvailable, start_response: Callable[..., Any]) -> Iterable[bytes]:
    start_response("503 Refused", [])
    return [f"{environ['PATH_INFO']}: {error}".encode()]


def call(application: Any, stream: Stream | None = None, **changes: Any) -> tuple[str, dict[str, str], bytes]:
    started: list[tuple[str, list[tuple[str, str]]]] = []
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/graphql",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": "localhost",
        "wsgi.input": stream or Stream(b""),
        **changes,
    }
    layer: Any = RequestBufferingLayer(application, refuse, slots=1)
    parts = layer(environ, lambda status, headers, _=None: started.append((status, headers)))
    body = b"".join(parts)
    assert len(layer.slots.idle) == 1
    [(status, headers)] = started
    return status, dict(headers), body


@pytest.mark.parametrize(
    ("length", "changes"),
    [
        (1, {"CONTENT_LENGTH": "1"}),
        (LIMIT, {"CONTENT_LENGTH": str(LIMIT)}),
        (LIMIT, {"HTTP_TRANSFER_ENCODING": "chunked"}),
    ],
)
def test_body_within_the_limit_is_read_before_the_application(length: int, changes: dict[str, Any]) -> None:
    application, stream = Application(), Stream(b"x" * length)

    _, headers, _ = call(application, stream, **changes)

    assert application.body == b"x" * length
    assert isinstance(application.environ["wsgi.input"], BytesIO)
    assert "Connection" not in headers


def test_body_over_the_limit_is_discarded_and_keeps_the_connection() -> None:
    application, stream = Application(), Stream(b"x" * (LIMIT + 1))

    _, headers, _ = call(application, stream, CONTENT_LENGTH=str(LIMIT + 1))

    assert application.body == b""
    assert application.environ["CONTENT_LENGTH"] == str(LIMIT + 1)
    assert stream.count == LIMIT + 1
    assert "Connection" not in headers


def test_body_far_over_the_limit_closes_the_connection() -> None:
    application, stream = Application(), Stream(b"x" * LIMIT)

    _, headers, _ = call(application, stream, CONTENT_LENGTH=str(DRAIN_LIMIT * LIMIT + 1))

    assert stream.count == 0
    assert headers["Connection"] == "close"


@pytest.mark.parametrize(("length", "closes"), [(LIMIT + 2, False), (100 * LIMIT, True)])
def test_chunked_body_over_the_limit_is_cut_and_drained(length: int, closes: bool) -> None:  # noqa: FBT001
    application, stream = Application(), Stream(b"x" * length)

    _, headers, _ = call(application, stream, HTTP_TRANSFER_ENCODING="chunked")

    assert application.body == b"x" * (LIMIT + 1)
    assert stream.count <= (DRAIN_LIMIT + 1) * LIMIT + 2
    assert ("Connection" in headers) == closes


def test_broken_body_raises_when_the_application_reads_it() -> None:
    application = Application()

    _, headers, _ = call(application, Stream(b"", breaks_off=True), CONTENT_LENGTH="10")

    assert isinstance(application.body, OSError)
    assert headers["Connection"] == "close"


def test_request_without_a_body_reads_nothing() -> None:
    application, stream = Application(), Stream(b"the next request")

    call(application, stream, REQUEST_METHOD="GET")

    assert application.environ["wsgi.input"] is stream


@pytest.mark.parametrize(
    ("changes", "host"),
    [
        ({}, "localhost"),
        ({"HTTP_HOST": ""}, ""),
        ({"HTTP_HOST": "", "SERVER_PROTOCOL": "HTTP/1.0"}, None),
        ({"RAW_URI": "/graphql?a=http://elsewhere.invalid/"}, "localhost"),
        ({"RAW_URI": "http://localhost/graphql"}, "localhost"),
        ({"RAW_URI": "http://LOCALHOST"}, "localhost"),
        ({"RAW_URI": "http://elsewhere.invalid/graphql"}, ""),
        ({"RAW_URI": "*"}, "localhost"),
    ],
    ids=str,
)
def test_missing_or_contradictory_host_becomes_empty(changes: dict[str, Any], host: str | None) -> None:
    application = Application()

    call(application, **changes)

    assert application.environ.get("HTTP_HOST") == host


def test_request_without_a_free_slot_is_refused(settings: Settings) -> None:
    settings.ENVIRONMENT = Environment(contentapi_statement_timeout=5)  # a request waits for two of them
    layer: Any = RequestBufferingLayer(Application(), refuse, slots=1)
    lease = layer.slots.acquire()
    started: list[str] = []

    body = layer({"REQUEST_METHOD": "GET", "PATH_INFO": "/posts"}, lambda status, *_: started.append(status))

    assert (started, [*body]) == (["503 Refused"], [b"/posts: waited 0.01 s for the connection slots"])
    layer.slots.release(lease)


def test_application_that_raises_returns_its_slot() -> None:
    def fail(_: Any, __: Any) -> list[bytes]:
        raise ValueError("as expected")

    layer: Any = RequestBufferingLayer(fail, refuse, slots=1)

    with pytest.raises(ValueError, match="as expected"):
        layer({"REQUEST_METHOD": "GET", "PATH_INFO": "/", "HTTP_HOST": "localhost"}, lambda *_: None)

    assert len(layer.slots.idle) == 1


def test_complete_response_is_closed_before_the_slot_returns() -> None:
    closed: list[int] = []
    response = HttpResponse(b"page")
    response.close = lambda: closed.append(1)  # type: ignore[method-assign]

    def application(_: Any, start_response: Callable[..., Any]) -> Any:
        start_response("200 OK", [])
        return response

    _, _, body = call(application)

    assert body == b"page"
    assert closed == [1]


def test_streamed_file_is_sent_after_the_slot_returns() -> None:
    def application(_: Any, start_response: Callable[..., Any]) -> Any:
        start_response("200 OK", [])
        return FileResponse(BytesIO(b"file"))

    layer: Any = RequestBufferingLayer(application, refuse, slots=1)
    response = layer({"REQUEST_METHOD": "GET", "PATH_INFO": "/static/x", "HTTP_HOST": "localhost"}, lambda *_: None)

    assert len(layer.slots.idle) == 1
    assert b"".join(response) == b"file"
