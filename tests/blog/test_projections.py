"""Lists of posts and comments in GraphQL: their length."""

from typing import Any

import pytest

from blog.models import Comment, Post
from tests.conftest import GraphQL
from tests.factories import make_author, make_post

pytestmark = pytest.mark.django_db

COMMENTS = "query ($id: ID!, $limit: Int) { post(id: $id) { commentCount comments(limit: $limit) { id } } }"
POSTS = "query ($id: ID!, $limit: Int) { author(id: $id) { posts(limit: $limit) { id } } }"


@pytest.mark.parametrize(
    ("variables", "number"), [({}, 100), ({"limit": None}, 100), ({"limit": 1}, 1), ({"limit": 100}, 100)]
)
def test_list_of_comments_has_the_requested_length(gql: GraphQL, variables: dict[str, Any], number: int) -> None:
    post = make_post()
    Comment.objects.bulk_create(Comment(post=post, author=post.author, body="!") for _ in range(101))

    response = gql(COMMENTS, id=post.pk, **variables)

    assert len(response.data["post"]["comments"]) == number
    assert response.data["post"]["commentCount"] == 101


@pytest.mark.parametrize(
    ("variables", "number"), [({}, 10), ({"limit": None}, 10), ({"limit": 1}, 1), ({"limit": 100}, 100)]
)
def test_list_of_posts_by_an_author_has_the_requested_length(
    gql: GraphQL, variables: dict[str, Any], number: int
) -> None:
    author = make_author()
    Post.objects.bulk_create(Post(title="Title", author=author, status="published") for _ in range(101))

    response = gql(POSTS, id=author.pk, **variables)

    assert len(response.data["author"]["posts"]) == number


@pytest.mark.parametrize("limit", [-(2**31), -1, 0, 101, 2**31 - 1])
@pytest.mark.parametrize("place", ["comments", "posts"])
def test_limit_out_of_range_is_rejected_with_the_range(gql: GraphQL, place: str, limit: int) -> None:
    post = make_post()
    document, row, path = {
        "comments": (COMMENTS, post.pk, ["post", "comments"]),
        "posts": (POSTS, post.author_id, ["author", "posts"]),
    }[place]

    response = gql(document, id=row, limit=limit)

    assert (response.status, response.codes) == (400, ["BAD_REQUEST"])
    assert response.body["data"] == {path[0]: None}
    assert response.body["errors"][0]["path"] == path
    assert response.body["errors"][0]["message"] == (
        f"limit must be from 1 to 100 (CONTENTAPI_MAX_PAGE), and is {limit}."
    )
