"""Lists of posts and comments in GraphQL: their length."""

from typing import Any

import pytest

from blog.models import Comment, Post
from tests.conftest import GraphQL
from tests.factories import make_author

COMMENTS = "query ($id: ID!, $limit: Int) { post(id: $id) { commentCount comments(limit: $limit) { id } } }"
POSTS = "query ($id: ID!, $limit: Int) { author(id: $id) { posts(limit: $limit) { id } } }"


@pytest.mark.parametrize("limit", ["missing", None, 1, 100])
def test_lists_have_the_requested_length(gql: GraphQL, limit: Any) -> None:
    author = make_author()
    posts = Post.objects.bulk_create(Post(title="Title", author=author, status="published") for _ in range(101))
    Comment.objects.bulk_create(Comment(post=posts[0], author=author, body="!") for _ in range(101))
    variables = {} if limit == "missing" else {"limit": limit}

    found = gql(COMMENTS, id=posts[0].pk, **variables).data["post"]
    of_author = gql(POSTS, id=author.pk, **variables).data["author"]["posts"]

    number = limit if isinstance(limit, int) else None
    assert (found["commentCount"], len(found["comments"]), len(of_author)) == (101, number or 100, number or 10)
