"""The cursors of the connections of posts and comments: the filter and order for which one is valid."""

from typing import Any

import pytest
from django.core.signing import Signer

from tests.blog.connection_queries import COMMENTS, POSTS, get_error_message, get_ids, get_time, query_posts
from tests.conftest import GraphQL
from tests.factories import make_comment, make_post
from tests.resources import send_request


def query_cursor(gql: GraphQL, **variables: Any) -> str:
    """Return the cursor of the first post."""
    return str(query_posts(gql, first=1, **variables)["pageInfo"]["endCursor"])


@pytest.mark.parametrize(
    "other",
    [
        {"order": "createdAtAsc"},
        {"order": "updatedAtAsc"},
        {"filter": {"status": "published"}},
        {"filter": {"tag": "x"}},
        {"filter": {"createdFrom": "2020-01-01T00:00:00Z"}},
    ],
)
def test_cursor_is_valid_for_its_filter_and_order_only(gql: GraphQL, other: dict[str, Any]) -> None:
    make_post(tags=["x"])
    here, there = query_cursor(gql), query_cursor(gql, **other)

    expected = "after must be a cursor of this connection, with the same filter and order."
    assert get_error_message(gql(POSTS, after=here, **other)) == expected
    assert get_error_message(gql(POSTS, after=there)) == expected
    assert get_ids(query_posts(gql, after=there, **other)) == get_ids(query_posts(gql, after=here)) == []


def test_cursor_of_comments_is_valid_for_its_post_only(gql: GraphQL) -> None:
    post, other = make_post(), make_post()
    first, second = make_comment(post, created_at=get_time(1)), make_comment(post, created_at=get_time(2))
    make_comment(other)
    cursor = gql(COMMENTS, id=post.pk, first=1).data["post"]["commentsConnection"]["pageInfo"]["endCursor"]

    assert get_ids(gql(COMMENTS, id=post.pk, after=cursor).data["post"]["commentsConnection"]) == [second.pk]
    assert get_ids(gql(COMMENTS, id=post.pk, before=cursor).data["post"]["commentsConnection"]) == []
    for end in ("after", "before"):
        refused = gql(COMMENTS, id=other.pk, **{end: cursor})
        assert get_error_message(refused).startswith(f"{end} must be a cursor of this connection")
        assert refused.body["errors"][0]["path"] == ["post", "commentsConnection"]
        assert refused.body["data"] == {"post": None}
    assert gql("query ($c: String) { posts { commentsConnection(after: $c) { totalCount } } }", c=cursor).status == 400
    assert gql(COMMENTS, id=post.pk, after=query_cursor(gql)).status == 400
    assert gql(POSTS, after=cursor).status == 400
    assert first.pk < second.pk


def test_cursor_of_rest_is_rejected_by_graphql_and_vice_versa(gql: GraphQL) -> None:
    make_post()
    make_post()
    of_rest = send_request("GET", "/posts?limit=1").body["next_cursor"]

    assert gql(POSTS, after=of_rest).status == 400
    assert send_request("GET", f"/posts?cursor={query_cursor(gql)}").status == 400
    assert gql(POSTS, after=Signer(salt="other", sep=".").sign("5b31375d")).status == 400
