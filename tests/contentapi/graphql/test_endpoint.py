"""Status, media types and methods of the endpoint (docs/decisions/0001 and 0014)."""

import pytest
from django.test import Client

from contentapi.graphql.endpoint import negotiate_media_type
from tests.conftest import GraphQL
from tests.factories import make_post
from tests.graphql_requests import GraphQLResponse, PostToGraphQL, build_error_entry

JSON = "application/json; charset=utf-8"
GRAPHQL = "application/graphql-response+json; charset=utf-8"
METHODS = "GET, HEAD, POST, OPTIONS"
HELLO = {"query": "{ __typename }"}
BAD_LIMIT = "limit must be from 1 to 100 (CONTENTAPI_MAX_PAGE), and is 0."


def test_response_without_errors_is_200(gql: GraphQL) -> None:
    response = gql("{ a: __typename post(id: 1) { title } }")

    assert (response.status, response.body) == (200, {"data": {"a": "Query", "post": None}})


def test_data_with_errors_is_294(gql: GraphQL) -> None:
    post = make_post(title="Soup")

    response = gql(
        "query ($id: ID!) { a: post(id: $id) { title } b: post(id: $id) { comments(limit: 0) { id } } }", id=post.pk
    )

    error = build_error_entry(
        response, "BAD_REQUEST", 400, BAD_LIMIT, path=["b", "comments"], locations=[{"line": 1, "column": 66}]
    )
    assert (response.status, response.body) == (294, {"errors": [error], "data": {"a": {"title": "Soup"}, "b": None}})


def test_null_data_after_execution_has_the_status_of_the_error(gql: GraphQL) -> None:
    response = gql("{ __typename posts(limit: 0) { id } }")

    error = build_error_entry(
        response, "BAD_REQUEST", 400, BAD_LIMIT, path=["posts"], locations=[{"line": 1, "column": 14}]
    )
    assert (response.status, response.body) == (400, {"errors": [error], "data": None})


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "BREW"])
def test_other_method_is_405_with_allow(client: Client, method: str) -> None:
    response = GraphQLResponse(client.generic(method, "/graphql?query={__typename}"))

    message = f"{method} is not allowed here; allowed: {METHODS}."
    assert (response.status, response.headers["Allow"], response.headers["Content-Type"]) == (405, METHODS, JSON)
    assert response.body == {"errors": [build_error_entry(response, "METHOD_NOT_ALLOWED", 405, message)]}


@pytest.mark.django_db
def test_options_is_204_with_allow(client: Client) -> None:
    response = client.options("/graphql")

    assert (response.status_code, response.content, response.headers["Allow"]) == (204, b"", METHODS)
    assert "Content-Type" not in response.headers


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("*/*", JSON),
        ("application/*", JSON),
        ("application/json", JSON),
        ("APPLICATION/JSON", JSON),
        ("text/html, */*;q=0.1", JSON),
        ("application/graphql-response+json", GRAPHQL),
        ("application/graphql-response+json, application/json;q=0.9", GRAPHQL),
        ("application/json;q=0.9, application/graphql-response+json", GRAPHQL),
        ("application/graphql-response+json;q=0.5, application/json", JSON),
        ("application/graphql-response+json;q=0.5, */*;q=0.4", GRAPHQL),
        ("application/graphql-response+json;q=0, application/json;q=0.1", JSON),
        ("application/json;q=0, */*", GRAPHQL),
        ("application/json; charset=utf-8", JSON),
        ("application/graphql-response+json; charset=utf-8, application/json; charset=utf-8", GRAPHQL),
    ],
)
def test_media_type_is_the_one_that_accept_prefers(accept: str, media_type: str) -> None:
    assert negotiate_media_type({"HTTP_ACCEPT": accept}) == media_type.partition(";")[0]


@pytest.mark.parametrize("text", ["{", "{ __typename }"])
def test_response_has_the_preferred_media_type(post: PostToGraphQL, text: str) -> None:
    assert post({"query": text}, Accept="application/graphql-response+json").headers["Content-Type"] == GRAPHQL


@pytest.mark.parametrize("accept", ["text/html", "image/*", "application/xml", "*/*;q=0", "application/json;q=0"])
def test_accept_may_allow_no_media_type(accept: str) -> None:
    assert negotiate_media_type({"HTTP_ACCEPT": accept}) is None


def test_no_acceptable_media_type_is_406(post: PostToGraphQL) -> None:
    response = post(HELLO, Accept="text/html")

    message = "The response is application/json or application/graphql-response+json; Accept allows neither."
    assert (response.status, response.headers["Content-Type"]) == (406, JSON)
    assert response.body == {"errors": [build_error_entry(response, "NOT_ACCEPTABLE", 406, message)]}


def test_body_of_another_media_type_is_415(post: PostToGraphQL) -> None:
    response = post(HELLO, "application/graphql")

    error = build_error_entry(response, "UNSUPPORTED_MEDIA_TYPE", 415, "Send the body as application/json in UTF-8.")
    assert (response.status, response.body) == (415, {"errors": [error]})


def test_invalid_content_length_is_not_a_server_error(db: None) -> None:  # noqa: ARG001
    client = Client(raise_request_exception=False)

    response = GraphQLResponse(
        client.generic("POST", "/graphql", b"{}", content_type="application/json", CONTENT_LENGTH="x")
    )

    assert (response.status, response.codes) == (400, ["BAD_REQUEST"])
