"""Requests as bytes, with headers, as no well-behaved client would send them."""

import json
from typing import Any, Protocol

import pytest
from django.test import Client

from tests.conftest import Answer


class Post(Protocol):
    def __call__(self, body: Any, content_type: str = "application/json", **headers: str) -> Answer: ...


@pytest.fixture
def post(db: None) -> Post:  # noqa: ARG001
    return post_to_graphql


def post_to_graphql(body: Any, content_type: str = "application/json", **headers: str) -> Answer:
    """Post a body as it is where it is bytes, else as JSON; a header's name is written with underscores."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    client = Client(raise_request_exception=False)
    return Answer(client.generic("POST", "/graphql", content, content_type=content_type, headers=named))


def error_entry(answer: Answer, code: str, status: int, message: str, **more: Any) -> dict[str, Any]:
    """Return the entry of `errors` that this answer ought to hold."""
    extensions = {"code": code, "status": status, "requestId": answer.headers["X-Request-ID"]}
    if fields := more.pop("fields", None):
        extensions["fields"] = fields
    return {"message": message, "extensions": extensions, **more}
