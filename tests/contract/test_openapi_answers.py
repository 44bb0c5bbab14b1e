"""Responses compared with schema/openapi.yaml: each operation with each of its statuses, and its errors."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest
from django.test import override_settings
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
from tests.contract.worlds import roll_back
from tests.image_files import make_png
from tests.openapi import OPERATIONS, Operation

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media")]


@pytest.fixture
def world() -> World:
    """Return a world in which each thing is made: its requests are rolled back, one after the other."""
    world = World()
    world.fill()
    return world


def select_operations(parameter: str = "") -> list[Operation]:
    """Return the tested resources, or those that have a parameter of this name."""
    tested = [OPERATIONS[name] for name in SUCCESSES if not OPERATIONS[name].is_document]
    return [each for each in tested if not parameter or parameter in each.parameters]


def choose_one_of_each(operations: Iterable[Operation]) -> list[Operation]:
    """Return an operation of each kind, for what `Resource` does to all of a kind.

    `test_openapi.py` compares the descriptions of the errors of all operations.
    """
    return list({each.kind: each for each in operations}.values())


def test_each_operation_is_tested() -> None:
    assert set(SUCCESSES) == {name for name, each in OPERATIONS.items() if not each.path.startswith(OWN_PATHS)}


def test_success_responses_are_as_described(subtests: pytest.Subtests, world: World) -> None:
    for name, rows in SUCCESSES.items():
        for number, (status, given) in enumerate(rows):
            with subtests.test(f"{name} {number}"), roll_back():
                assert_conforms(OPERATIONS[name], status, send_request(OPERATIONS[name], given(world), world))


@pytest.mark.thorough
def test_responses_to_three_version_markers_are_as_described(subtests: pytest.Subtests, world: World) -> None:
    markers = {"X-API-Version": "1", "Accept": "application/vnd.contentapi.v1+json"}
    for operation in choose_one_of_each(select_operations("X-API-Version")):
        status, given = SUCCESSES[operation.id][0]
        with subtests.test(operation.id), roll_back():
            request = given(world)
            versioned = operation._replace(path=f"/v1{operation.path}")
            response = send_request(versioned, request._replace(headers={**request.headers, **markers}), world)

            assert_conforms(operation, status, response)
            assert response.get("Content-Type") == (markers["Accept"] if response.content else None)
            assert response.get("Location", "/v1/").startswith("/v1/")


def test_304_is_as_described(subtests: pytest.Subtests, world: World) -> None:
    for operation in select_operations("If-None-Match"):
        with subtests.test(operation.id), roll_back():
            request = SUCCESSES[operation.id][0][1](world)
            tag = {"If-None-Match": send_request(operation, request, world)["ETag"]}
            assert_conforms(operation, 304, send_request(operation, request._replace(headers=tag), world))


@pytest.mark.thorough
def test_replayed_responses_are_as_described(subtests: pytest.Subtests, world: World) -> None:
    headers = {"X-API-Key": make_api_key(world.actors["admin"]), "Idempotency-Key": "once"}
    for operation in choose_one_of_each(select_operations("Idempotency-Key")):
        status, given = SUCCESSES[operation.id][0]
        with subtests.test(operation.id), roll_back():
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


OF_EACH_STATUS = {status: name for name, rows in REFUSALS.items() for status, _ in rows}


@pytest.mark.thorough
def test_error_responses_are_as_described(subtests: pytest.Subtests, world: World) -> None:
    problems = {"Accept": "application/problem+json"}
    for name, rows in REFUSALS.items():
        for number, (status, given) in enumerate(rows):
            request = given(world)
            for headers in ({}, problems) if OF_EACH_STATUS[status] == name else ({},):
                with subtests.test(f"{name} {number} {headers}"), roll_back():
                    sent = request._replace(headers={**request.headers, **headers})
                    assert_conforms(OPERATIONS[name], status, send_request(OPERATIONS[name], sent, world))


def list_refusals(operation: Operation) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield what a resource refuses by what it declares and reads: the changes of the request that succeeds."""
    if "{" in operation.path:
        yield 404, {"ids": NOBODY}
    if operation.needs_a_credential:
        yield 401, {"who": ""}
    if "If-Match" in operation.parameters:
        yield 409, {"headers": {"If-Match": '"9-c0ffee"'}}
    if "application/json" in operation.media_types:
        yield 400, {"body": []}
    if operation.media_types:
        yield 415, {"body": {}, "headers": {"Content-Type": "text/plain"}}


REFUSALS_OF_ALL: list[tuple[int, dict[str, Any]]] = [
    (400, {"headers": {"Authorization": "Bearer x"}}),
    (401, {"who": "", "headers": {"X-API-Key": "x"}}),
    (406, {"headers": {"Accept": "text/html"}}),
    (406, {"headers": {"Accept": "application/vnd.contentapi.v2+json"}}),
    (400, {"headers": {"X-API-Version": "2"}}),
]


@pytest.mark.thorough
def test_common_error_responses_are_as_described(subtests: pytest.Subtests, world: World) -> None:
    common = choose_one_of_each(select_operations())
    for operation in select_operations():
        for status, changes in [*list_refusals(operation), *(REFUSALS_OF_ALL if operation in common else ())]:
            with subtests.test(f"{operation.id} {status} {changes}"), roll_back():
                request = SUCCESSES[operation.id][0][1](world)._replace(**changes)
                assert_conforms(operation, status, send_request(operation, request, world))


def test_413_and_500_are_as_described(subtests: pytest.Subtests, world: World, settings: Settings) -> None:
    limits = {"contentapi_max_body": 1, "contentapi_image_max_bytes": 1}
    small = msgspec.structs.replace(settings.ENVIRONMENT, **limits)
    credential = {"X-API-Key": make_api_key(world.actors["admin"])}
    for operation in choose_one_of_each(select_operations()):
        request = SUCCESSES[operation.id][0][1](world)
        with subtests.test(f"{operation.id} 500"), roll_back():
            execute("ALTER TABLE users_apikey RENAME TO lost")
            assert_conforms(operation, 500, send_request(operation, request._replace(who="", headers=credential)))
        if operation.media_types:
            with subtests.test(f"{operation.id} 413"), roll_back(), override_settings(ENVIRONMENT=small):
                assert_conforms(operation, 413, send_request(operation, request._replace(body={}), world))


MALFORMED = (
    Request(NOBODY, query="?limit=0"),
    Request(NOBODY, body=b"{"),
    Request(NOBODY, body={}, headers={"Content-Type": "text/plain"}),
    Request(NOBODY, headers={"If-Match": "x", "If-None-Match": "x", "Idempotency-Key": " "}),
)


@pytest.mark.thorough
@pytest.mark.parametrize("credential", [{}, {"X-API-Key": "x"}], ids=["no credential", "an invalid one"])
def test_401_precedes_what_is_malformed(subtests: pytest.Subtests, credential: dict[str, str]) -> None:
    for operation in choose_one_of_each(each for each in select_operations() if each.needs_a_credential):
        for given in MALFORMED:
            with subtests.test(f"{operation.id} {given}"), roll_back():
                request = given._replace(headers={**given.headers, **credential})
                assert_conforms(operation, 401, send_request(operation, request))


def test_429_is_as_described(subtests: pytest.Subtests, settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_rate_anonymous="1/hour")
    for operation in choose_one_of_each(OPERATIONS.values()):
        with subtests.test(operation.id), roll_back():
            send_request(operation, Request(NOBODY, who=""))

            assert_conforms(operation, 429, send_request(operation, Request(NOBODY, who="")))
