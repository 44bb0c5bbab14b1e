"""Requests inside of one process: the WSGI application is called as a server calls it."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any


def send(application: Any, body: bytes, request: Mapping[str, Any]) -> None:
    """Send a request: the application's answer must be 200."""
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
    told: list[str] = []
    answer = b"".join(application(environ, lambda status, _: told.append(status)))
    if told != ["200 OK"]:
        raise RuntimeError(f"{told}: {answer.decode()}")
