"""The first to see a request: GraphQL's and those for resources are answered at once, all others go to Django.

Django's handler, middleware and URLs cost more than a small request itself. What they would do for one is done here:
the host is checked, and the answer carries the headers that they add, learnt from Django itself at the start. A request
that they might treat otherwise goes their way: from a browser's script (`Origin`), or without the TLS it should have.
What answers is the same for both.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.urls import get_resolver
from django.utils.http import parse_header_parameters

from contentapi.current import current
from contentapi.graphql.view import respond
from contentapi.origins import is_our_host
from contentapi.postgresql.threads import look_after_connections
from contentapi.rates import UNMETERED
from contentapi.requests import Reply, current_request_id, new_request_id
from contentapi.routes import Routes

if TYPE_CHECKING:
    from wsgiref.types import StartResponse

PATH = "/graphql"
OF_EACH_ANSWER = {"Content-Type", "Content-Length", "X-Request-ID"}
Responder = Callable[[dict[str, Any]], Reply]
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


class FrontDoor:
    """A WSGI application around Django's."""

    def __init__(self, django: WSGIHandler) -> None:
        django.request_class = Utf8Request
        self.django = django
        self.routes = Routes(get_resolver().url_patterns)
        self.headers = headers_of_django(django)
        self.vary = self.headers["Vary"]  # by `Origin`, as django-cors-headers says of every answer

    def __call__(self, environ: dict[str, Any], start_response: "StartResponse") -> Iterable[bytes]:
        answer = self.responder(environ) if is_plain(environ) else None
        if answer is None:
            return self.django(environ, start_response)
        request_id = new_request_id()
        token = current_request_id.set(request_id)
        try:
            look_after_connections()
            status, headers, body = answer(environ)
        finally:
            current_request_id.reset(token)
        start_response(REASONS.get(status) or f"{status} Unknown", self.whole(headers, request_id))
        return [body]

    def whole(self, headers: dict[str, str], request_id: str) -> list[tuple[str, str]]:
        """Return all headers of an answer, given its own: these win over Django's, but that both may vary it."""
        if headers.keys().isdisjoint(self.headers):
            return [*self.headers.items(), *headers.items(), ("X-Request-ID", request_id)]
        vary = f"{headers['Vary']}, {self.vary}" if "Vary" in headers else self.vary
        return list({**self.headers, **headers, "Vary": vary, "X-Request-ID": request_id}.items())

    def responder(self, environ: Mapping[str, Any]) -> Responder | None:
        """Return what answers a request without Django; None for what Django has to see to."""
        path = environ["PATH_INFO"]
        if path == PATH:
            return respond if environ["REQUEST_METHOD"] == "POST" else None
        found = self.routes.find(path) if path.isascii() else None
        return partial(found[0].respond, ids=found[1]) if found else None


def is_plain(environ: Mapping[str, Any]) -> bool:
    """Say whether a request is one for which Django's middleware has nothing to do but to add headers."""
    return (
        "HTTP_ORIGIN" not in environ
        and (not current.https or environ.get("HTTP_X_FORWARDED_PROTO") == "https")
        and is_our_host(environ.get("HTTP_HOST", ""))
    )


def headers_of_django(django: WSGIHandler) -> dict[str, str]:
    """Return the headers that Django's middleware adds to every answer of the API."""
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
    }
    answer = django.get_response(WSGIRequest(environ))
    if answer.status_code != HTTPStatus.OK:
        raise RuntimeError(f"The endpoint answers a first request with {answer.status_code}.")
    return {name: value for name, value in answer.items() if name not in OF_EACH_ANSWER}
