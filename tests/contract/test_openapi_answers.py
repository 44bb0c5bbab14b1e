"""Responses compared with schema/openapi.yaml: each operation that succeeds, with each of its statuses."""

from typing import Any

import pytest

from tests.conftest import make_api_key
from tests.contract.openapi_requests import MakeRequest, World, assert_conforms, build_cases, send_request
from tests.contract.openapi_successes import SUCCESSES
from tests.contract.own_types import OWN_PATHS
from tests.openapi import OPERATIONS, Operation

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media")]


def select_operations(parameter: str) -> list[Any]:
    """Return the tested operations that have a parameter of this name."""
    return [pytest.param(OPERATIONS[name], id=name) for name in SUCCESSES if parameter in OPERATIONS[name].parameters]


def test_each_operation_is_tested() -> None:
    assert set(SUCCESSES) == {name for name, each in OPERATIONS.items() if not each.path.startswith(OWN_PATHS)}


@pytest.mark.parametrize(("operation", "status", "given"), build_cases(SUCCESSES))
def test_success_response_is_as_described(operation: Operation, status: int, given: MakeRequest) -> None:
    world = World()
    if operation.method == "GET":
        world.fill()

    assert_conforms(operation, status, send_request(operation, given(world), world))


@pytest.mark.parametrize("operation", select_operations("X-API-Version"))
def test_response_to_three_version_markers_is_as_described(operation: Operation) -> None:
    world, (status, given) = World(), SUCCESSES[operation.id][0]
    markers = {"X-API-Version": "1", "Accept": "application/vnd.contentapi.v1+json"}
    versioned = operation._replace(path=f"/v1{operation.path}")

    request = given(world)
    response = send_request(versioned, request._replace(headers={**request.headers, **markers}), world)

    assert_conforms(operation, status, response)
    assert response.get("Content-Type") == (markers["Accept"] if response.content else None)
    assert response.get("Location", "/v1/").startswith("/v1/")


@pytest.mark.parametrize("operation", select_operations("If-None-Match"))
def test_304_is_as_described(operation: Operation) -> None:
    world = World()
    request = SUCCESSES[operation.id][0][1](world)

    etag = send_request(operation, request, world)["ETag"]

    assert_conforms(operation, 304, send_request(operation, request._replace(headers={"If-None-Match": etag}), world))


@pytest.mark.parametrize("operation", select_operations("Idempotency-Key"))
def test_replayed_response_is_as_described(operation: Operation) -> None:
    world, (status, given) = World(), SUCCESSES[operation.id][0]
    headers = {"X-API-Key": make_api_key(world.actors["admin"]), "Idempotency-Key": "once"}
    request = given(world)
    request = request._replace(who="", headers={**request.headers, **headers})

    first, second = send_request(operation, request), send_request(operation, request)

    assert_conforms(operation, status, second)
    assert "Idempotent-Replayed" not in first
    assert (second["Idempotent-Replayed"], second.content) == ("true", first.content)
    assert_conforms(operation, 422, send_request(operation, request._replace(body={"something": "else"})))
