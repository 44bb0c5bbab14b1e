"""Queries of connections, for their tests."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.conftest import GraphQL
from tests.graphql_requests import GraphQLResponse

START = datetime(2026, 1, 1, tzinfo=UTC)
ARGUMENTS = "first: $first, after: $after, last: $last, before: $before, orderBy: $order"
AROUND = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount"
POSTS = f"""
query ($first: Int, $after: String, $last: Int, $before: String, $order: PostOrder, $filter: PostFilter) {{
  postsConnection({ARGUMENTS}, filter: $filter) {{ edges {{ cursor node {{ id }} }} {AROUND} }}
}}
"""
COMMENTS = f"""
query ($id: ID!, $first: Int, $after: String, $last: Int, $before: String, $order: CommentOrder) {{
  post(id: $id) {{ commentsConnection({ARGUMENTS}) {{ edges {{ cursor node {{ id }} }} {AROUND} }} }}
}}
"""


def get_time(hour: int) -> datetime:
    return START + timedelta(hours=hour)


def get_ids(connection: dict[str, Any]) -> list[int]:
    return [int(edge["node"]["id"]) for edge in connection["edges"]]


def query_posts(gql: GraphQL, **variables: Any) -> dict[str, Any]:
    """Return a page of posts. The variables may contain the caller as `actor`."""
    connection: dict[str, Any] = gql(POSTS, **variables).data["postsConnection"]
    return connection


def get_error_message(response: GraphQLResponse) -> str:
    assert (response.status, response.codes) == (400, ["BAD_REQUEST"])
    return str(response.body["errors"][0]["message"])
