"""The fast path: answer GraphQL requests and requests to resources without Django's handler and middleware.

For these requests the middleware only adds headers, but costs more than a small request itself. The fast path checks
the host and adds the same headers. It learns them from a sample request to Django: once at start-up, and for each
`Host` with an `Origin`, so that django-cors-headers makes the CORS decisions. A request that the middleware could treat
differently goes through Django: a CORS preflight, an unknown host, a request without TLS where TLS is required. Both
ways call the same endpoint. `CONTENTAPI_FAST_PATH=off` sends every request through Django.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from http import HTTPStatus
from io import BytesIO
from typing import Any
from wsgiref.types import StartResponse

from corsheaders.signals import check_request_enabled
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.utils.http import parse_header_parameters

from contentapi.conf import conf
from contentapi.core.caching import BoundedCache
from contentapi.core.errors import ApiError
from contentapi.graphql.endpoint import MEDIA_TYPES, READS, respond_with_error
from contentapi.graphql.explorer.page import is_explorer_requested
from contentapi.http.error_response import error_response
from contentapi.http.hosts import is_our_host
from contentapi.http.negotiation import VERSION
from contentapi.http.response import Response, send
from contentapi.monitoring.records import RequestRecord, current_record
from contentapi.rate_limits.account import UNMETERED, Account
from contentapi.server.router import Router
from contentapi.urls import RESOURCES, endpoint

PATH = "/graphql"
OWN_HEADERS = {"Content-Type", "Content-Length", "X-Request-ID"}  # set for each response, so not learned
PRIVATE_NETWORK = "HTTP_ACCESS_CONTROL_REQUEST_PRIVATE_NETWORK"
LONGEST_ORIGIN = 255  # characters
MOST_SHARED = 1024  # hosts, origins and schemes whose headers are cached
Responder = Callable[[dict[str, Any]], Response]


class Utf8Request(WSGIRequest):
    """Django's request, decoded as UTF-8 only.

    Django decodes even the path in the charset that a `Content-Type` names, before any middleware: `charset=zlib` is a
    500 there.
    """

    def _set_content_type_params(self, meta: Mapping[str, Any]) -> None:
        try:
            self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        except ValueError:
            self.content_type, self.content_params = "", {}


class FastPath:
    """A WSGI application around Django's. Unless `is_enabled`, it passes every request to Django."""

    def __init__(self, django: WSGIHandler, *, is_enabled: bool = True) -> None:
        django.request_class = Utf8Request
        self.django = django
        self.router = Router(RESOURCES)
        self.is_enabled = is_enabled
        self.shared: BoundedCache[dict[str, str]] = BoundedCache(MOST_SHARED, weigh=lambda _: 1, name="origins")
        self.headers_without_origin = learn_middleware_headers(django) if is_enabled else {}

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        shared = self.find_shared_headers(environ) if self.is_enabled else None
        if shared is None or (responder := self.find_responder(environ)) is None:
            return self.django(environ, start_response)
        return send(responder(environ), start_response, shared)

    def refuse(self, environ: dict[str, Any], error: Exception, start_response: StartResponse) -> Iterable[bytes]:
        """Respond with an error to a request that gets no connection slot."""
        account = Account(environ)
        response = build_no_slot_response(environ, account.charge_failure(error))
        shared = self.find_shared_headers(environ) or self.learn(None)
        response = Response(response.status, response.body, {**account.headers, **response.headers})
        return send(response, start_response, shared)

    def find_shared_headers(self, environ: Mapping[str, Any]) -> dict[str, str] | None:
        """Return the headers that Django's middleware adds to the response to a request, learned once for each kind.

        Returns None if it could do more, or if they cannot be learned. The request then goes through Django.
        """
        origin = environ.get("HTTP_ORIGIN")
        if origin is not None and (environ["REQUEST_METHOD"] == "OPTIONS" or PRIVATE_NETWORK in environ):
            return None  # django-cors-headers responds to a preflight itself
        key = environ.get("HTTP_HOST"), origin, environ.get("HTTP_X_FORWARDED_PROTO") == "https" or not conf.https
        headers = self.shared.get(key)
        if headers is None and is_eligible_for_fast_path(environ):
            try:
                headers = self.learn(origin)
            except RuntimeError:
                return None
            self.shared.put(key, headers)
        return headers

    def learn(self, origin: str | None) -> dict[str, str]:
        """Return the headers for an `Origin`. Raises `RuntimeError`."""
        return (origin is None and self.headers_without_origin) or learn_middleware_headers(self.django, origin)

    def find_responder(self, environ: Mapping[str, Any]) -> Responder | None:
        """Return the function that handles a request without Django, or None if Django must handle it."""
        path = environ["PATH_INFO"]
        if path == PATH:
            current_record.get().operation = PATH  # until the operation is known
            return endpoint.handle if may_be_query(environ) else None
        match = self.router.match(path) if path.isascii() else None
        if match is None:
            return None
        resource, ids, current_record.get().operation = match
        return partial(resource.handle, ids=ids)


def may_be_query(environ: Mapping[str, Any]) -> bool:
    """Return whether a request to the endpoint is not for the explorer, whose page needs Django's middleware."""
    method = environ["REQUEST_METHOD"]
    return method == "POST" or (method in READS and not is_explorer_requested(environ, MEDIA_TYPES))


def build_no_slot_response(environ: Mapping[str, Any], error: ApiError) -> Response:
    if environ["PATH_INFO"] == PATH:
        return respond_with_error(environ, error)
    response = error_response(error, environ.get("HTTP_ACCEPT", ""))
    more = {"Cache-Control": "no-store", "Content-Length": str(len(response.body)), "X-API-Version": VERSION}
    return Response(response.status, response.body, {**response.headers, **more})


def is_eligible_for_fast_path(environ: Mapping[str, Any]) -> bool:
    """Return whether Django's middleware only adds headers to responses to this `Host`, `Origin` and scheme.

    Receivers of the signal of django-cors-headers may read the whole request.
    """
    has_origin = "HTTP_ORIGIN" in environ
    return (
        not (has_origin and (len(environ["HTTP_ORIGIN"]) > LONGEST_ORIGIN or check_request_enabled.receivers))
        and (not conf.https or environ.get("HTTP_X_FORWARDED_PROTO") == "https")
        and is_our_host(environ.get("HTTP_HOST", ""), conf.allowed_hosts)
    )


def learn_middleware_headers(django: WSGIHandler, origin: str | None = None) -> dict[str, str]:
    """Return the headers that Django's middleware adds to the responses of the API, for an `Origin` if there is one.

    Raises `RuntimeError` if the sample request gets another status than 200.
    """
    host = next(iter(settings.ALLOWED_HOSTS), "localhost").lstrip(".").replace("*", "localhost")
    body = b'{"query": "{ __typename }"}'
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": PATH,
        "HTTP_HOST": host,
        "HTTP_X_FORWARDED_PROTO": "https" if settings.HTTPS else "http",
        "SERVER_NAME": host,
        "SERVER_PORT": "80",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(body),
        UNMETERED: True,
        **({} if origin is None else {"HTTP_ORIGIN": origin}),
    }
    token = current_record.set(RequestRecord())  # not that of the request which needs the headers
    try:
        response = django.get_response(WSGIRequest(environ))
    finally:
        current_record.reset(token)
    if response.status_code != HTTPStatus.OK:
        raise RuntimeError(f"The endpoint responds to a first request with {response.status_code}.")
    return {name: value for name, value in response.items() if name not in OWN_HEADERS}
