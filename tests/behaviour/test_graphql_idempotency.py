"""Idempotency-Key on GraphQL operations with a mutation."""

from hashlib import sha256
from typing import Any

import msgspec
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from blog.models import Post
from contentapi.core.identity import Role
from contentapi.db.statements import execute
from contentapi.models import IdempotencyRecord
from orders.models import Order
from tests.blog.racing import race
from tests.conftest import make_api_key
from tests.contentapi.http.idempotent_requests import NEW, REPLAYED, send_operation, send_post
from tests.factories import make_actor, make_order, make_post
from tests.graphql_requests import post_to_graphql

CREATE = "mutation ($input: CreatePostInput!) { createPost(input: $input) { id title } }"
PAY = "mutation ($id: ID!) { payOrder(input: {id: $id}) { order { status } } }"
INPUT = {"input": NEW}


def create(title: str) -> str:
    return f'createPost(input: {{title: "{title}", body: "b"}}) {{ id title }}'


def test_repeated_operation_has_one_effect_and_the_same_response(key: str) -> None:
    first, again = [send_operation(CREATE, key, variables=INPUT) for _ in range(2)]

    assert (first.status, first.headers.get(REPLAYED)) == (200, None)
    assert (again.status, again.headers[REPLAYED], again.body) == (200, "true", first.body)
    assert again.headers["Content-Type"] == first.headers["Content-Type"]
    assert again.headers["RateLimit"] != first.headers["RateLimit"]
    assert Post.objects.count() == 1


@pytest.mark.parametrize("bad", ["", "a b", "x" * 256])
def test_query_ignores_a_key_and_a_mutation_refuses_an_invalid_one(key: str, bad: str) -> None:
    assert [send_operation("{ __typename }", key, name).headers.get(REPLAYED) for name in (bad, "x", "x")] == [None] * 3

    refused = send_operation(CREATE, key, bad, variables=INPUT)

    assert (refused.status, refused.codes, "data" in refused.body) == (400, ["BAD_REQUEST"], False)
    assert not IdempotencyRecord.objects.exists()


@pytest.mark.parametrize(
    ("query", "members"),
    [
        (CREATE, {"variables": {"input": {**NEW, "title": "Other"}}}),
        (CREATE.replace("id title", "id"), {"variables": INPUT}),
        (f"query Q {{ __typename }} {CREATE.replace('mutation', 'mutation M')}",
         {"variables": INPUT, "operationName": "M"}),
    ],
)  # fmt: skip
def test_key_of_another_operation_is_422(key: str, query: str, members: dict[str, Any]) -> None:
    send_operation(CREATE, key, variables=INPUT)

    refused = send_operation(query, key, **members)

    assert (refused.status, refused.codes, "data" in refused.body) == (422, ["INVALID"], False)
    assert "Idempotency-Key" in refused.body["errors"][0]["extensions"]["fields"]
    assert Post.objects.count() == 1


def test_transports_share_keys(key: str) -> None:
    send_operation(CREATE, key, variables=INPUT)

    assert send_post("/posts", NEW, key).error[:2] == (422, "INVALID")


def test_request_is_its_document_and_variables_without_extensions(key: str) -> None:
    persisted = {"persistedQuery": {"version": 1, "sha256Hash": sha256(CREATE.encode()).hexdigest()}}
    headers = {"X_API_Key": key, "Idempotency_Key": "one"}
    swapped = {"input": dict(reversed(NEW.items()))}

    responses = [
        send_operation(CREATE, key, variables=INPUT, extensions={**persisted, "cost": True}),
        post_to_graphql({"variables": swapped, "extensions": persisted}, **headers),
        send_operation(CREATE, key, variables={**INPUT, "unused": None}),
    ]

    assert [response.headers.get(REPLAYED) for response in responses] == [None, "true", None]
    assert [response.status for response in responses] == [200, 200, 422]
    assert responses[1].body == responses[0].body


def test_partial_success_is_stored_as_it_was(key: str) -> None:
    query = f"mutation {{ a: {create('A')} b: archivePost(id: 0) {{ id }} }}"

    first, again = [send_operation(query, key) for _ in range(2)]

    assert (first.status, list(first.body)) == (294, ["errors", "data"])
    assert first.body["data"]["a"]["title"] == "A"
    assert (first.body["data"]["b"], first.body["errors"][0]["path"]) == (None, ["b"])
    assert (again.status, again.body, again.headers[REPLAYED]) == (294, first.body, "true")
    assert Post.objects.filter(title="A").count() == 1


def test_invalid_variables_are_replayed(key: str) -> None:
    first, again = [send_operation(CREATE, key, variables={"input": {"title": 1}}) for _ in range(2)]

    assert (first.status, "data" in first.body) == (400, False)
    assert (again.status, again.body, again.headers[REPLAYED]) == (400, first.body, "true")


def test_server_error_ends_the_operation_and_leaves_nothing(key: str) -> None:
    post = make_post()
    comment = f'addComment(input: {{postId: {post.pk}, body: "b"}}) {{ id }}'
    query = f"mutation {{ a: {create('A')} b: {comment} c: {create('C')} }}"
    execute("ALTER TABLE blog_comment RENAME TO lost")

    failed = send_operation(query, key)

    assert (failed.status, failed.codes, failed.body["data"]) == (500, ["INTERNAL"], None)
    assert (Post.objects.count(), IdempotencyRecord.objects.count()) == (1, 0)
    execute("ALTER TABLE lost RENAME TO blog_comment")
    retried = send_operation(query, key)
    assert (list(retried.data), retried.headers.get(REPLAYED)) == (["a", "b", "c"], None)


def test_response_that_is_too_large_to_be_stored_is_refused(key: str, settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_body=1000)
    query = f'mutation {{ createPost(input: {{title: "A", body: "{"x" * 400}"}}) {{ a: body b: body c: body }} }}'

    first, again = [send_operation(query, key) for _ in range(2)]

    assert (first.status, first.codes, first.body["data"]) == (400, ["LIMIT_EXCEEDED"], None)
    assert "; at most 1000 is allowed (CONTENTAPI_MAX_BODY)." in first.body["errors"][0]["message"]
    assert (again.body, again.headers[REPLAYED]) == (first.body, "true")
    assert not Post.objects.exists()


def test_mutation_without_a_key_needs_no_transaction(key: str) -> None:
    send_post("/posts", NEW, key)  # creates the author profile
    body = {"query": CREATE, "variables": {"input": {**NEW, "title": "Another title"}}}

    with CaptureQueriesContext(connection) as queries:
        created = post_to_graphql(body, X_API_Key=key)

    assert created.data["createPost"]["title"] == "Another title"
    words = ("savepoint", "advisory", "idempotency", "set_config")
    assert not [query for query in queries if any(word in query["sql"].lower() for word in words)]
    assert IdempotencyRecord.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_operation_with_the_same_key_is_409() -> None:
    variables, credential = {"id": make_order().pk}, make_api_key(make_actor(Role.ADMIN))

    responses = race(
        lambda: Order.objects.select_for_update().get(pk=variables["id"]),
        lambda: send_operation(PAY, credential, variables=variables),
        lambda: send_operation(PAY, credential, variables=variables),
    )

    paid, waits = sorted(responses, key=lambda response: response.status)
    assert paid.data == {"payOrder": {"order": {"status": "paid"}}}
    assert (waits.status, waits.codes, "data" in waits.body) == (409, ["CONFLICT"], False)
    assert (waits.headers["Retry-After"], waits.headers.get(REPLAYED)) == ("1", None)
    assert send_operation(PAY, credential, variables=variables).headers[REPLAYED] == "true"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("directive", ["", "@atomic"])
def test_failed_commit_has_data_null_and_leaves_nothing(directive: str) -> None:
    """A deferred constraint fails at COMMIT."""
    credential = make_api_key(make_actor(Role.ADMIN))
    query = CREATE.replace(" {", f" {directive} {{", 1)
    refuse_posts_at_commit()

    failed = send_operation(query, credential, variables=INPUT)

    execute("DROP TRIGGER refuse ON blog_post")
    execute("DROP FUNCTION refuse_at_commit()")
    assert (failed.body["data"], failed.codes, failed.status) == (None, ["INTERNAL"], 500)
    assert list(failed.body["errors"][0]) == ["message", "extensions"]
    assert (Post.objects.count(), IdempotencyRecord.objects.count()) == (0, 0)
    assert send_operation(query, credential, variables=INPUT).data["createPost"]["title"] == NEW["title"]


def refuse_posts_at_commit() -> None:
    execute(
        "CREATE OR REPLACE FUNCTION refuse_at_commit() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'no'; END $$"
    )
    execute(
        "CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON blog_post DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION refuse_at_commit()"
    )
