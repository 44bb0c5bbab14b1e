"""gql, with its three HTTP transports."""

import asyncio
import os
import sys

from gql import Client, gql
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.exceptions import TransportQueryError
from gql.transport.httpx import HTTPXAsyncTransport, HTTPXTransport
from gql.transport.requests import RequestsHTTPTransport

sys.path.insert(0, "..")
from prove import prove

URL, KEY = os.environ["GRAPHQL_URL"], os.environ["API_KEY"]
PAGE = """
query Page($after: String) {
  postsConnection(first: 3, after: $after, filter: {status: published}) {
    edges { node { id title author { name } } }
    pageInfo { hasNextPage endCursor }
  }
}
"""
CREATE = "mutation ($input: CreatePostInput!) { createPost(input: $input) { id title createdAt } }"
DELETE = "mutation ($id: ID!) { deletePost(id: $id) }"
INVALID = {"input": {"title": "", "body": "Text"}}


def walk(client: Client) -> list[str]:
    ids, after, more = [], None, True
    while more:
        page = client.execute(gql(PAGE), variable_values={"after": after})["postsConnection"]
        ids += [edge["node"]["id"] for edge in page["edges"]]
        after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
    return ids


def get_error(client: Client, document: str, variables: dict | None = None) -> dict:
    try:
        client.execute(gql(document), variable_values=variables)
    except TransportQueryError as error:
        return error.errors[0]["extensions"]
    raise AssertionError("There was no error.")


def use(transport: type, headers: dict[str, str]) -> None:
    anonymous = Client(transport=transport(url=URL), fetch_schema_from_transport=True)
    ids = walk(anonymous)
    assert len(ids) >= 6
    assert len(set(ids)) == len(ids)
    client = Client(transport=transport(url=URL, headers=headers))
    post = client.execute(gql(CREATE), variable_values={"input": {"title": "By gql", "body": "Text"}})["createPost"]
    assert post["title"] == "By gql"
    assert client.execute(gql(DELETE), variable_values={"id": post["id"]}) == {"deletePost": post["id"]}
    assert get_error(client, CREATE, INVALID)["code"] == "INVALID"
    assert get_error(Client(transport=transport(url=URL)), CREATE, INVALID)["code"] == "UNAUTHENTICATED"
    assert (
        get_error(Client(transport=transport(url=URL)), "{ posts { unknown } }")["code"] == "GRAPHQL_VALIDATION_FAILED"
    )


with prove(
    "RequestsHTTPTransport and HTTPXTransport: fetch the schema, follow cursors, create a post, get codes of errors"
):
    for each in (RequestsHTTPTransport, HTTPXTransport):
        use(each, {"X-API-Key": KEY})


async def use_async(transport: type) -> None:
    async with Client(
        transport=transport(url=URL, headers={"X-API-Key": KEY}), fetch_schema_from_transport=True
    ) as session:
        page = await session.execute(gql(PAGE))
        assert len(page["postsConnection"]["edges"]) == 3
        first, second = await asyncio.gather(session.execute(gql(PAGE)), session.execute(gql("{ viewer { role } }")))
        assert first == page
        assert second == {"viewer": {"role": "admin"}}
        try:
            await session.execute(gql(CREATE), variable_values=INVALID)
        except TransportQueryError as error:
            assert error.errors[0]["extensions"]["code"] == "INVALID"
        else:
            raise AssertionError("There was no error.")


with prove("AIOHTTPTransport and HTTPXAsyncTransport: the same, with concurrent queries in a session"):
    for each in (AIOHTTPTransport, HTTPXAsyncTransport):
        asyncio.run(use_async(each))
