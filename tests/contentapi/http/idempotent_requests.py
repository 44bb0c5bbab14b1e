"""Requests with an Idempotency-Key, for its tests."""

from functools import partial
from typing import Any

from tests.graphql_requests import GraphQLResponse, post_to_graphql
from tests.resources import RestResponse, send_request

NEW = {"title": "Hello", "body": "A first post."}
REPLAYED = "Idempotent-Replayed"


def send_with_key(
    method: str, path: str, body: Any, credential: str, idempotency_key: str = "one", **headers: Any
) -> RestResponse:
    return send_request(method, path, body, X_API_Key=credential, Idempotency_Key=idempotency_key, **headers)


send_post = partial(send_with_key, "POST")


def send_operation(
    query: str, credential: str, idempotency_key: str = "one", *, variables: Any = None, **members: Any
) -> GraphQLResponse:
    body = {"query": query, "variables": variables, **members}
    return post_to_graphql(body, X_API_Key=credential, Idempotency_Key=idempotency_key)
