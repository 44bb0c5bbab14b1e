"""Limits that a document meets before it is executed."""

from typing import Any

import msgspec
import pytest
from graphql import get_introspection_query, parse

from contentapi.graphql.documents import depths
from tests.conftest import GraphQL

pytestmark = pytest.mark.django_db

LIMIT = 12


def nested(depth: int) -> str:
    """Return fields of which the innermost stands `depth` deep: posts, author, posts, author, ..."""
    names = ["posts(limit: 1)" if level % 2 == 0 else "author" for level in range(depth - 1)]
    return " { ".join([*names, "id"]) + " }" * (depth - 1)


def test_a_document_as_deep_as_the_limit_is_answered(gql: GraphQL) -> None:
    assert gql(f"{{ {nested(LIMIT)} }}").data == {"posts": []}


@pytest.mark.parametrize(
    "document",
    [
        f"{{ {nested(LIMIT + 1)} }}",
        f"query ($no: Boolean = false) {{ posts @include(if: $no) {{ author {{ {nested(LIMIT - 1)} }} }} }}",
        "{ posts { ...P } } fragment P on Post { author { ...A } } "
        f"fragment A on Author {{ {nested(LIMIT - 1)} }}",
        f"fragment A on Author {{ {nested(LIMIT - 1)} }} fragment P on Post {{ author {{ ...A }} }} "
        "{ posts { ... on Post { ...P } } }",
        f"query Chosen {{ __typename }} query Other {{ {nested(LIMIT + 1)} }}",
    ],
    ids=["plain", "not included", "fragments after", "fragments before", "another operation"],
)
def test_a_deeper_document_is_refused_with_the_limit_and_what_was_counted(gql: GraphQL, document: str) -> None:
    answer = gql(document)

    assert answer.status == 400
    assert answer.codes == ["LIMIT_EXCEEDED"]
    assert answer.body["errors"][0]["message"] == (
        f"The query is {LIMIT + 1} fields deep; at most {LIMIT} are allowed (CONTENTAPI_MAX_DEPTH)."
    )
    assert "data" not in answer.body


def spreading(width: int, depth: int) -> str:
    """Return fragments of which each holds the next under `width` aliases."""
    fragments = []
    for level in range(depth):
        kind, field = [("Post", "author"), ("Author", "posts(limit: 1)")][level % 2]
        inner = f"...F{level + 1}" if level < depth - 1 else "id"
        fields = " ".join(f"a{alias}: {field} {{ {inner} }}" for alias in range(width))
        fragments.append(f"fragment F{level} on {kind} {{ {fields} }}")
    return "{ posts(limit: 1) { ...F0 } } " + " ".join(fragments)


def test_a_short_document_that_spreads_out_to_very_many_fields_is_refused(gql: GraphQL) -> None:
    answer = gql(spreading(width=9, depth=4))

    assert (answer.status, answer.codes) == (400, ["LIMIT_EXCEEDED"])
    assert answer.body["errors"][0]["message"] == (
        "The query selects more than the 5000 fields that are allowed (CONTENTAPI_MAX_FIELDS)."
    )


def test_as_many_fields_as_the_limit_says_are_answered_and_no_more(gql: GraphQL, settings: Any) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_fields=4)

    assert gql("{ a: posts { id tags } b: posts { title body } }").data == {"a": [], "b": []}
    assert gql("{ a: posts { id body } b: posts { title tags version } }").codes == ["LIMIT_EXCEEDED"]


def test_a_document_that_spreads_out_within_the_limit_is_answered(gql: GraphQL) -> None:
    assert gql(spreading(width=5, depth=4)).data == {"posts": []}


def test_a_chain_of_hundreds_of_fragments_is_refused(gql: GraphQL) -> None:
    links = [f"fragment F{number} on Author {{ posts {{ author {{ ...F{number + 1} }} }} }}" for number in range(150)]
    document = "{ posts { author { ...F0 } } } " + " ".join(links) + " fragment F150 on Author { id }"

    answer = gql(document)

    assert (answer.status, answer.codes) == (400, ["LIMIT_EXCEEDED"])


def test_fragments_that_double_are_measured_once_each() -> None:
    doubling = [
        f"fragment F{number} on Q {{ a {{ ...F{number + 1} }} b {{ ...F{number + 1} }} }}" for number in range(60)
    ]

    measured = depths(parse("{ ...F0 } " + " ".join(doubling) + " fragment F60 on Q { c }"))

    assert measured == (61, 0)


def test_the_whole_schema_can_be_asked_for(gql: GraphQL) -> None:
    assert gql(get_introspection_query()).data["__schema"]["queryType"]["name"] == "Query"


def test_introspection_has_a_depth_of_its_own(gql: GraphQL) -> None:
    document = "{ __schema { types { fields { type { " + "ofType { " * 12 + "name" + " }" * 12 + " } } } } }"

    answer = gql(document)

    assert (answer.status, answer.codes) == (400, ["LIMIT_EXCEEDED"])
    assert answer.body["errors"][0]["message"] == "Introspection is 17 fields deep; at most 15 are allowed."


def test_a_document_over_the_token_limit_is_refused(gql: GraphQL) -> None:
    answer = gql("{ " + "a " * 2000 + "}")

    assert (answer.status, answer.codes) == (400, ["LIMIT_EXCEEDED"])
    assert answer.body["errors"][0]["message"] == (
        "The query has more tokens or comments than the 2000 that are allowed (CONTENTAPI_MAX_TOKENS)."
    )


def test_a_document_with_too_many_comments_is_refused_likewise(gql: GraphQL) -> None:
    answer = gql("#\n" * 2001 + "{ __typename }")

    assert (answer.status, answer.codes) == (400, ["LIMIT_EXCEEDED"])


def test_a_short_document_that_cannot_be_parsed_is_no_matter_of_limits(gql: GraphQL) -> None:
    answer = gql("{ posts( # }")

    assert (answer.status, answer.codes) == (400, ["GRAPHQL_PARSE_FAILED"])


def test_a_document_over_the_length_limit_is_refused(gql: GraphQL) -> None:
    answer = gql("{ __typename } #" + "ü" * 16 * 1024)

    assert (answer.status, answer.codes) == (400, ["LIMIT_EXCEEDED"])
    assert answer.body["errors"][0]["message"] == (
        "The query has 32784 bytes; at most 32768 are allowed (CONTENTAPI_MAX_QUERY_LENGTH)."
    )
