"""Invalid bodies: each is 400 with a reason, and without an entry `data`."""

import gzip
import json
from typing import Any

import pytest
from django.test import Client

from tests.behaviour.graphql_bodies import BODY, build_body
from tests.graphql_requests import PostToGraphQL, build_error_entry


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "Input data was truncated."),
        (b"query { __typename }", "JSON is malformed: invalid character (byte 0)."),
        (b'{"query": "{ __typename }"} more', "JSON is malformed: trailing characters (byte 29)."),
        (b"[{", "Expected `object`, got `array`."),
        (b'{"query": 1}', "Expected `str`, got `int` - at `$.query`."),
        (b'{"query": "{a}", "variables": []}', "Expected `object | null`, got `array` - at `$.variables`."),
        (b'{"query": "{a}", "operationName": 1}', "Expected `str | null`, got `int` - at `$.operationName`."),
        (b'{"query": "{a}", "extensions": true}', "Expected `object | null`, got `bool` - at `$.extensions`."),
        (b'{"query": "{a}", "variables": ' + b'{"a":' * 100_000, "it is nested too deeply."),
        (b'{"query": "{ absent }", "query": "{ __typename }"}', "Object contains field `query` twice."),
        (build_body('{"b": [{"c": 1, "c": 1}]}'), "Object contains field `c` twice."),
        (
            b'{"query": "{ __typename }", "ignored": {"' + b"a" * 90 + b'": 1, "' + b"a" * 90 + b'": 2}}',
            f"Object contains field `{'a' * 50}` twice.",
        ),
        (b'{"query": "{a}", "ignored": ' + b"[" * 100_000, "it is nested too deeply."),
        (build_body("NaN"), "JSON is malformed: invalid character (byte 75)."),
        (build_body("-1e999"), "Number out of range - at `$.variables[...]`."),
        (build_body("1" * 5000), "Integer value out of range - at `$.variables[...]`."),
        (build_body(r'"\udc00\ud800"'), "JSON is malformed: invalid utf-16 surrogate pair (byte 82)."),
    ],
    ids=lambda value: value[:40].decode() if isinstance(value, bytes) else "",
)
def test_invalid_body_is_400_with_the_reason(post: PostToGraphQL, body: bytes, reason: str) -> None:
    response = post(body)

    error = build_error_entry(response, "BAD_REQUEST", 400, BODY + reason)
    assert (response.status, response.body) == (400, {"errors": [error]})


@pytest.mark.parametrize(
    "body", [b"{}", b'{"variables": {}}', b'{"extensions": {}}', b'{"documentId": null}', b'{"id": "Latest"}']
)
def test_body_without_a_document_is_400(post: PostToGraphQL, body: bytes) -> None:
    response = post(body)

    message = "The request has no query. Send query, documentId or extensions.persistedQuery."
    error = build_error_entry(response, "BAD_REQUEST", 400, message)
    assert (response.status, response.body) == (400, {"errors": [error]})


@pytest.mark.parametrize(
    ("body", "length"),
    [
        (b"[]", 1),
        (b' [{"query": "{ __typename }"}, {"query": "{ __typename }"}]', 2),
        (b"[" + b"1," * 100_000 + b"1]", 10),
    ],
    ids=lambda value: value[:40].decode() if isinstance(value, bytes) else "",
)
def test_batch_is_refused_with_an_entry_for_each_request(client: Client, body: bytes, length: int) -> None:
    """A client of batches reads as many results as it sent requests."""
    response = client.generic("POST", "/graphql", body, content_type="application/json")

    [entry, *others] = json.loads(response.content)
    assert (response.status_code, len(others)) == (400, length - 1)
    assert all(other == entry for other in others)
    [error] = entry["errors"]
    assert error["message"] == "A batch of requests is not supported. Send one request as a JSON object."
    assert error["extensions"]["code"] == "BAD_REQUEST"


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"query": "{"}, "GRAPHQL_PARSE_FAILED", "Syntax Error: Expected Name, found <EOF>."),
        ({"query": "{ a \0 }"}, "GRAPHQL_PARSE_FAILED", "Syntax Error: Unexpected character: U+0000."),
        ({"query": "{ absent }"}, "GRAPHQL_VALIDATION_FAILED", "Cannot query field 'absent' on type 'Query'."),
        (
            {"query": "query A { __typename }", "operationName": "B"},
            "BAD_REQUEST",
            "Unknown operation named 'B'.",
        ),
        (
            {"query": "query A { __typename } query B { __typename }"},
            "BAD_REQUEST",
            "Must provide operation name if query contains multiple operations.",
        ),
        (
            {"query": "query ($a: ID!) { post(id: $a) { id } }"},
            "BAD_REQUEST",
            "Variable '$a' has invalid value: Expected a value of non-null type 'ID!' to be provided.",
        ),
        (
            {"query": "query ($a: ID!) { post(id: $a) { id } }", "variables": {"a": [1]}},
            "BAD_REQUEST",
            "Variable '$a' has invalid value: ID cannot represent value: [1]",
        ),
        (
            {"query": "query ($a: Int) { posts(limit: $a) { id } }", "variables": {"a": 2**31}},
            "BAD_REQUEST",
            "Variable '$a' has invalid value: Int cannot represent non 32-bit signed integer value: 2147483648",
        ),
        (
            {
                "query": "mutation ($a: CreatePostInput!) { createPost(input: $a) { id } }",
                "variables": {"a": {"title": "t", "body": "b", "publishAt": "yesterday"}},
            },
            "BAD_REQUEST",
            "Variable '$a' has invalid value at .publishAt: "
            "A DateTime is a string like 2026-11-21T09:30:00+00:00, with its offset from UTC.",
        ),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else "",
)
def test_request_error_has_a_message_and_no_data(
    post: PostToGraphQL, body: dict[str, Any], code: str, message: str
) -> None:
    response = post(body)

    errors = [(error["message"], error["extensions"]["code"]) for error in response.body["errors"]]
    assert (response.status, set(response.body), errors) == (400, {"errors"}, [(message, code)])


def test_ignored_numbers_may_have_any_length(post: PostToGraphQL) -> None:
    response = post(b'{"query": "{ __typename }", "ignored": [' + b"1" * 9000 + b", 1e999]}")

    assert response.data == {"__typename": "Query"}


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "identity, gzip", "x"])
def test_compressed_body_is_415(post: PostToGraphQL, encoding: str) -> None:
    response = post(gzip.compress(b'{"query": "{ __typename }"}'), Content_Encoding=encoding)

    error = build_error_entry(
        response, "UNSUPPORTED_MEDIA_TYPE", 415, "Content-Encoding is not supported. Send the body uncompressed."
    )
    assert (response.status, response.body) == (415, {"errors": [error]})
