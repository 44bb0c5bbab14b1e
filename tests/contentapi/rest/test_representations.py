"""Errors outside of resources: one field in the body, the code and the request id in headers."""

import json
from typing import Any

import pytest
from django.test import Client


def summarize(response: Any) -> dict[str, Any]:
    """Return what a client sees of a failure."""
    return {
        "status": response.status_code,
        "type": response["Content-Type"],
        "code": response["X-Error-Code"],
        "body": json.loads(response.content),
    }


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/nowhere", "/graphql/", "/graphql/x", "/%00", "/%ff", "/%F0%9F%90%9F"])
def test_unknown_path_is_404(client: Client, method: str, path: str) -> None:
    response = client.generic(method, path)

    assert summarize(response) == {
        "status": 404,
        "type": "application/json",
        "code": "NOT_FOUND",
        "body": {"error": "There is nothing at this address."},
    }


@pytest.mark.parametrize("host", ["evil.invalid", "testserver.evil.invalid", "a b", "testserver:port", "[::1", ""])
@pytest.mark.parametrize("path", ["/graphql", "/nowhere"])
def test_wrong_host_is_400(client: Client, path: str, host: str) -> None:
    response = client.post(path, {"query": "{ __typename }"}, content_type="application/json", HTTP_HOST=host)

    assert summarize(response) == {
        "status": 400,
        "type": "application/json",
        "code": "BAD_REQUEST",
        "body": {"error": "The request is malformed, or its Host is not one of ALLOWED_HOSTS."},
    }


def test_each_response_has_its_own_id(client: Client) -> None:
    responses = [client.get("/nowhere"), client.get("/nowhere"), client.get("/graphql"), client.get("/", HTTP_HOST="x")]

    ids = [response["X-Request-ID"] for response in responses]

    assert len(set(ids)) == 4
    assert all(len(text) == 32 and text.isalnum() for text in ids)


def test_request_id_of_the_client_is_ignored(client: Client) -> None:
    response = client.get("/nowhere", headers={"X-Request-ID": "forged\tentry"})

    assert "forged" not in response["X-Request-ID"]
