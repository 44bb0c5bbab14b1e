"""The ASGI application of the process of streams: Django answers each request in a thread, and streams are sent here.

Django's own handler would keep a thread for each stream, with its request, and reads bodies of any size.
"""

import asyncio
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.wsgi import WSGIHandler
from django.http import Http404
from django.urls import path, re_path

from contentapi.conf import conf
from contentapi.conf.timeouts import STREAM_BODY_TIMEOUT
from contentapi.core.errors import ApiError, Malformed, Unavailable
from contentapi.health.probes import build_readiness_response, respond_to_probe
from contentapi.health.readiness import get_readiness
from contentapi.http.error_response import bad_request, respond_to_error
from contentapi.http.negotiation import VERSION_PREFIX
from contentapi.http.response import Response
from contentapi.server.bodies import get_announced_length
from contentapi.server.observed_requests import observe_request
from contentapi.streams.limits import release_stream
from contentapi.streams.opening import REFUSAL, FeedView, Opening, SubscriptionView
from contentapi.streams.service import StreamService
from contentapi.streams.stream import Receive, Send

MOST_BUFFERED = 32 * 1024 * 1024  # bytes of bodies, of all requests that are not handled yet
NO_START: Any = None  # WSGI's `start_response`, which Django's handler does not call


urlpatterns = [
    path("graphql", SubscriptionView()),
    path("events/stream", FeedView()),
    path(f"{VERSION_PREFIX[1:]}/events/stream", FeedView()),
    re_path("", respond_to_error, {"exception": Http404()}),
]
handler400, handler500 = bad_request, respond_to_error


class StreamRequest(ASGIRequest):
    """Django's request. Its `META` is a WSGI environ (PEP 3333), with which the rest of the project works."""

    urlconf = __name__

    def __init__(self, scope: Mapping[str, Any]) -> None:
        body = BytesIO()
        super().__init__({**scope, "query_string": scope["query_string"].decode("latin-1")}, body)
        self.META["wsgi.input"] = body

    def _set_content_type_params(self, _: Mapping[str, Any]) -> None:
        """Leave `Content-Type` to the views: Django raises errors for some, before any middleware."""
        self.content_type, self.content_params = "", {}


class StreamApplication:
    """Answers the probes, lets Django answer all other requests, and sends streams."""

    def __init__(self, service: StreamService, django: WSGIHandler) -> None:
        self.service = service
        self.django = django
        self.buffered = 0  # bytes of bodies

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        response, opening = await self.respond(StreamRequest(scope), receive)
        headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in response.headers.items()]
        try:
            await send({"type": "http.response.start", "status": response.status, "headers": headers})
            if opening is None:
                await send({"type": "http.response.body", "body": response.body, "more_body": False})
            else:
                await self.service.run(opening, receive, send)
        finally:
            if opening is not None:
                release_stream(opening.account.key, opening.plan.operation)

    async def respond(self, request: StreamRequest, receive: Receive) -> tuple[Response, Opening | None]:
        """Return the response, and the stream that begins with it."""
        environ, name = request.META, request.path_info
        if name == "/healthz":
            return respond_to_probe(environ), None
        if name == "/readyz":
            return await asyncio.to_thread(respond_to_probe, environ, {name: self.respond_ready}), None
        try:
            environ[REFUSAL] = await self.read_body(environ, receive) or self.service.refuse()
            return await self.service.requests.run(self.call_django, request)
        finally:
            self.buffered -= environ["wsgi.input"].getbuffer().nbytes

    async def read_body(self, environ: Mapping[str, Any], receive: Receive) -> ApiError | None:
        """Read the body, and return why that fails. One that is too long is cut: the view refuses it."""
        limit = conf.environment.contentapi_max_body
        body: BytesIO = environ["wsgi.input"]
        has_more = environ["REQUEST_METHOD"] == "POST" and get_announced_length(environ) <= limit
        try:
            async with asyncio.timeout(STREAM_BODY_TIMEOUT):
                while has_more and body.tell() <= limit:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return Malformed("The body could not be read completely.")
                    self.buffered += body.write(message.get("body", b""))
                    if self.buffered > MOST_BUFFERED:
                        return Unavailable(limit="size of waiting bodies")
                    has_more = message.get("more_body", False)
        except TimeoutError:
            return Malformed(f"The body did not arrive within {STREAM_BODY_TIMEOUT:g} seconds.")
        body.seek(0)
        return None

    def respond_ready(self, environ: Mapping[str, Any]) -> Response:
        results = {name: get_readiness().read_check(name) for name in ("database", "migrations")}  # two of a server's
        return build_readiness_response(results | {"log": self.service.inspect()}, environ)

    # --- In a thread

    def call_django(self, request: StreamRequest) -> tuple[Response, Opening | None]:
        """Return Django's response to a request, whose record is that of the opening: a stream may last for an hour."""
        response: Any = observe_request(lambda *_: self.django.get_response(request), request.META, NO_START)
        return Response(response.status_code, response.getvalue(), response.headers), getattr(response, "opening", None)
