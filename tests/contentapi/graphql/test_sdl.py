"""GET /schema.graphql."""

import msgspec
import pytest
from django.test import Client
from graphql import build_schema, introspection_from_schema
from pytest_django import Settings

from contentapi.schema import SCHEMA
from tests.resources import send_request

PATH = "/schema.graphql"


@pytest.fixture
def without_introspection(settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_introspection="off")


def test_sdl_describes_the_schema_of_introspection(client: Client) -> None:
    response = client.get(PATH)

    assert (response.status_code, response.headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert introspection_from_schema(build_schema(response.content.decode())) == introspection_from_schema(SCHEMA)
    assert {"RateLimit", "X-Request-ID"} <= set(response.headers)


def test_current_etag_gets_304(client: Client) -> None:
    tag = client.get(PATH).headers["ETag"]

    again = client.get(PATH, headers={"If-None-Match": tag})

    assert (again.status_code, again.content) == (304, b"")
    assert client.get(PATH, headers={"If-None-Match": '"another"'}).status_code == 200


def test_head_and_options_get_a_response(client: Client) -> None:
    head, options = client.head(PATH), client.options(PATH)

    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["ETag"] == client.get(PATH).headers["ETag"]
    assert (options.status_code, options.headers["Allow"]) == (204, "GET, HEAD, OPTIONS")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_other_methods_are_405_with_allow(method: str) -> None:
    response = send_request(method, PATH)

    message = f"{method} is not allowed here; allowed: GET, HEAD, OPTIONS."
    assert response.error == (405, "METHOD_NOT_ALLOWED", message)
    assert response.headers["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.usefixtures("without_introspection")
def test_sdl_is_404_when_introspection_is_off() -> None:
    response, problem = send_request("GET", PATH), send_request("GET", PATH, Accept="application/problem+json")

    assert response.error == (404, "NOT_FOUND", "There is nothing at this address.")
    assert (problem.status, problem.body["title"]) == (404, "Not Found")
