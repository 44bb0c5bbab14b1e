"""The first to see a request: GraphQL's and those for resources are answered at once, all others go to Django.

Django's handler, middleware and URLs cost more than a small request itself. What they would do for one is done here:
the host is checked, and the response carries the headers that they add, learned from Django itself: once at the start,
and once for each `Origin`, so that django-cors-headers decides what a browser's script may read. A request that they
might treat otherwise goes their way: a CORS preflight, or a request without the TLS it should have. The code that
responds is the same for both.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any

from corsheaders.conf import conf as cors_settings
from corsheaders.signals import check_request_enabled
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.urls import get_resolver
from django.utils.http import parse_header_parameters

from contentapi.conf import conf
from contentapi.core.caching import BoundedCache
from contentapi.core.errors import PARTIAL_SUCCESS, ApiError
from contentapi.db.postgresql.thread_connections import close_unusable_connections
from contentapi.graphql.endpoint import respond_with_error
from contentapi.http.api_version import VERSION
from contentapi.http.error_response import error_response
from contentapi.http.failure_log import log_failure, record_error
from contentapi.http.hosts import is_our_host
from contentapi.http.request_id import Response, current_request_id, new_request_id
from contentapi.rate_limits.account import UNMETERED, Account
from contentapi.server.router import Router
from contentapi.urls import endpoint

if TYPE_CHECKING:
    from wsgiref.types import StartResponse

PATH = "/graphql"
OF_EACH_ANSWER = {"Content-Type", "Content-Length", "X-Request-ID"}
ORIGIN_CACHE = 256  # origins whose headers are kept
LONGEST_ORIGIN = 255  # characters; a longer one goes through Django
Responder = Callable[[dict[str, Any]], Response]
REASONS = {status.value: f"{status.value} {status.phrase}" for status in HTTPStatus}


class Utf8Request(WSGIRequest):
    """Django's request, which reads nothing in another codec than UTF-8.

    Django's own decodes even the address in whichever a `Content-Type` names, before any middleware: `charset=zlib` is
    a server's error there.
    """

    def _set_content_type_params(self, meta: Mapping[str, Any]) -> None:
        try:
            self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        except ValueError:
            self.content_type, self.content_params = "", {}


class FastPath:
    """A WSGI application around Django's."""

    def __init__(self, django: WSGIHandler) -> None:
        django.request_class = Utf8Request
        self.django = django
        self.routes = Router(get_resolver().url_patterns)
        require_same_cors([PATH, *self.routes.samples])
        self.headers = learn_middleware_headers(django)
        self.headers_by_origin: BoundedCache[dict[str, str]] = BoundedCache(ORIGIN_CACHE, weigh=lambda _: 1)

    def __call__(self, environ: dict[str, Any], start_response: "StartResponse") -> Iterable[bytes]:
        answer = self.responder(environ) if is_eligible(environ) else None
        shared = self.headers_for(environ.get("HTTP_ORIGIN")) if answer else None
        if answer is None or shared is None:
            return self.django(environ, start_response)
        request_id = new_request_id()
        token = current_request_id.set(request_id)
        try:
            close_unusable_connections()
            status, headers, body = answer(environ)
            if status >= PARTIAL_SUCCESS:
                log_failure(environ, status)
        finally:
            current_request_id.reset(token)
        start_response(REASONS.get(status) or f"{status} Unknown", merge_headers(headers, shared, request_id))
        return [body]

    def refuse(self, environ: dict[str, Any], error: ApiError, start_response: "StartResponse") -> Iterable[bytes]:
        """Respond with an error to a request that gets no database connection."""
        request_id = new_request_id()
        token = current_request_id.set(request_id)
        try:
            account = Account(environ)
            worst = account.charge_failure(error)
            if environ["PATH_INFO"] == PATH:
                reply = respond_with_error(environ, worst)
            else:
                answer = error_response(worst, environ.get("HTTP_ACCEPT", ""))
                own = {**answer.headers, "Cache-Control": "no-store", "Content-Length": str(len(answer.body))}
                reply = Response(answer.status, {**own, "X-API-Version": VERSION}, answer.body)
            record_error(worst)
            log_failure(environ, reply.status)
        finally:
            current_request_id.reset(token)
        shared = (self.headers_for(environ.get("HTTP_ORIGIN")) if is_eligible(environ) else None) or self.headers
        headers = {**account.headers, **reply.headers}
        start_response(REASONS[reply.status], merge_headers(headers, shared, request_id))
        return [reply.body]

    def headers_for(self, origin: str | None) -> dict[str, str] | None:
        """Return the headers that Django's middleware adds for an `Origin`, learned once for each.

        None if they could not be learned: the request then goes through Django.
        """
        if origin is None:
            return self.headers
        headers = self.headers_by_origin.get(origin)
        if headers is None:
            try:
                headers = learn_middleware_headers(self.django, origin)
            except RuntimeError:
                return None
            self.headers_by_origin.put(origin, headers)
        return headers

    def responder(self, environ: Mapping[str, Any]) -> Responder | None:
        """Return what answers a request without Django; None for what Django has to see to."""
        path = environ["PATH_INFO"]
        if path == PATH:
            return endpoint.handle if environ["REQUEST_METHOD"] == "POST" else None
        found = self.routes.match(path) if path.isascii() else None
        return partial(found[0].handle, ids=found[1]) if found else None


def require_same_cors(paths: Iterable[str]) -> None:
    """Raise `RuntimeError` unless CORS_URLS_REGEX treats all of these paths in the same way: one learns for all."""
    if len({bool(re.match(cors_settings.CORS_URLS_REGEX, path)) for path in paths}) > 1:
        raise RuntimeError("CORS_URLS_REGEX must match all paths of the API, or none of them.")


def merge_headers(own: dict[str, str], shared: dict[str, str], request_id: str) -> list[tuple[str, str]]:
    """Return all headers of a response. Its own take precedence over the middleware's; `Vary` is joined from both."""
    if own.keys().isdisjoint(shared):
        return [*shared.items(), *own.items(), ("X-Request-ID", request_id)]
    merged = {**shared, **own, "X-Request-ID": request_id}
    if "Vary" in own and "Vary" in shared:
        merged["Vary"] = f"{own['Vary']}, {shared['Vary']}"
    return [*merged.items()]


def is_eligible(environ: Mapping[str, Any]) -> bool:
    """Return whether Django's middleware would only add headers to the response to a request.

    django-cors-headers responds to a preflight itself, and its signal may decide by more than the `Origin`.
    """
    return (
        ("HTTP_ORIGIN" not in environ or is_origin_eligible(environ))
        and (not conf.https or environ.get("HTTP_X_FORWARDED_PROTO") == "https")
        and is_our_host(environ.get("HTTP_HOST", ""))
    )


def is_origin_eligible(environ: Mapping[str, Any]) -> bool:
    return (
        environ["REQUEST_METHOD"] != "OPTIONS"
        and len(environ["HTTP_ORIGIN"]) <= LONGEST_ORIGIN
        and "HTTP_ACCESS_CONTROL_REQUEST_PRIVATE_NETWORK" not in environ
        and not check_request_enabled.has_listeners()
    )


def learn_middleware_headers(django: WSGIHandler, origin: str | None = None) -> dict[str, str]:
    """Return the headers that Django's middleware adds to every response of the API, for an `Origin` if one is given.

    Raises `RuntimeError` where the endpoint does not respond with 200.
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
    response = django.get_response(WSGIRequest(environ))
    if response.status_code != HTTPStatus.OK:
        raise RuntimeError(f"The endpoint responds to a first request with {response.status_code}.")
    return {name: value for name, value in response.items() if name not in OF_EACH_ANSWER}
