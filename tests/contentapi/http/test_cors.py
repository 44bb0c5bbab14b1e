"""CORS: scripts of CORS_ALLOWED_ORIGINS may send and read what they need, other origins nothing."""

import pytest
from django.test import Client
from pytest_django import Settings

from tests.factories import make_post

HOME, STRANGER = "https://www.example.com", "https://elsewhere.invalid"
PATHS = [
    "/graphql", "/posts/1/comments/1", "/orders", "/v1/posts", "/images/1/content", "/events", "/events/tickets",
    "/preview", "/uploads/1",
]  # fmt: skip
SENT = {
    "authorization", "x-api-key", "content-type", "if-match", "if-none-match", "idempotency-key", "x-api-version",
    "accept", "content-disposition", "last-event-id", "preview-token",
}  # fmt: skip
READ = {
    "etag", "link", "location", "ratelimit", "ratelimit-policy", "retry-after", "x-request-id", "x-error-code",
    "x-api-version", "idempotent-replayed", "allow", "www-authenticate",
}  # fmt: skip


@pytest.fixture(autouse=True)
def allow_list(settings: Settings) -> None:
    settings.CORS_ALLOWED_ORIGINS = [HOME]


def words(header: str) -> set[str]:
    return {word.strip().lower() for word in header.split(",")}


def cors_headers(response: object) -> set[str]:
    return {name for name in getattr(response, "headers") if name.lower().startswith("access-control-")}  # noqa: B009


@pytest.mark.parametrize("path", PATHS)
def test_preflight_lists_allowed_methods_and_headers(client: Client, path: str) -> None:
    asked = {"Origin": HOME, "Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": "if-match"}

    response = client.options(path, headers=asked)

    assert response.status_code == 200
    assert response["Access-Control-Allow-Origin"] == HOME
    assert words(response["Access-Control-Allow-Methods"]) >= words("get, head, post, put, patch, delete, options")
    assert words(response["Access-Control-Allow-Headers"]) >= SENT
    assert "Access-Control-Allow-Credentials" not in response.headers
    assert "origin" in words(response["Vary"])


@pytest.mark.parametrize("path", ["/posts", "/v1/posts", "/posts/0", "/nowhere"])
def test_allowed_origin_may_read_the_response_and_its_headers(client: Client, path: str) -> None:
    make_post()

    response = client.get(path, headers={"Origin": HOME})

    assert response["Access-Control-Allow-Origin"] == HOME
    assert words(response["Access-Control-Expose-Headers"]) >= READ
    assert "Access-Control-Allow-Credentials" not in response.headers
    assert "origin" in words(response["Vary"])


@pytest.mark.parametrize("path", PATHS)
def test_other_origins_get_no_cors_headers(client: Client, path: str) -> None:
    for origin in [STRANGER, "null", "http://www.example.com", f"{HOME}.elsewhere.invalid", "x"]:
        asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}

        responses = [client.options(path, headers=asked), client.get(path, headers={"Origin": origin})]

        assert [cors_headers(response) for response in responses] == [set(), set()], origin
        assert all("origin" in words(response["Vary"]) for response in responses)
