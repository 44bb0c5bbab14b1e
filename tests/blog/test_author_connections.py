"""The connections of authors and of an author's posts, and the root field `comment`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from blog.models import Author
from contentapi.core.identity import Role
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_comment, make_post

pytestmark = pytest.mark.django_db

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
AUTHORS = """
query ($first: Int, $after: String, $orderBy: AuthorSort) {
  authors(first: $first, after: $after, orderBy: $orderBy) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { name } }
  }
}
"""
POSTS = """
query ($id: ID!, $after: String, $status: PostStatus, $field: PostSortField!, $direction: SortDirection!) {
  author(id: $id) {
    postsConnection(first: 2, after: $after, status: $status, orderBy: {field: $field, direction: $direction}) {
      totalCount pageInfo { hasNextPage endCursor } edges { node { title } }
    }
  }
}
"""
NEWEST_FIRST = {"field": "createdAt", "direction": "desc"}


def write_posts(author: Author) -> None:
    """Write three published posts and a draft, which is the newest."""
    for place, title in enumerate("ABC"):
        make_post(author=author, title=title, status="published", created_at=BEGAN + timedelta(days=place))
    make_post(author=author, title="D", status="draft", created_at=BEGAN + timedelta(days=9))


def read_posts(gql: GraphQL, author: Author, **variables: Any) -> dict[str, Any]:
    connection: dict[str, Any] = gql(POSTS, id=str(author.pk), **variables).data["author"]["postsConnection"]
    return connection


def get_titles(connection: dict[str, Any]) -> str:
    return "".join(edge["node"]["title"] for edge in connection["edges"])


def test_authors_are_paged_in_the_given_order(gql: GraphQL) -> None:
    for place, name in enumerate(["Cleo", "Ann", "Bea"]):
        make_author(name=name, created_at=BEGAN + timedelta(days=place))

    def walk(**variables: Any) -> list[str]:
        page = gql(AUTHORS, first=2, **variables).data["authors"]
        rest = gql(AUTHORS, first=2, after=page["pageInfo"]["endCursor"], **variables).data["authors"]
        assert (page["totalCount"], page["pageInfo"]["hasNextPage"], rest["pageInfo"]["hasNextPage"]) == (
            3,
            True,
            False,
        )
        return [edge["node"]["name"] for edge in page["edges"] + rest["edges"]]

    assert walk() == walk(orderBy=None) == ["Cleo", "Ann", "Bea"]
    assert walk(orderBy={"field": "name"}) == ["Ann", "Bea", "Cleo"]
    assert walk(orderBy={"field": "name", "direction": "desc"}) == ["Cleo", "Bea", "Ann"]


def test_cursor_of_an_authors_posts_is_refused_for_other_criteria(gql: GraphQL) -> None:
    author, other = make_author(), make_author()
    write_posts(author)
    write_posts(other)
    page = read_posts(gql, author, status="published", **NEWEST_FIRST)
    cursor = page["pageInfo"]["endCursor"]
    same: dict[str, Any] = {"id": str(author.pk), "after": cursor, "status": "published", **NEWEST_FIRST}

    following = gql(POSTS, **same).data["author"]["postsConnection"]
    others: list[dict[str, Any]] = [
        {"status": "draft"},
        {"status": None},
        {"direction": "asc"},
        {"id": str(other.pk)},
    ]
    refused = [gql(POSTS, **{**same, **change}) for change in others]

    assert (get_titles(page), get_titles(following)) == ("CB", "A")
    assert [(each.status, each.codes) for each in refused] == [(400, ["BAD_REQUEST"])] * 4


def test_comment_on_a_draft_is_null_for_others(gql: GraphQL) -> None:
    author = make_author()
    comment = make_comment(make_post(author=author, status="draft"), body="Early.")
    document = "query ($id: ID!) { comment(id: $id) { body } }"

    by_author = gql(document, actor=make_actor(Role.AUTHOR, author=author), id=str(comment.pk))
    by_reader = gql(document, actor=make_actor(Role.READER), id=str(comment.pk))

    assert by_author.data == {"comment": {"body": "Early."}}
    assert by_reader.data == gql(document, id="none").data == {"comment": None}
