"""Subscriptions: their operations, their sources, and the cursor that equal ones may differ in."""

from typing import Any

import pytest

from contentapi.core.errors import Malformed
from contentapi.core.identity import ANONYMOUS
from contentapi.events.feed import LogSubscription, ObjectSubscription
from contentapi.graphql.documents import DocumentRejected
from contentapi.graphql.subscriptions import Subscription, get_subscription
from contentapi.schema import SCHEMA
from tests.conftest import GraphQL

NAMED = "subscription ($from: String, $types: [String!]) { events(after: $from, types: $types) { type } }"


def subscribe(text: str, **variables: Any) -> Subscription:
    return Subscription(get_subscription(SCHEMA, text, None), variables, ANONYMOUS)


def test_source_has_the_arguments_of_the_field() -> None:
    subscription = subscribe(NAMED, **{"from": "e-1", "types": ["post.deleted"]})

    assert subscription.follow() == LogSubscription("e-1", frozenset({"post.deleted"}), None)


def test_object_is_followed_by_its_id() -> None:
    assert subscribe('subscription { post(id: "7") { title } }').follow() == ObjectSubscription(7)


@pytest.mark.parametrize("text", ["{ posts { id } }", 'mutation { deletePost(id: "1") { deletedId } }'])
def test_streams_refuse_queries_and_mutations(text: str) -> None:
    with pytest.raises((Malformed, DocumentRejected)) as refusal:
        get_subscription(SCHEMA, text, None)

    assert isinstance(refusal.value, Malformed) or text.startswith("mutation")


def test_type_that_does_not_exist_is_an_error_of_the_field() -> None:
    with pytest.raises(DocumentRejected) as refusal:
        subscribe('subscription { events(types: ["post.eaten"]) { type } }').follow()

    (error,) = refusal.value.errors
    assert error.path == ["events"]
    assert "post.eaten" in error.message


@pytest.mark.parametrize(
    "text",
    [
        "subscription { events @skip(if: true) { type } }",
        'subscription { events { type } post(id: "1") { id } }',
        "subscription { __typename }",
    ],
)
def test_subscription_without_exactly_one_field_is_rejected(text: str) -> None:
    with pytest.raises(DocumentRejected):
        subscribe(text)


def test_wrong_variable_is_rejected() -> None:
    with pytest.raises(DocumentRejected):
        subscribe(NAMED, types="post.*", **{"from": 7})


@pytest.mark.parametrize("cursor", ["e-1", "e-2", None])
def test_subscriptions_that_resume_elsewhere_are_equal(cursor: str | None) -> None:
    subscription = subscribe(NAMED, **{"from": cursor, "types": ["post.*"]})

    assert subscription.replace_cursor("after") == {"from": "now", "types": ["post.*"]}


def test_variable_with_another_use_stays() -> None:
    text = "subscription ($x: String) { events(after: $x) { type } events(after: $x) { cursor } }"

    assert subscribe(text, x="e-1").replace_cursor("after") == {"x": "now"}
    assert subscribe(f"{text} # $x", x="e-1").replace_cursor("after") == {"x": "e-1"}


@pytest.mark.django_db
def test_server_of_the_api_executes_no_subscription(gql: GraphQL) -> None:
    for _ in range(2):  # also when the document is cached
        response = gql("subscription { events { type } }")
        assert response.status == 400
        assert "CONTENTAPI_STREAM_URL" in response.body["errors"][0]["message"]
