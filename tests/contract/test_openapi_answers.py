"""Responses compared with schema/openapi.yaml: each operation with each of its statuses, and its errors."""

import re
from typing import Any

import msgspec
import pytest
from pytest_django import Settings

from contentapi.db.statements import execute
from tests.conftest import make_api_key
from tests.contract.openapi_requests import (
    NEW_POST,
    NEW_USER,
    NEW_WEBHOOK,
    MakeRequest,
    Request,
    World,
    assert_conforms,
    build_cases,
    comment_request,
    image_request,
    order_request,
    plain_request,
    post_request,
    send_request,
    shipped_order_request,
    webhook_request,
)
from tests.contract.openapi_successes import SUCCESSES
from tests.contract.own_types import OWN_PATHS
from tests.image_files import make_png
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


NOBODY = {name: 10**9 for each in OPERATIONS.values() for name in re.findall(r"{(\w+)}", each.path)}
REFUSALS: dict[str, list[tuple[int, MakeRequest]]] = {
    "createPost": [
        (403, plain_request(body=NEW_POST, who="reader")),
        (422, plain_request(body={"title": " ", "body": ""})),
    ],
    "updatePost": [
        (403, post_request(body={"title": "New"}, who="reader")),
        (409, post_request(body={"expectedVersion": "9"})),
        (422, post_request(body={"title": None})),
    ],
    "deletePost": [(403, post_request(who="reader"))],
    "publishPost": [(403, post_request(who="reader")), (409, lambda world: Request({"post_id": world.archived.pk}))],
    "getWorkingCopy": [(404, post_request(who="reader")), (404, post_request(who=""))],
    "saveWorkingCopy": [
        (403, post_request(body={"title": "New"}, who="reader")),
        (409, post_request(body={"baseVersion": "9"})),
        (422, post_request(body={"title": " "})),
    ],
    "discardWorkingCopy": [(403, post_request(who="reader"))],
    "publishWorkingCopy": [
        (403, post_request(who="reader")),
        (404, lambda world: Request({"post_id": world.draft.pk})),
    ],
    "listPreviewLinks": [(404, post_request(who="reader")), (404, post_request(who=""))],
    "createPreviewLink": [
        (403, post_request(who="reader")),
        (422, post_request(body={"mode": "version"})),
    ],
    "revokePreviewLink": [(404, lambda world: Request({"link_id": world.link.preview_link.pk}, who="reader"))],
    "getPreview": [(404, plain_request(who=""))],
    "listImages": [(401, plain_request(who="")), (403, plain_request(who="without scopes"))],
    "uploadImage": [(403, plain_request(body=make_png(8, 8), who="reader", headers={"Content-Type": "image/png"}))],
    "updateImage": [(403, image_request(body={"alt": "New"}, who="author")), (422, image_request(body={"alt": None}))],
    "replaceImageContent": [
        (403, image_request(body=make_png(8, 8), who="author", headers={"Content-Type": "image/png"})),
        (415, image_request(body={"alt": "New"})),
    ],
    "deleteImage": [(403, image_request(who="author")), (400, image_request(query="?force=1"))],
    "addComment": [(422, post_request(body={"body": " "}))],
    "deleteComment": [(403, comment_request(who="reader"))],
    "listEvents": [
        (410, plain_request(query="?after=other-1")),
        (400, plain_request(query="?after=1")),
        (400, plain_request(query="?type=post.eaten")),
    ],
    "listWebhooks": [(401, plain_request(who="")), (403, plain_request(who="author"))],
    "createWebhook": [
        (403, plain_request(body=NEW_WEBHOOK, who="without scopes")),
        (422, plain_request(body={**NEW_WEBHOOK, "url": "https://127.0.0.1/"})),
    ],
    "getWebhook": [(403, webhook_request(who="author"))],
    "updateWebhook": [
        (403, webhook_request(body={"name": "New"}, who="without scopes")),
        (409, webhook_request(body={"expectedVersion": "9"})),
        (422, webhook_request(body={"selection": "{ posts { id } }"})),
    ],
    "deleteWebhook": [(403, webhook_request(who="author"))],
    "rotateWebhookSecret": [(403, webhook_request(who="author"))],
    "pingWebhook": [(403, webhook_request(who="author"))],
    "replayWebhook": [
        (403, webhook_request(who="author")),
        (400, webhook_request(body={"types": ["post.eaten"]})),
        (410, webhook_request(body={"after": "other-1"})),
    ],
    "listWebhookDeliveries": [(403, webhook_request(who="author")), (400, webhook_request(query="?state=lost"))],
    "getWebhookDelivery": [(403, webhook_request(who="author"))],
    "redeliverWebhookDelivery": [(403, webhook_request(who="author"))],
    "listOrders": [(401, plain_request(who="")), (403, plain_request(who="without scopes"))],
    "createOrder": [(422, plain_request(body={"total": 0}))],
    "cancelOrder": [(409, shipped_order_request())],
    "payOrder": [(409, shipped_order_request())],
    "trackOrder": [(409, order_request())],
    "listUsers": [(401, plain_request(who="")), (403, plain_request(who="without scopes"))],
    "createUser": [
        (403, plain_request(body=NEW_USER, who="author")),
        (409, lambda world: Request(body={"name": "New", "email": world.user.email})),
        (422, plain_request(body={"name": ""})),
    ],
}


@pytest.mark.parametrize(("operation", "status", "given"), build_cases(REFUSALS))
def test_error_response_is_as_described(operation: Operation, status: int, given: MakeRequest) -> None:
    world = World()

    for accept in ("application/json", "application/problem+json"):
        request = given(world)
        request = request._replace(headers={**request.headers, "Accept": accept})
        assert_conforms(operation, status, send_request(operation, request, world))


def build_failing_requests(operation: Operation) -> list[tuple[int, MakeRequest]]:
    """Return what any resource may refuse: the request that succeeds first, spoilt in one point."""
    given = SUCCESSES[operation.id][0][1]

    def change_request(**changes: Any) -> MakeRequest:
        return lambda world: given(world)._replace(**changes)

    rows = [
        (400, change_request(headers={"Authorization": "Bearer x"})),
        (401, change_request(who="", headers={"X-API-Key": "x"})),
        (406, change_request(headers={"Accept": "text/html"})),
        (406, change_request(headers={"Accept": "application/vnd.contentapi.v2+json"})),
        (400, change_request(headers={"X-API-Version": "2"})),
    ]
    if "{" in operation.path:
        rows.append((404, change_request(ids=NOBODY)))
    if operation.needs_a_credential:
        rows.append((401, change_request(who="")))
    if "If-Match" in operation.parameters:
        rows.append((409, change_request(headers={"If-Match": '"9-c0ffee"'})))
    if "requestBody" in operation.described:
        if "application/json" in operation.described["requestBody"]["content"]:
            rows.append((400, change_request(body=[])))
        rows.append((415, change_request(body={}, headers={"Content-Type": "text/plain"})))
    return rows


@pytest.mark.parametrize(
    "operation",
    [OPERATIONS[name] for name in SUCCESSES if not OPERATIONS[name].is_document],
    ids=lambda found: found.id,
)
def test_common_error_response_is_as_described(operation: Operation, settings: Settings) -> None:
    world = World()

    for status, given in build_failing_requests(operation):
        assert_conforms(operation, status, send_request(operation, given(world), world))

    request = SUCCESSES[operation.id][0][1](world)
    if "requestBody" in operation.described:
        limits = {"contentapi_max_body": 1, "contentapi_image_max_bytes": 1}
        settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, **limits)
        assert_conforms(operation, 413, send_request(operation, request._replace(body={}), world))
    key = make_api_key(world.actors["admin"])
    execute("ALTER TABLE users_apikey RENAME TO lost")
    assert_conforms(
        operation, 500, send_request(operation, request._replace(who="", headers={"X-API-Key": key}), world)
    )


MALFORMED = (
    Request(NOBODY, query="?limit=0"),
    Request(NOBODY, body=b"{"),
    Request(NOBODY, body={}, headers={"Content-Type": "text/plain"}),
    Request(NOBODY, headers={"If-Match": "x", "If-None-Match": "x", "Idempotency-Key": " "}),
)


@pytest.mark.parametrize(
    "operation", [found for found in OPERATIONS.values() if found.needs_a_credential], ids=lambda found: found.id
)
@pytest.mark.parametrize("credential", [{}, {"X-API-Key": "x"}], ids=["no credential", "an invalid one"])
def test_401_precedes_what_is_malformed(operation: Operation, credential: dict[str, str]) -> None:
    for given in MALFORMED:
        request = given._replace(headers={**given.headers, **credential})
        assert_conforms(operation, 401, send_request(operation, request))


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda found: found.id)
def test_429_is_as_described(operation: Operation, settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_rate_anonymous="1/hour")
    send_request(operation, Request(NOBODY, who=""))

    assert_conforms(operation, 429, send_request(operation, Request(NOBODY, who="")))
