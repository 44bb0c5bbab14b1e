"""Requests that open streams, as their environs."""

from io import BytesIO
from typing import Any
from unittest.mock import Mock

import msgspec
from django.http import HttpRequest, HttpResponse

from contentapi.events.feed import read_log
from contentapi.streams.hub import Hub
from contentapi.streams.opening import FeedView, Opening, SubscriptionView
from contentapi.streams.plans import LogPlan, ObjectPlan, Plan

EVENTS = "subscription ($from: String) { events(after: $from) { cursor type } }"
STREAM = "text/event-stream"


def build_environ(query: str = "", *, method: str = "GET", accept: str = STREAM, **headers: str) -> dict[str, Any]:
    return {
        "REQUEST_METHOD": method,
        "PATH_INFO": "/events/stream",
        "QUERY_STRING": query,
        "REMOTE_ADDR": "192.0.2.7",
        "HTTP_ACCEPT": accept,
        "wsgi.input": BytesIO(),
        **{f"HTTP_{name.upper()}": value for name, value in headers.items()},
    }


def open_stream(environ: dict[str, Any]) -> Opening | HttpResponse:
    view = SubscriptionView() if environ["PATH_INFO"] == "/graphql" else FeedView()
    request = HttpRequest()
    request.META = environ
    response: Any = view(request)
    found: Opening | HttpResponse = getattr(response, "opening", response)
    return found


def feed(query: str = "", **options: str) -> Opening:
    opening = open_stream(build_environ(query, **options))
    assert isinstance(opening, Opening), opening
    return opening


def refuse_feed(query: str = "", **options: str) -> HttpResponse:
    response = open_stream(build_environ(query, **options))
    assert isinstance(response, HttpResponse)
    return response


def send(body: bytes, *, content_type: str = "application/json", **options: str) -> Opening | HttpResponse:
    environ = build_environ(method="POST", **options)
    environ |= {"PATH_INFO": "/graphql", "CONTENT_TYPE": content_type, "CONTENT_LENGTH": str(len(body))}
    return open_stream({**environ, "wsgi.input": BytesIO(body)})


def subscribe(query: str, *, variables: dict[str, Any] | None = None, **options: str) -> Opening:
    opening = send(msgspec.json.encode({"query": query, "variables": variables or {}}), **options)
    assert isinstance(opening, Opening), opening
    return opening


def refuse_subscription(query: str, **options: str) -> HttpResponse:
    response = send(msgspec.json.encode({"query": query}), **options)
    assert isinstance(response, HttpResponse)
    return response


def read_all(opening: Opening) -> list[tuple[str, Any]]:
    """Return the cursor and the value of each event that a plan reads from its position to the present."""
    log = read_log()
    assert isinstance(opening.plan, LogPlan)
    reading = opening.plan.read(log, max(opening.position, 0), log.position)
    found = []
    for content, _ in reading.chunks:
        lines = dict(line.split(": ", 1) for line in content.decode().strip().split("\n"))
        found.append((lines["id"], msgspec.json.decode(lines["data"])))
    return found


def read_object(plan: Plan) -> bytes:
    excerpt = Hub.read(Mock(log=read_log()), plan, 0, 1)
    assert isinstance(plan, ObjectPlan)
    assert excerpt is not None
    return excerpt.chunks[0][0]
