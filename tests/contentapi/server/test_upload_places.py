"""A few uploads of a person, and of a process, are received at a time, for a limited time and after the charge."""

from collections.abc import Iterator
from contextlib import closing
from threading import Event, Thread
from time import monotonic
from typing import Any

import pytest
from pytest_django import Settings

from contentapi.core.errors import Malformed, RateLimited, Unavailable
from contentapi.core.identity import Actor, Role, Scope
from contentapi.http import uploads
from contentapi.http.uploads import SpooledBody
from contentapi.server import bodies
from contentapi.server.complete_requests import MOST_OF_PERSON, RequestBufferingLayer
from tests.contentapi.server import test_uploads as requests
from tests.contentapi.server.test_uploads import (  # noqa: F401 - fixtures
    UPLOAD,
    Application,
    build_upload,
    refuse,
    send,
    use_own_connection,
)
from tests.environment import set_environment

pytestmark = pytest.mark.usefixtures("small_limit")


class SlowBody:
    """A body that lacks its last byte until the event is set."""

    def __init__(self) -> None:
        self.end = Event()
        self.is_read = Event()

    def read(self, _: int) -> bytes:
        self.is_read.set()
        self.end.wait(30)
        return b""


@pytest.fixture
def slow() -> Iterator[SlowBody]:
    body = SlowBody()
    yield body
    body.end.set()


def test_upload_that_does_not_arrive_in_time_gives_its_file_and_its_place_back(
    slow: SlowBody, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[SpooledBody] = []

    class Watched(SpooledBody):
        def __init__(self) -> None:
            super().__init__()
            opened.append(self)

    monkeypatch.setattr(bodies, "SpooledBody", Watched)
    monkeypatch.setattr(bodies, "UPLOAD_LIMIT", 0.1)
    application = Application()
    _, headers, _ = send(application, b"x" * 2000, upload=requests.allow(), **{"wsgi.input": slow})

    assert isinstance(application.body, TimeoutError)
    assert headers["Connection"] == "close"
    assert [body.file.closed for body in opened] == [True]


def test_upload_without_a_place_is_refused_at_once(slow: SlowBody, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "REFUSED_LIMIT", 0.1)
    application = Application()
    layer: Any = RequestBufferingLayer(application, refuse, slots=4, uploads=[requests.allow()])
    monkeypatch.setattr(requests, "RequestBufferingLayer", lambda *_, **__: layer)
    others = [SlowBody() for _ in range(MOST_OF_PERSON)]
    threads = [
        Thread(target=send, args=[Application(), b"x" * 2000], kwargs={"wsgi.input": body}, daemon=True)
        for body in others
    ]
    for thread, body in zip(threads, others, strict=True):
        thread.start()
        assert body.is_read.wait(10)

    begin = monotonic()
    changes: dict[str, Any] = {"wsgi.input": slow}
    _, headers, _ = send(application, b"x" * 2000, **changes)

    assert monotonic() < begin + 5
    assert isinstance(application.body, Unavailable)
    assert application.body.headers["Retry-After"] == "5"
    assert "A person may send 3 uploads at a time" in application.body.message
    assert headers["Connection"] == "close"
    for body in others:
        body.end.set()
    for thread in threads:
        thread.join(10)
    later = Application()
    layer.application = later
    send(later, b"x" * 2000)
    assert later.body == b"x" * 2000


def test_upload_over_the_rate_limit_is_not_read(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    set_environment(settings, CONTENTAPI_MAX_BODY="1000", CONTENTAPI_RATE_WRITES="1/hour")
    copied: list[int] = []

    def copy(_body: SpooledBody, _stream: Any, most: int) -> int:
        copied.append(most)
        return most

    monkeypatch.setattr(SpooledBody, "copy", copy)
    sender = Actor(987_001, Role.AUTHOR, frozenset(Scope))
    bodies_seen = []
    for _ in range(2):
        application = Application()
        send(application, b"x" * UPLOAD, upload=build_upload(lambda _: sender, is_metered=True))
        bodies_seen.append(type(application.body))

    assert copied == [UPLOAD]
    assert bodies_seen == [bytes, RateLimited]


def test_error_of_a_refused_body_is_that_of_the_response() -> None:
    with closing(SpooledBody()) as body:
        with pytest.raises(RateLimited):
            uploads.copy_body(bodies.BrokenBody(RateLimited("Too many.")), body, 1)
        with pytest.raises(Malformed):
            uploads.copy_body(bodies.BrokenBody(TimeoutError()), body, 1)
