"""Lists and fields of posts and authors in GraphQL: visibility, order and length."""

from datetime import UTC, datetime
from typing import Any

import pytest

from blog.models import Author, Comment, Post, PostStatus
from contentapi.core.identity import Actor, Role
from tests.blog.test_selectors import make_post_with_status
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_comment, make_post
from tests.graphql_requests import GraphQLResponse

pytestmark = pytest.mark.django_db

OLD, NEW = datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)
COMMENTS = "query ($id: ID!, $limit: Int) { post(id: $id) { commentCount comments(limit: $limit) { id } } }"
POSTS = """
query ($id: ID!, $limit: Int, $status: PostStatus) { author(id: $id) { posts(limit: $limit, status: $status) { id } } }
"""
EMAILS = "query ($own: ID!, $other: ID!) { own: author(id: $own) { email } other: author(id: $other) { email } }"


def get_ids(items: list[dict[str, Any]]) -> list[int]:
    return [int(item["id"]) for item in items]


def get_comment_ids(response: GraphQLResponse) -> list[int]:
    return get_ids(response.data["post"]["comments"])


def get_post_ids(response: GraphQLResponse) -> list[int]:
    return get_ids(response.data["author"]["posts"])


def test_comments_of_a_post_are_ordered_oldest_first(gql: GraphQL) -> None:
    post, other = make_post(), make_post()
    make_comment(other)
    first, second, third = (make_comment(post, created_at=moment) for moment in (NEW, OLD, NEW))

    response = gql(COMMENTS, id=post.pk)

    assert get_comment_ids(response) == [second.pk, first.pk, third.pk]


@pytest.mark.parametrize(
    ("variables", "number"), [({}, 100), ({"limit": None}, 100), ({"limit": 1}, 1), ({"limit": 100}, 100)]
)
def test_list_of_comments_has_the_requested_length(gql: GraphQL, variables: dict[str, Any], number: int) -> None:
    post = make_post()
    Comment.objects.bulk_create(Comment(post=post, author=post.author, body="!") for _ in range(101))

    response = gql(COMMENTS, id=post.pk, **variables)

    assert len(get_comment_ids(response)) == number
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

    assert len(get_post_ids(response)) == number


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


def test_posts_of_an_author_are_ordered_newest_first_then_by_id(gql: GraphQL) -> None:
    author = make_author()
    make_post()
    first, second, third = (make_post(author=author, created_at=moment) for moment in (NEW, OLD, NEW))

    response = gql(POSTS, id=author.pk)

    assert get_post_ids(response) == [third.pk, first.pk, second.pk]


@pytest.mark.parametrize("status", PostStatus)
def test_status_filter_of_author_posts_returns_visible_posts_only(gql: GraphQL, status: str) -> None:
    own, other = make_author(), make_author()
    posts = {
        (author.pk, state): make_post_with_status(state, author).pk for author in (own, other) for state in PostStatus
    }
    actor = make_actor(Role.AUTHOR, author=own)

    of_own, of_other = (get_post_ids(gql(POSTS, actor=actor, id=author.pk, status=status)) for author in (own, other))

    assert of_own == [posts[own.pk, PostStatus(status)]]
    assert of_other == ([posts[other.pk, PostStatus.PUBLISHED]] if status == PostStatus.PUBLISHED else [])


def query_emails(gql: GraphQL, actor: Actor | None, own: Author, other: Author) -> list[str | None]:
    data = gql(EMAILS, actor=actor, own=own.pk, other=other.pk).data
    return [data["own"]["email"], data["other"]["email"]]


def test_email_is_null_for_anonymous_callers_and_if_unset(gql: GraphQL) -> None:
    with_email, without = make_author(email="a@example.invalid"), make_author()
    admin = make_actor(Role.ADMIN)

    assert query_emails(gql, None, with_email, without) == [None, None]
    assert query_emails(gql, admin, with_email, without) == ["a@example.invalid", None]
