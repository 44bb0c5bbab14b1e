"""Calls a WSGI application as a server does."""

import io
from collections.abc import Callable
from typing import Any, NamedTuple


class WsgiResponse(NamedTuple):
    """The status, the headers and the body that the server would send."""

    status: int
    headers: dict[str, str]
    content: bytes


def call_application(
    application: Callable[..., Any], method: str, path: str, body: bytes = b"", **changes: Any
) -> WsgiResponse:
    """Send a request. `changes` replace or add variables of the WSGI environment."""
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "SCRIPT_NAME": "",
        "REMOTE_ADDR": "192.0.2.1",
        "HTTP_HOST": "localhost:8000",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "8000",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        **changes,
    }
    started: list[tuple[str, list[tuple[str, str]]]] = []
    content = b"".join(application(environ, lambda status, headers, *_: started.append((status, headers))))
    status, headers = started[0]
    assert len({name.lower() for name, _ in headers}) == len(headers)
    return WsgiResponse(int(status[:3]), dict(headers), content)
