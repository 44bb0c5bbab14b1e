"""Parity of the transports: GraphQL and REST refuse invalid requests, whatever the action, alike."""

from typing import Any

import msgspec
import pytest
from pytest_django import Settings

from contentapi.core.identity import Role
from tests.conftest import make_api_key
from tests.factories import make_actor
from tests.resources import send_request

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "headers", [{"X_API_Key": "x"}, {"Authorization": "Bearer x"}, {"Authorization": "Basic x"}, {"X_API_Key": ""}]
)
def test_both_transports_refuse_an_invalid_credential_alike(headers: dict[str, str]) -> None:
    body: Any = {"query": "{ __typename }"}

    by_graphql = send_request("POST", "/graphql", body, **headers)  # type: ignore[arg-type]
    by_rest = send_request("GET", "/posts", **headers)  # type: ignore[arg-type]

    entry = by_graphql.body["errors"][0]
    assert (by_graphql.status, entry["extensions"]["code"], entry["message"]) == by_rest.error
    assert by_graphql.headers["WWW-Authenticate"] == by_rest.headers["WWW-Authenticate"]


def test_both_transports_refuse_too_many_requests_alike(settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_rate_anonymous="1/minute")
    send_request("GET", "/posts")

    by_graphql, by_rest = send_request("POST", "/graphql", {"query": "{ __typename }"}), send_request("GET", "/posts")

    entry = by_graphql.body["errors"][0]
    assert (by_graphql.status, entry["extensions"]["code"], entry["message"]) == by_rest.error
    assert by_graphql.headers["Retry-After"] == by_rest.headers["Retry-After"]


@pytest.mark.parametrize(
    ("body", "content_type"),
    [(b"{", "application/json"), (b"{}", "text/plain"), (b"{}", ""), (b"null", "application/json")],
)
def test_both_transports_refuse_an_invalid_body_alike(body: bytes, content_type: str) -> None:
    key = make_api_key(make_actor(Role.AUTHOR))

    by_graphql = send_request("POST", "/graphql", body, content_type=content_type, X_API_Key=key)
    by_rest = send_request("POST", "/posts", body, content_type=content_type, X_API_Key=key)

    entry = by_graphql.body["errors"][0]
    assert (by_graphql.status, entry["extensions"]["code"], entry["message"]) == by_rest.error
