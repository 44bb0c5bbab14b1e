"""Limits and introspection settings that apply to a document before it is executed."""

from typing import Any

import msgspec
import pytest

from contentapi.graphql.documents import DOCUMENTS
from tests.conftest import GraphQL

pytestmark = pytest.mark.django_db


OF_POST = "id title body status createdAt updatedAt tags version publishAt commentCount"
OF_AUTHOR = "id name bio avatarUrl email"


def spreading(roots: int) -> str:
    """Return a document whose fragments expand to 256 fields for each root field, without aliases."""
    fragments = "".join(
        f"fragment P{level} on Post {{ {OF_POST} author {{ ...A{level} }} "
        f"comments(limit: 1) {{ author {{ ...A{level} }} }} }}"
        f"fragment A{level} on Author {{ {OF_AUTHOR} posts(limit: 1) {{ ...P{level + 1} }} }}"
        for level in range(3)
    )
    fields = " ".join(f"a{root}: posts(limit: 1) {{ ...P0 }}" for root in range(roots))
    return f"{{ {fields} }} {fragments} fragment P3 on Post {{ {OF_POST} }}"


def test_short_document_that_expands_to_many_fields_is_rejected(gql: GraphQL, settings: Any) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_fields=500)

    response = gql(spreading(roots=20))

    assert (response.status, response.codes) == (400, ["LIMIT_EXCEEDED"])
    assert response.body["errors"][0]["message"] == (
        "The query's number of fields is 501 or more; at most 500 is allowed (CONTENTAPI_MAX_FIELDS)."
    )


def test_fields_at_the_limit_pass_and_one_more_is_rejected(gql: GraphQL, settings: Any) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_fields=4)

    assert gql("{ a: posts { id tags } b: posts { title body } }").data == {"a": [], "b": []}
    assert gql("{ a: posts { id body } b: posts { title tags version } }").codes == ["LIMIT_EXCEEDED"]


def test_document_that_expands_within_the_limit_passes(gql: GraphQL) -> None:
    assert gql(spreading(roots=2)).data == {"a0": [], "a1": []}


@pytest.fixture
def without_introspection(settings: Any) -> None:
    DOCUMENTS.clear()
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_introspection="off")


@pytest.mark.parametrize("document", ["{ __schema { description } }", '{ __type(name: "Post") { name } }'])
@pytest.mark.usefixtures("without_introspection")
def test_introspection_is_rejected_when_it_is_off(gql: GraphQL, document: str) -> None:
    response = gql(document)

    assert (response.status, response.codes) == (400, ["GRAPHQL_VALIDATION_FAILED"])


@pytest.mark.usefixtures("without_introspection")
def test_typename_is_available_when_introspection_is_off(gql: GraphQL) -> None:
    assert gql("{ __typename }").data == {"__typename": "Query"}


MISTAKES: list[tuple[str, dict[str, Any]]] = [
    ("{ pots { id } }", {}),
    ("{ posts(limt: 1) { id } }", {}),
    ("{ posts(status: publishd) { id } }", {}),
    ("{ ... on Qury { __typename } }", {}),
    ("mutation { createPost(input: {titl: 1}) { id } }", {}),
    ("query ($s: PostStatus) { posts(status: $s) { id } }", {"s": "publishd"}),
    ("mutation ($i: CreatePostInput!) { createPost(input: $i) { id } }", {"i": {"title": "", "body": "", "tag": []}}),
]


@pytest.mark.parametrize(("document", "variables"), MISTAKES)
def test_error_contains_a_suggestion(gql: GraphQL, document: str, variables: dict[str, Any]) -> None:
    assert "Did you mean" in str(gql(document, **variables).body["errors"])


@pytest.mark.parametrize(("document", "variables"), MISTAKES)
@pytest.mark.usefixtures("without_introspection")
def test_error_has_no_suggestion_when_introspection_is_off(
    gql: GraphQL, document: str, variables: dict[str, Any]
) -> None:
    response = gql(document, **variables)

    assert response.status == 400
    assert "Did you mean" not in str(response.body["errors"])
