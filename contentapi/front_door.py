"""The first to see a request: GraphQL's are answered at once, all others go to Django.

Django's handler, middleware and URLs cost more than a small GraphQL request itself. What they would do for one is done
here: the host is checked, and the answer carries the headers that they add, learnt from Django itself at the start. A
request that they might treat otherwise goes their way: from a browser's script (`Origin`), or without the TLS it should
have. The view is the same for both.
"""

import uuid
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.db import close_old_connections
from django.http.request import split_domain_port, validate_host
from django.utils.http import parse_header_parameters

from contentapi.graphql.view import respond
from contentapi.rates import UNMETERED
from contentapi.requests import current_request_id

if TYPE_CHECKING:
    from wsgiref.types import StartResponse

PATH = "/graphql"
OF_EACH_ANSWER = {"Content-Type", "Content-Length", "X-Request-ID"}
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
        self.headers = headers_of_django(django)

    def __call__(self, environ: dict[str, Any], start_response: "StartResponse") -> Iterable[bytes]:
        if not is_plain(environ):
            return self.django(environ, start_response)
        request_id = uuid.uuid4().hex
        token = current_request_id.set(request_id)
        try:
            close_old_connections()  # those that are too old, or that an error has left behind
            status, headers, body = respond(environ)
        finally:
            current_request_id.reset(token)
        own = [*headers.items(), ("Content-Length", str(len(body))), ("X-Request-ID", request_id)]
        start_response(REASONS.get(status, f"{status} Unknown"), self.headers + own)
        return [body]


def is_plain(environ: Mapping[str, Any]) -> bool:
    """Say whether a request is a GraphQL request for which Django's middleware has nothing to do but to add headers."""
    host, _ = split_domain_port(environ.get("HTTP_HOST", ""))
    return (
        environ["PATH_INFO"] == PATH
        and environ["REQUEST_METHOD"] == "POST"
        and "HTTP_ORIGIN" not in environ
        and (not settings.HTTPS or environ.get("HTTP_X_FORWARDED_PROTO") == "https")
        and bool(host)
        and validate_host(host, settings.ALLOWED_HOSTS)
    )


def headers_of_django(django: WSGIHandler) -> list[tuple[str, str]]:
    """Return the headers that Django's middleware adds to every answer of the endpoint."""
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
    return [(name, value) for name, value in answer.items() if name not in OF_EACH_ANSWER]
