"""Sends a request to the WSGI application in this process, without an HTTP server."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any


def send(application: Any, body: bytes, request: Mapping[str, Any]) -> None:
    """Send a request with these extra WSGI variables. Raises `RuntimeError` unless the response has status 200."""
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/graphql",
        "QUERY_STRING": "",
        "HTTP_HOST": "localhost",
        "REMOTE_ADDR": "127.0.0.1",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "8000",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": BytesIO(body),
        "wsgi.url_scheme": "http",
        **request,
    }
    statuses: list[str] = []
    content = b"".join(application(environ, lambda status, _: statuses.append(status)))
    if statuses != ["200 OK"]:
        raise RuntimeError(f"{statuses}: {content.decode()}")
