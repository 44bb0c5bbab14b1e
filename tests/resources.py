"""Sends requests to REST resources."""

import json
from typing import Any

from django.test import Client

from contentapi.core.identity import Actor
from tests.conftest import make_api_key


class RestResponse:
    """A REST response: its status, headers and decoded body, if it has one."""

    def __init__(self, response: Any) -> None:
        self.status: int = response.status_code
        self.headers = response.headers
        self.content: bytes = response.content
        self.body: Any = json.loads(response.content) if response.content else None

    @property
    def error(self) -> tuple[int, str, str]:
        """The status, the code and the message of an error response, whose body contains only the message."""
        assert self.headers["Content-Type"] == "application/json"
        assert list(self.body) == ["error"]
        return self.status, self.headers["X-Error-Code"], self.body["error"]


def send_request(
    method: str,
    path: str,
    body: Any = None,
    *,
    actor: Actor | None = None,
    content_type: str = "application/json",
    **headers: str,
) -> RestResponse:
    """Send a request. Bytes are sent unchanged, any other body as JSON. Header names have underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if actor is not None:
        named["X-API-Key"] = make_api_key(actor)
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    client = Client(raise_request_exception=False)
    sent_type = content_type if body is not None else ""
    return RestResponse(client.generic(method, path, content, content_type=sent_type, headers=named))
