"""WSGI requests to the fast path and to Django, and the comparison of their responses."""

import io
import json
from collections.abc import Callable, Iterable
from typing import Any

from django.core.handlers.wsgi import WSGIHandler

from contentapi.server.observed_requests import observe_request

Response = tuple[str, list[tuple[str, str]], bytes]
QUERY = b'{"query": "{ __typename }"}'


def build_environ(body: bytes = QUERY, **changes: Any) -> dict[str, Any]:
    return {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/graphql",
        "SCRIPT_NAME": "",
        "HTTP_HOST": "localhost:8000",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "8000",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        **changes,
    }


class FailingDjango(WSGIHandler):
    """Lets the fast path learn its headers, and fails for every other request."""

    def __call__(self, environ: Any, start_response: Any) -> Any:  # noqa: ARG002
        raise AssertionError(f"{environ['PATH_INFO']} was passed to Django.")


def call_application(application: Callable[..., Iterable[bytes]], request: dict[str, Any]) -> Response:
    started: list[tuple[str, list[tuple[str, str]]]] = []
    parts = observe_request(application, request, lambda status, headers: started.append((status, headers)))  # type: ignore[arg-type]
    [(status, headers)] = started
    assert len({name.lower() for name, _ in headers}) == len(headers)
    return status, headers, b"".join(parts)


def normalize_response(response: Response) -> tuple[int, dict[str, str], Any]:
    status, headers, body = response
    named = dict(headers)
    request_id = named.pop("X-Request-ID")
    named.pop("Content-Length", None)
    content = body.decode().replace(request_id, "request-id")
    return int(status.split()[0]), named, json.loads(content) if content else None
