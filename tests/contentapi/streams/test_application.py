"""Requests of the process of streams, as ASGI: their bodies, and the responses that are no streams."""

import asyncio
from collections.abc import Sequence

import pytest
from pytest_django import Settings

from contentapi.conf import timeouts
from contentapi.events.feed import LogState
from contentapi.health.readiness import BackgroundCheck, Readiness
from contentapi.health.results import OK, Results
from contentapi.streams import application
from contentapi.streams.application import StreamApplication, StreamRequest
from contentapi.streams.limits import STREAMS
from contentapi.streams.service import StreamService
from contentapi.streams.stream import Message
from tests.contentapi.streams.openings import STREAM
from tests.contentapi.streams.plans import make_batch

JSON = "application/json"
ORIGIN = "https://www.example.com"


class Answer:
    """What a client has received."""

    def __init__(self, messages: list[Message]) -> None:
        self.status = messages[0]["status"]
        self.headers = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
        self.body = b"".join(message["body"] for message in messages[1:])
        self.is_complete = not messages[-1]["more_body"]


def ask(
    method: str,
    path: str,
    body: Sequence[bytes] = (b"",),
    *,
    is_whole: bool = True,
    is_ending: bool = False,
    **headers: str,
) -> Answer:
    """Send a request whose body has these parts. After a stream has begun, the client leaves.

    With a body that is not whole, nothing follows its parts.
    """
    target, _, query = path.partition("?")
    given = {"host": "localhost", "accept": STREAM, **headers}
    scope = {
        "type": "http",
        "method": method,
        "path": target,
        "query_string": query.encode(),
        "client": ("192.0.2.7", 4711),
        "server": ("127.0.0.1", 8100),
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()],
    }
    parts, messages = [*body], []

    async def main() -> None:
        from contentapi.wsgi import django_application

        service, has_begun = StreamService(), asyncio.Event()
        service.hub.advance(LogState("e", 7, 0), make_batch(7))
        service.is_ending = is_ending
        streams = StreamApplication(service, django_application)

        async def receive() -> Message:
            if parts and method == "POST":
                return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts) or not is_whole}
            await has_begun.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            messages.append(message)
            if len(messages) == 2:
                has_begun.set()

        await streams(scope, receive, send)
        assert streams.buffered == 0

    asyncio.run(main())
    assert not STREAMS.taken
    return Answer(messages)


def test_stream_begins_with_the_headers_of_each_response_and_its_cursor(settings: Settings) -> None:
    settings.CORS_ALLOWED_ORIGINS = [ORIGIN]
    answer = ask("GET", "/v1/events/stream?type=post.*", origin=ORIGIN)

    assert (answer.status, answer.body) == (200, b"retry: 2000\nid: e-7\n\n")
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "private, no-store"
    assert "content-length" not in answer.headers
    for name in ("ratelimit", "x-request-id", "x-content-type-options", "x-api-version", "access-control-allow-origin"):
        assert answer.headers[name], name


@pytest.mark.parametrize(
    ("request_line", "headers", "status"),
    [
        ("HEAD /events/stream", {}, 200),
        ("OPTIONS /events/stream", {}, 204),
        ("OPTIONS /graphql", {"origin": ORIGIN, "access_control_request_method": "POST"}, 200),
        ("GET /events/stream?limit=1", {}, 400),
        ("GET /posts", {}, 404),
        ("GET /events/stream", {"host": "elsewhere.example.com"}, 400),
        ("DELETE /graphql", {}, 405),
        ("GET /healthz", {"host": "elsewhere.example.com"}, 200),
        ("GET /posts", {"content_type": "text/plain; charset*=utf-9''x"}, 404),  # ASGI's request would raise
    ],
)
def test_response_that_is_no_stream_is_complete(request_line: str, headers: dict[str, str], status: int) -> None:
    answer = ask(*request_line.split(), **headers)  # type: ignore[arg-type]

    assert (answer.status, answer.is_complete) == (status, True)
    assert bool(answer.body) is (status >= 400 or "healthz" in request_line)
    assert "healthz" in request_line or answer.headers["x-request-id"]


def test_process_that_ends_opens_no_stream() -> None:
    assert ask("GET", "/events/stream", is_ending=True).status == 503


def post(*parts: bytes, length: int, is_whole: bool = True) -> Answer:
    accept = f"{STREAM}, {JSON}"
    return ask(
        "POST", "/graphql", parts, is_whole=is_whole, accept=accept, content_type=JSON, content_length=f"{length}"
    )


def test_body_in_parts_is_read_to_its_end() -> None:
    answer = post(b'{"query": ', b'"{ posts { id } }"}', length=29)

    assert b"Streams are for subscriptions" in answer.body


@pytest.mark.parametrize(
    ("parts", "length", "status", "message"),
    [
        ([b"{"], 7, 400, b"did not arrive"),
        ([b"x" * 101], 200, 503, b"unavailable"),  # more than may wait, of all requests together
        ([], 99_999_999, 413, b"too large"),  # not read
    ],
)
def test_body_that_cannot_be_read_is_refused_in_time(
    monkeypatch: pytest.MonkeyPatch, parts: list[bytes], length: int, status: int, message: bytes
) -> None:
    monkeypatch.setattr(application, "STREAM_BODY_TIMEOUT", 0.05)
    monkeypatch.setattr(application, "MOST_BUFFERED", 100)

    answer = post(*parts, length=length, is_whole=False)

    assert answer.status == status
    assert message in answer.body


def test_environ_is_that_of_wsgi() -> None:
    headers = [(b"x_forwarded_for", b"192.0.2.1"), (b"x-api-key", b"mine"), (b"accept", b"a"), (b"accept", b"b")]
    scope = {"method": "GET", "path": "/events/stream", "query_string": b"a=\xc3\xa9", "headers": headers}

    environ = StreamRequest(scope).META

    assert "HTTP_X_FORWARDED_FOR" not in environ  # it could imitate the header of a proxy
    assert (environ["HTTP_X_API_KEY"], environ["HTTP_ACCEPT"]) == ("mine", "a,b")
    assert environ["QUERY_STRING"] == "a=\xc3\xa9"


def test_readiness_of_streams_does_not_run_the_checks_of_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def build_check(*names: str) -> BackgroundCheck:
        def run() -> Results:
            ran.extend(names)
            return dict.fromkeys(names, OK)

        return BackgroundCheck(names, run, max_age=3600)

    checks = Readiness([build_check("database", "migrations"), build_check("media")])
    monkeypatch.setattr(application, "get_readiness", lambda: checks)
    monkeypatch.setattr(timeouts, "READINESS_LIMIT", 60)
    monkeypatch.setattr(StreamService, "inspect", lambda _: OK)

    answers = [ask(method, "/readyz") for method in ("GET", "HEAD", "POST")]

    assert [answer.status for answer in answers] == [200, 200, 405]
    assert [bool(answer.body) for answer in answers] == [True, False, True]
    assert answers[0].headers["cache-control"] == "no-store"
    assert ran == ["database", "migrations"]
