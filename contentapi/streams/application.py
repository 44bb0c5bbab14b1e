"""The ASGI application of the process of streams: its routes, and the responses that are no streams."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from functools import partial
from typing import Any

from django.core.handlers.wsgi import WSGIRequest

from contentapi.core.errors import ApiError, NotFound
from contentapi.graphql.endpoint import respond_with_error
from contentapi.health.probes import build_readiness_response, respond_to_probe
from contentapi.health.readiness import get_readiness
from contentapi.http.api_version import split_version_prefix
from contentapi.http.error_response import error_response
from contentapi.http.response import NO_CONTENT, OK, Response
from contentapi.monitoring.records import current_record
from contentapi.rate_limits.account import Account
from contentapi.server.fast_path import PATH, FastPath, is_eligible_for_fast_path, merge_headers
from contentapi.server.observed_requests import observe_request
from contentapi.streams.opening import FEED_METHODS, GRAPHQL_METHODS, Opening, open_feed, open_subscription
from contentapi.streams.requests import BodyReader, Message, Receive, Scope, Send, build_environ
from contentapi.streams.service import StreamService

FEED = "/events/stream"
OWN_CHECKS = ("database", "migrations")  # of those of a server
METHODS_BY_PATH = {FEED: FEED_METHODS, PATH: GRAPHQL_METHODS}
Headers = list[tuple[str, str]]


class Outcome:
    """What a thread made of a request: a stream that may begin or a response, with all headers."""

    result: Opening | Response
    headers: Headers = []


class StreamApplication:
    """Answers the probes, opens streams, and lets Django answer what its middleware decides, such as a preflight."""

    def __init__(self, service: StreamService, fast_path: FastPath) -> None:
        self.service = service
        self.fast_path = fast_path
        self.bodies = BodyReader()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        environ = build_environ(scope)
        outcome = await self.handle(environ, receive)
        result = outcome.result
        if isinstance(result, Response):
            await send_response(send, result, outcome.headers)
        elif environ["REQUEST_METHOD"] == "HEAD":
            result.release()
            await send_response(send, Response(OK), outcome.headers)
        else:
            result.headers = {}
            del environ
            try:
                await send(build_start(OK, outcome.headers))
                await self.service.run(result, receive, send)
            finally:
                result.release()

    async def handle(self, environ: dict[str, Any], receive: Receive) -> Outcome:
        outcome = Outcome()
        path = environ["PATH_INFO"]
        if path == "/healthz":
            outcome.result = respond_to_probe(environ)
        elif path == "/readyz":
            outcome.result = await asyncio.to_thread(respond_to_probe, environ, {path: self.respond_ready})
        else:
            size, error = await self.read_body(environ, receive)
            handle = partial(self.open, outcome, error)
            try:
                await self.service.requests.run(observe_request, handle, environ, refuse_start)
            except BaseException:
                if isinstance(getattr(outcome, "result", None), Opening):
                    outcome.result.release()  # type: ignore[union-attr]
                raise
            finally:
                self.bodies.forget(size)
        if not outcome.headers and isinstance(outcome.result, Response):
            outcome.headers = [*outcome.result.headers.items()]
        return outcome

    async def read_body(self, environ: dict[str, Any], receive: Receive) -> tuple[int, ApiError | None]:
        """Read the body. Return its size, and why no stream can begin."""
        size = 0
        if environ["REQUEST_METHOD"] == "POST":
            try:
                size = await self.bodies.read(receive, environ)
            except ApiError as error:
                return 0, error
        return size, self.service.refuse()

    def respond_ready(self, environ: Mapping[str, Any]) -> Response:
        results = {name: get_readiness().read_check(name) for name in OWN_CHECKS}
        return build_readiness_response(results | {"log": self.service.inspect()}, environ)

    # --- In a thread

    def open(
        self, outcome: Outcome, error: ApiError | None, environ: dict[str, Any], _: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Fill in the outcome of a request. Its record is that of the opening: a stream may last for an hour."""
        record = current_record.get()
        shared = self.find_shared_headers(environ)
        if shared is None:
            outcome.result, outcome.headers = call_django(self.fast_path, environ)
        else:
            outcome.result = self.find_outcome(environ, error)
            outcome.headers = merge_headers(outcome.result.headers, shared, record.id)
        is_response = isinstance(outcome.result, Response)
        record.status = outcome.result.status if is_response else OK  # type: ignore[union-attr]
        return []

    def find_shared_headers(self, environ: Mapping[str, Any]) -> dict[str, str] | None:
        """Return the headers that Django's middleware adds to all responses; None if it answers the request itself.

        Those are preflights, and requests for another host or without TLS. Django's URLs are not for this process: a
        request with an `Origin` whose headers cannot be known has none of CORS.
        """
        if is_eligible_for_fast_path(environ):
            return self.fast_path.headers_for(environ.get("HTTP_ORIGIN"))
        without_origin = {name: value for name, value in environ.items() if name != "HTTP_ORIGIN"}
        if environ["REQUEST_METHOD"] == "OPTIONS" or not is_eligible_for_fast_path(without_origin):
            return None
        return self.fast_path.headers_for(None)

    def find_outcome(self, environ: dict[str, Any], error: ApiError | None) -> Opening | Response:
        prefix, path = split_version_prefix(environ["PATH_INFO"])
        record = current_record.get()
        methods = METHODS_BY_PATH.get(FEED if path == FEED else environ["PATH_INFO"])
        if methods and environ["REQUEST_METHOD"] == "OPTIONS":
            return Response(NO_CONTENT, headers={"Allow": ", ".join(methods)})
        if error is not None:
            return refuse(environ, Account(environ).charge_failure(error))
        if path == FEED:
            record.operation = FEED
            return open_feed(environ, prefix)
        if environ["PATH_INFO"] == PATH:
            record.operation = PATH  # until the operation is known
            return open_subscription(environ)
        return refuse(environ, Account(environ).charge_failure(NotFound("There is nothing at this address.")))


def refuse(environ: Mapping[str, Any], error: ApiError) -> Response:
    if environ["PATH_INFO"] == PATH:
        return respond_with_error(environ, error)
    return error_response(error, environ.get("HTTP_ACCEPT", ""))


def refuse_start(*_: Any) -> None:
    """Take the place of WSGI's `start_response`, which is not called."""


def call_django(fast_path: FastPath, environ: dict[str, Any]) -> tuple[Response, Headers]:
    """Return Django's response to a request."""
    response: Any = fast_path.django.get_response(WSGIRequest(environ))
    with closing(response):
        return Response(response.status_code, response.content), [*response.items()]


async def send_response(send: Send, response: Response, headers: Headers) -> None:
    given = {name.lower() for name, _ in headers}
    if "content-length" not in given:
        headers = [*headers, ("Content-Length", str(len(response.body)))]
    await send(build_start(response.status, headers))
    await send({"type": "http.response.body", "body": response.body, "more_body": False})


def build_start(status: int, headers: Headers) -> Message:
    raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    return {"type": "http.response.start", "status": status, "headers": raw}
