"""Responses compared with schema/openapi.yaml: each operation, with each of its statuses."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from blog.models import PostStatus
from contentapi.core.identity import Role, Scope
from tests.conftest import api_key_of
from tests.factories import make_actor, make_author, make_comment, make_order, make_post, make_user
from tests.openapi import OPERATIONS, Operation, problems, resolved

pytestmark = pytest.mark.django_db

# What a client of this API reads; the others are Django's and the server's.
OUR_HEADERS = re.compile(
    r"X-(API-Version|Request-ID|Error-Code)|RateLimit(-Policy)?|Retry-After|Location|Link|ETag|Idempotent-Replayed"
    r"|Allow|WWW-Authenticate"
)


class Request(NamedTuple):
    """A request. `ids` are the ids in its path, `who` is the caller."""

    ids: Mapping[str, Any] = {}
    body: Any = None
    who: str = "admin"
    query: str = ""
    headers: Mapping[str, str] = {}


class World:
    """An admin, an author and a reader, and one thing of each kind."""

    def __init__(self) -> None:
        author = make_author(email="author@example.invalid", avatar_url="https://www.example.com/a.png", bio="Writes.")
        self.actors = {
            "admin": make_actor(Role.ADMIN),
            "author": make_actor(Role.AUTHOR, author=author),
            "reader": make_actor(Role.READER),
            "without scopes": make_actor(Role.ADMIN, scopes={Scope.POSTS_READ}),
        }
        self.post = make_post(author=author, tags=["sea"])
        self.draft = make_post(author=author, status=PostStatus.DRAFT)
        self.archived = make_post(author=author, status=PostStatus.ARCHIVED)
        self.comment = make_comment(self.post)
        self.order = make_order(user=self.post.author.user)
        shipped = {"carrier": "Coastal", "tracking_number": "C1", "shipped_at": timezone.now()}
        self.shipped = make_order(user=self.order.user, status="shipped", **shipped)
        self.user = make_user()


Given = Callable[[World], Request]


def post(**values: Any) -> Given:
    return lambda world: Request({"post_id": world.post.pk}, **values)


def comment(**values: Any) -> Given:
    return lambda world: Request({"post_id": world.post.pk, "comment_id": world.comment.pk}, **values)


def author(**values: Any) -> Given:
    return lambda world: Request({"author_id": world.post.author.pk}, **values)


def order(**values: Any) -> Given:
    return lambda world: Request({"order_id": world.order.pk}, **values)


def shipped(**values: Any) -> Given:
    return lambda world: Request({"order_id": world.shipped.pk}, **values)


def user(**values: Any) -> Given:
    return lambda world: Request({"user_id": world.user.pk}, **values)


def plain(**values: Any) -> Given:
    return lambda _: Request(**values)


NEW_POST = {"title": "Hello", "body": "A first post."}
NEW_USER = {"name": "New", "email": "new@example.invalid"}
NOBODY = dict.fromkeys(("post_id", "comment_id", "author_id", "order_id", "user_id"), 10**9)

SUCCESSES: dict[str, list[tuple[int, Given]]] = {
    "listPosts": [(200, plain()), (200, plain(query="?offset=1&limit=1")), (200, plain(query="?limit=1", who=""))],
    "createPost": [(201, plain(body=NEW_POST)), (201, plain(body={**NEW_POST, "tags": None, "status": "published"}))],
    "getPost": [(200, post()), (200, post(who=""))],
    "updatePost": [(200, post(body={"title": "New"})), (200, post(body={"expectedVersion": "1"}))],
    "deletePost": [(204, post())],
    "publishPost": [(200, post()), (200, lambda world: Request({"post_id": world.draft.pk}))],
    "listComments": [(200, post()), (200, post(query="?offset=0"))],
    "addComment": [(201, post(body={"body": "Well said."}))],
    "getComment": [(200, comment()), (200, comment(who=""))],
    "deleteComment": [(204, comment())],
    "listAuthors": [(200, plain()), (200, plain(query="?offset=0")), (200, plain(query="?limit=1", who=""))],
    "getAuthor": [(200, author()), (200, author(who=""))],
    "listPostsOfAuthor": [(200, author(query="?status=draft")), (200, author(query="?offset=0"))],
    "listOrders": [(200, plain()), (200, plain(query="?offset=0"))],
    "createOrder": [(201, plain(body={"total": 49.9}))],
    "getOrder": [(200, order()), (200, shipped())],
    "cancelOrder": [(204, order())],
    "payOrder": [(200, order()), (200, order(body={}))],
    "trackOrder": [(200, shipped())],
    "listUsers": [(200, plain()), (200, plain(query="?offset=0"))],
    "createUser": [(201, plain(body=NEW_USER))],
    "getUser": [(200, user())],
    "deleteUser": [(204, user())],
    "getOpenAPI": [(200, plain(who=""))],
    "getDocs": [(200, plain(who=""))],
    "getGraphQLSchema": [(200, plain(who=""))],
    "getKeys": [(200, plain(who=""))],
}

REFUSALS: dict[str, list[tuple[int, Given]]] = {
    "createPost": [(403, plain(body=NEW_POST, who="reader")), (422, plain(body={"title": " ", "body": ""}))],
    "updatePost": [
        (403, post(body={"title": "New"}, who="reader")),
        (409, post(body={"expectedVersion": "9"})),
        (422, post(body={"title": None})),
    ],
    "deletePost": [(403, post(who="reader"))],
    "publishPost": [(403, post(who="reader")), (409, lambda world: Request({"post_id": world.archived.pk}))],
    "addComment": [(422, post(body={"body": " "}))],
    "deleteComment": [(403, comment(who="reader"))],
    "listOrders": [(401, plain(who="")), (403, plain(who="without scopes"))],
    "createOrder": [(422, plain(body={"total": 0}))],
    "cancelOrder": [(409, shipped())],
    "payOrder": [(409, shipped())],
    "trackOrder": [(409, order())],
    "listUsers": [(401, plain(who="")), (403, plain(who="without scopes"))],
    "createUser": [
        (403, plain(body=NEW_USER, who="author")),
        (409, lambda world: Request(body={"name": "New", "email": world.user.email})),
        (422, plain(body={"name": ""})),
    ],
}


def send(operation: Operation, request: Request, world: World | None = None) -> Any:
    path = re.sub(r"{(\w+)}", lambda match: str(request.ids[match[1]]), operation.path)
    headers = dict(request.headers)
    if world and request.who:
        headers["X-API-Key"] = api_key_of(world.actors[request.who])
    content = b"" if request.body is None else json.dumps(request.body).encode()
    content_type = headers.pop("Content-Type", "application/json" if content else "")
    client = Client(raise_request_exception=False)
    return client.generic(operation.method, path + request.query, content, content_type=content_type, headers=headers)


def conforms(operation: Operation, status: int, response: Any) -> None:
    """Compare a response with the description of its status: headers, media type and body."""
    assert response.status_code == status, response.content
    described = operation.response(status)
    headers = described.get("headers", {})
    for name, header in ((name, resolved(header)) for name, header in headers.items()):
        assert name in response or not header.get("required"), f"{name} is missing"
        if name in response:
            value = response[name]
            typed = int(value) if resolved(header["schema"])["type"] == "integer" else value
            assert problems(header["schema"], typed) == [], name
    assert operation.is_document or response["X-API-Version"] == "1"
    assert {name for name in response.headers if OUR_HEADERS.fullmatch(name)} <= set(headers)
    if "content" not in described:
        assert response.content == b""
        return
    media_type = response["Content-Type"].split(";")[0]
    body = response.content.decode() if media_type.startswith("text/") else json.loads(response.content)
    assert problems(described["content"][media_type]["schema"], body) == []


def cases(table: Mapping[str, list[tuple[int, Given]]]) -> list[Any]:
    return [
        pytest.param(OPERATIONS[name], status, given, id=f"{name}-{status}-{number}")
        for name, rows in table.items()
        for number, (status, given) in enumerate(rows)
    ]


def those(parameter: str) -> list[Any]:
    """Return the operations that have a parameter of this name."""
    return [pytest.param(found, id=name) for name, found in OPERATIONS.items() if parameter in found.parameters]


def test_each_operation_is_tested() -> None:
    assert set(SUCCESSES) == set(OPERATIONS)


@pytest.mark.parametrize(("operation", "status", "given"), cases(SUCCESSES))
def test_success_response_is_as_described(operation: Operation, status: int, given: Given) -> None:
    world = World()

    conforms(operation, status, send(operation, given(world), world))


@pytest.mark.parametrize("operation", those("X-API-Version"))
def test_response_to_three_version_markers_is_as_described(operation: Operation) -> None:
    world, (status, given) = World(), SUCCESSES[operation.id][0]
    markers = {"X-API-Version": "1", "Accept": "application/vnd.contentapi.v1+json"}
    versioned = operation._replace(path=f"/v1{operation.path}")

    response = send(versioned, given(world)._replace(headers=markers), world)

    conforms(operation, status, response)
    assert response.get("Content-Type") == (markers["Accept"] if response.content else None)
    assert response.get("Location", "/v1/").startswith("/v1/")


@pytest.mark.parametrize("operation", those("If-None-Match"))
def test_304_is_as_described(operation: Operation) -> None:
    world = World()
    request = SUCCESSES[operation.id][0][1](world)

    etag = send(operation, request, world)["ETag"]

    conforms(operation, 304, send(operation, request._replace(headers={"If-None-Match": etag}), world))


@pytest.mark.parametrize("operation", those("Idempotency-Key"))
def test_replayed_response_is_as_described(operation: Operation) -> None:
    world, (status, given) = World(), SUCCESSES[operation.id][0]
    headers = {"X-API-Key": api_key_of(world.actors["admin"]), "Idempotency-Key": "once"}
    request = given(world)._replace(who="", headers=headers)

    first, second = send(operation, request), send(operation, request)

    conforms(operation, status, second)
    assert "Idempotent-Replayed" not in first
    assert (second["Idempotent-Replayed"], second.content) == ("true", first.content)
    conforms(operation, 422, send(operation, request._replace(body={"something": "else"})))


@pytest.mark.parametrize(("operation", "status", "given"), cases(REFUSALS))
def test_error_response_is_as_described(operation: Operation, status: int, given: Given) -> None:
    world = World()

    for accept in ("application/json", "application/problem+json"):
        request = given(world)._replace(headers={"Accept": accept})
        conforms(operation, status, send(operation, request, world))


def trials(operation: Operation) -> list[tuple[int, Given]]:
    """Return what any resource may refuse: the request that succeeds first, spoilt in one point."""
    given = SUCCESSES[operation.id][0][1]

    def spoilt(**changes: Any) -> Given:
        return lambda world: given(world)._replace(**changes)

    rows = [
        (400, spoilt(headers={"Authorization": "Bearer x"})),
        (401, spoilt(who="", headers={"X-API-Key": "x"})),
        (406, spoilt(headers={"Accept": "text/html"})),
        (406, spoilt(headers={"Accept": "application/vnd.contentapi.v2+json"})),
        (400, spoilt(headers={"X-API-Version": "2"})),
    ]
    if "{" in operation.path:
        rows.append((404, spoilt(ids=NOBODY)))
    if operation.needs_a_credential:
        rows.append((401, spoilt(who="")))
    if "If-Match" in operation.parameters:
        rows.append((409, spoilt(headers={"If-Match": '"9-c0ffee"'})))
    if "requestBody" in operation.described:
        rows.append((400, spoilt(body=[])))
        rows.append((415, spoilt(body={}, headers={"Content-Type": "text/plain"})))
    return rows


@pytest.mark.parametrize(
    "operation", [found for found in OPERATIONS.values() if not found.is_document], ids=lambda found: found.id
)
def test_common_error_response_is_as_described(operation: Operation, settings: Settings) -> None:
    world = World()

    for status, given in trials(operation):
        conforms(operation, status, send(operation, given(world), world))

    request = SUCCESSES[operation.id][0][1](world)
    if "requestBody" in operation.described:
        settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_body=1)
        conforms(operation, 413, send(operation, request._replace(body={}), world))
    key = api_key_of(world.actors["admin"])
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE users_apikey RENAME TO lost")
    conforms(operation, 500, send(operation, request._replace(who="", headers={"X-API-Key": key}), world))


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda found: found.id)
def test_429_is_as_described(operation: Operation, settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_rate_anonymous="1/hour")
    send(operation, Request(NOBODY, who=""))

    conforms(operation, 429, send(operation, Request(NOBODY, who="")))
