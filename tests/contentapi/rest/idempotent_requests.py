"""Requests with an Idempotency-Key, for its tests."""

from typing import Any

from tests.resources import RestResponse, send_request

NEW = {"title": "Hello", "body": "A first post."}
REPLAYED = "Idempotent-Replayed"


def send_post(path: str, body: Any, credential: str, idempotency_key: str = "one", **headers: Any) -> RestResponse:
    return send_request("POST", path, body, X_API_Key=credential, Idempotency_Key=idempotency_key, **headers)
