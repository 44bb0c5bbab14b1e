"""Bodies with texts that are not UTF-8 or cannot be stored, and arbitrary bodies, none of which causes a 500."""

import json
import re
from typing import Any

import pytest
from django.test import Client
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.behaviour.graphql_bodies import build_body
from tests.graphql_requests import GraphQLResponse, PostToGraphQL, build_error_entry, post_to_graphql
from tests.thoroughness import scale_examples

STORABLE = "Text must not contain the NUL character or lone surrogates."
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
QUERIES = [
    "{ __typename }",
    "query ($a: ID!) { post(id: $a) { title } }",
    "query ($a: Int, $b: PostStatus) { posts(limit: $a, status: $b) { id } }",
    "query A { __typename } query B { __typename }",
    "mutation ($a: CreatePostInput!) { createPost(input: $a) { id } }",
]
INPUT = {"title": JSON, "body": JSON, "tags": JSON, "authorId": JSON, "status": JSON, "publishAt": JSON}


@pytest.mark.parametrize(
    "body",
    [
        b'{"query": "\xff"}',
        build_body('"').replace(b'"a": "', b'"a": "\xed\xa0\x80"'),
        b'{"query": "{ __typename }", "ignored": "\xff"}',
        b'{"query": "{ __typename }", "\xff": 1}',
        json.dumps({"query": "{ __typename }"}).encode("utf-16"),
        build_body(r'"\ud800"'),
        build_body(r'"\udfff and more text"'),
        b" ",
    ],
)
def test_body_that_is_not_unicode_is_400(post: PostToGraphQL, body: bytes) -> None:
    response = post(body)

    assert (response.status, response.codes, set(response.body)) == (400, ["BAD_REQUEST"], {"errors"})


@pytest.mark.parametrize("variables", [{"a": "\0"}, {"a": {"b": ["x\0y"]}}, {"\0": 1}, {"a": [{"\0": 1}]}])
def test_nul_in_variables_is_400(post: PostToGraphQL, variables: dict[str, Any]) -> None:
    response = post({"query": "{ __typename }", "variables": variables})

    assert (response.status, response.body) == (
        400,
        {"errors": [build_error_entry(response, "BAD_REQUEST", 400, STORABLE)]},
    )


@pytest.mark.parametrize(
    ("literal", "code"),
    [
        (r'"\u0000"', "GRAPHQL_VALIDATION_FAILED"),
        (r'"\u{0}"', "GRAPHQL_VALIDATION_FAILED"),
        ('"\0"', "GRAPHQL_VALIDATION_FAILED"),
        ('"""\0"""', "GRAPHQL_VALIDATION_FAILED"),
        (r'"\ud800"', "GRAPHQL_PARSE_FAILED"),
        (r'"\u{dfff}"', "GRAPHQL_PARSE_FAILED"),
        (r'"\udc00\ud800"', "GRAPHQL_PARSE_FAILED"),
    ],
)
@pytest.mark.parametrize("query", ["{ post(id: LITERAL) { id } }", "query ($a: ID = LITERAL) { post(id: $a) { id } }"])
def test_literal_that_cannot_be_stored_is_rejected(post: PostToGraphQL, query: str, literal: str, code: str) -> None:
    response = post({"query": query.replace("LITERAL", literal).replace("ID =", "ID! =")})

    assert (response.status, response.codes, set(response.body)) == (400, [code], {"errors"})


def corrupt(body: bytes, place: float, inserted: bytes, removed: int) -> bytes:
    at = int(len(body) * place)
    return body[:at] + inserted + body[at + removed :]


@pytest.mark.property
@settings(max_examples=scale_examples(1000), deadline=None)
@given(
    st.binary()
    | JSON.map(lambda value: json.dumps(value).encode())
    | st.builds(
        corrupt,
        st.sampled_from([build_body('"é"'), build_body('{"b": [1.5e3, null]}'), b'{"query": "{ a(b: 1) }"}']),
        st.floats(0, 1),
        st.binary(max_size=3) | st.sampled_from([b'"', b"\\ud800", b"\0", b"\xff", b"NaN", b"1e999", b"[" * 2000]),
        st.integers(0, 4),
    )
)
def test_no_body_causes_a_500(body: bytes) -> None:
    assume(b"__typename" not in body)  # hypothesis also tries literals of our code, and one is a valid request
    client = Client(raise_request_exception=False)

    response = GraphQLResponse(client.generic("POST", "/graphql", body or b" ", content_type="application/json"))

    entries: Any = response.body
    if isinstance(entries, list):  # to a batch
        response.body = entries[0]
    if response.status != 200:
        assert (response.status, set(response.body)) == (400, {"errors"})
        assert set(response.codes) <= {
            "BAD_REQUEST",
            "LIMIT_EXCEEDED",
            "GRAPHQL_PARSE_FAILED",
            "GRAPHQL_VALIDATION_FAILED",
        }
        found = re.findall(r"Traceback|Error\b(?<!Syntax Error)|codec|\.py", response.body["errors"][0]["message"])
        assert not [leak for leak in found if leak.encode() not in body]


@pytest.mark.property
@settings(max_examples=scale_examples(1000), deadline=None)
@given(
    st.sampled_from(QUERIES),
    JSON | st.fixed_dictionaries({"a": JSON, "b": JSON}) | st.builds(dict, a=st.fixed_dictionaries({}, optional=INPUT)),
)
def test_no_variables_cause_a_500(query: str, variables: Any) -> None:
    response = post_to_graphql({"query": query, "variables": variables})

    assert response.status in (200, 294, 400, 401)
