"""Queries by GET (docs/decisions/0014-graphql-over-http.md)."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from contentapi.core.errors import Malformed
from contentapi.core.identity import Role
from contentapi.graphql.requests import read_query_string
from tests.conftest import make_api_key
from tests.factories import make_actor, make_post
from tests.graphql_requests import GraphQLResponse, build_error_entry

GRAPHQL = "application/graphql-response+json"
VARY = {"Accept", "X-API-Key", "Authorization"}


def get_query(parameters: Mapping[str, str], **headers: str) -> GraphQLResponse:
    """Send a query by GET. Header names have underscores."""
    return GraphQLResponse(get(parameters, **headers))


def get(parameters: Mapping[str, str], **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Client(raise_request_exception=False).get(f"/graphql?{urlencode(parameters)}", headers=named)


@pytest.mark.django_db
def test_query_has_variables_an_operation_name_and_extensions() -> None:
    post = make_post(title="Soup & salad + 100 %")
    document = "query A($id: ID!) { post(id: $id) { title } } query B { __typename }"

    response = get_query(
        {
            "query": document,
            "variables": json.dumps({"id": str(post.pk)}),
            "operationName": "A",
            "extensions": json.dumps({"cost": True}),
            "ignored": "1",
        }
    )

    assert response.status == 200
    assert response.body == {"data": {"post": {"title": "Soup & salad + 100 %"}}, "extensions": {"cost": 1}}


@pytest.mark.django_db
@pytest.mark.parametrize("empty", ["variables", "extensions", "operationName", "documentId"])
def test_empty_parameter_counts_as_absent(empty: str) -> None:
    assert get_query({"query": "{ __typename }", empty: ""}).data == {"__typename": "Query"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query_string", "message"),
    [
        ("", "The request has no query. Send query, documentId or extensions.persistedQuery."),
        ("variables={}", "The request has no query. Send query, documentId or extensions.persistedQuery."),
        ("query={__typename}&query={a}", "The query parameter query is given twice."),
        ("query=%FF", "The query string must be UTF-8."),
        ("query={__typename}&variables=[]", "Invalid variables: Expected `object | null`, got `array`."),
        ("query={__typename}&variables={", "Invalid variables: Input data was truncated."),
        ("query={__typename}&extensions=1", "Invalid extensions: Expected `object | null`, got `int`."),
        ("query={__typename}&variables=%7B%22a%22:1,%22a%22:2%7D",
         "Invalid variables: Object contains field `a` twice."),
        ("query={__typename}&variables=%7B%22a%22:%22%5Cu0000%22%7D",
         "Text must not contain the NUL character or lone surrogates."),
        ("&".join(f"p{number}=1" for number in range(101)), "The query string has more than 100 parameters."),
    ],
)  # fmt: skip
def test_invalid_parameter_is_400_with_the_reason(client: Client, query_string: str, message: str) -> None:
    response = GraphQLResponse(client.get(f"/graphql?{query_string}"))

    error = build_error_entry(response, "BAD_REQUEST", 400, message)
    assert (response.status, response.body) == (400, {"errors": [error]})


@given(title=st.text(st.characters(exclude_characters="&+%", exclude_categories=["Cs"])))
def test_characters_need_no_percent_encoding(title: str) -> None:
    as_wsgi_has_it = f"query={title}".encode().decode("latin-1")

    assert read_query_string({"QUERY_STRING": as_wsgi_has_it}).query == title


@pytest.mark.parametrize("query_string", ["query=\xff", "query=\u4e2d"])
def test_bytes_that_are_not_utf8_are_refused(query_string: str) -> None:
    with pytest.raises(Malformed, match="must be UTF-8"):
        read_query_string({"QUERY_STRING": query_string})


@given(query_string=st.text(st.characters(max_codepoint=255)))
def test_every_query_string_is_read_or_malformed(query_string: str) -> None:
    with suppress(Malformed):
        read_query_string({"QUERY_STRING": query_string})


@pytest.mark.django_db
@pytest.mark.parametrize("document", ["mutation { deletePost(id: 1) }", "mutation { __typename }"])
@pytest.mark.parametrize("role", [None, Role.ADMIN])
def test_mutation_by_get_is_405_and_changes_nothing(document: str, role: Role | None) -> None:
    post = make_post()
    headers = {"X_API_Key": make_api_key(make_actor(role))} if role else {}

    response = get_query({"query": document.replace("1", str(post.pk))}, **headers)

    error = build_error_entry(response, "METHOD_NOT_ALLOWED", 405, "Send a mutation by POST.")
    assert (response.status, response.body) == (405, {"errors": [error]})
    assert response.headers["Allow"] == "GET, HEAD, POST, OPTIONS"
    post.refresh_from_db()


@pytest.mark.django_db
def test_document_with_a_mutation_may_be_sent_for_its_query() -> None:
    document = "query A { __typename } mutation B { deletePost(id: 1) }"

    assert get_query({"query": document, "operationName": "A"}).data == {"__typename": "Query"}


@pytest.mark.django_db
def test_response_to_an_anonymous_query_can_be_revalidated() -> None:
    make_post(title="Soup")
    parameters = {"query": "{ posts { title } }"}
    first = get(parameters)
    tag = first.headers["ETag"]

    second = get(parameters, If_None_Match=f'"other", W/{tag}')
    make_post(title="Salad")
    third = get(parameters, If_None_Match=tag)

    assert (first.headers["Cache-Control"], first.status_code) == ("no-cache", 200)
    assert set(first.headers["Vary"].split(", ")) >= VARY
    assert (second.status_code, second.content, second.headers["ETag"]) == (304, b"", tag)
    assert "Content-Type" not in second.headers
    assert (third.status_code, third.headers["ETag"] != tag) == (200, True)


@pytest.mark.django_db
def test_response_to_an_authenticated_query_is_not_stored() -> None:
    key = make_api_key(make_actor(Role.READER))

    response = get({"query": "{ viewer { role } }"}, X_API_Key=key, If_None_Match="*")

    assert (response.status_code, response.headers["Cache-Control"]) == (200, "no-store")
    assert "ETag" not in response.headers
    assert set(response.headers["Vary"].split(", ")) >= VARY


@pytest.mark.django_db
@pytest.mark.parametrize("document", ["{", "{ nothing }", "{ posts(limit: 0) { id } }"])
def test_response_with_errors_is_not_stored(document: str) -> None:
    response = get({"query": document}, If_None_Match="*")

    assert (response.status_code, response.headers["Cache-Control"]) == (400, "no-store")
    assert "ETag" not in response.headers


@pytest.mark.django_db
def test_head_is_a_get_without_the_body(client: Client) -> None:
    address = f"/graphql?{urlencode({'query': '{ __typename }'})}"
    of_get, of_head = client.get(address), client.head(address)

    assert (of_head.status_code, of_head.content) == (200, b"")
    for name in ("Content-Type", "Content-Length", "ETag"):
        assert of_head.headers[name] == of_get.headers[name]


@pytest.mark.django_db
@pytest.mark.parametrize("accept", ["text/event-stream", "text/event-stream, text/html;q=0"])
def test_request_for_events_is_400_with_the_reason(client: Client, accept: str) -> None:
    message = (
        "Streams and subscriptions are sent by the server of CONTENTAPI_STREAM_URL, which this request did not reach."
        " For queries and mutations, accept application/json."
    )
    body = {"query": "subscription { posts { id } }"}
    by_post = GraphQLResponse(
        client.post("/graphql", body, content_type="application/json", headers={"Accept": accept})
    )
    by_get = get_query(body, Accept=accept)

    for response in (by_post, by_get):
        assert (response.status, response.headers["Content-Type"]) == (400, "application/json; charset=utf-8")
        assert response.body == {"errors": [build_error_entry(response, "BAD_REQUEST", 400, message)]}
