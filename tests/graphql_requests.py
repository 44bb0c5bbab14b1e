"""Sends requests with any body and headers to /graphql, also malformed ones."""

import json
from typing import Any, Protocol

from django.test import Client


class Answer:
    """A GraphQL response: its status, decoded body and headers."""

    def __init__(self, response: Any) -> None:
        self.status: int = response.status_code
        self.headers = response.headers
        self.body: dict[str, Any] = json.loads(response.content)

    @property
    def data(self) -> dict[str, Any]:
        """The data of a response without errors."""
        assert "errors" not in self.body, self.body["errors"]
        assert self.status == 200
        data: dict[str, Any] = self.body["data"]
        return data

    @property
    def codes(self) -> list[str]:
        return [error["extensions"]["code"] for error in self.body["errors"]]


class Post(Protocol):
    def __call__(self, body: Any, content_type: str = "application/json", **headers: str) -> Answer: ...


def post_to_graphql(body: Any, content_type: str = "application/json", **headers: str) -> Answer:
    """Send a POST request. Bytes are sent unchanged, any other body as JSON. Header names have underscores."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    client = Client(raise_request_exception=False)
    return Answer(client.generic("POST", "/graphql", content, content_type=content_type, headers=named))


def build_error_entry(answer: Answer, code: str, status: int, message: str, **more: Any) -> dict[str, Any]:
    """Return the expected entry of `errors` in this response."""
    extensions = {"code": code, "status": status, "requestId": answer.headers["X-Request-ID"]}
    if fields := more.pop("fields", None):
        extensions["fields"] = fields
    return {"message": message, "extensions": extensions, **more}
