"""The connection of authors, and the root field `comment`."""

from datetime import UTC, datetime, timedelta
from typing import Any

from contentapi.core.identity import Role
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_comment, make_post

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
AUTHORS = """
query ($first: Int, $after: String, $orderBy: AuthorSort) {
  authors(first: $first, after: $after, orderBy: $orderBy) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { name } }
  }
}
"""


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


def test_comment_on_a_draft_is_null_for_others(gql: GraphQL) -> None:
    author = make_author()
    comment = make_comment(make_post(author=author, status="draft"), body="Early.")
    document = "query ($id: ID!) { comment(id: $id) { body } }"

    by_author = gql(document, actor=make_actor(Role.AUTHOR, author=author), id=str(comment.pk))
    by_reader = gql(document, actor=make_actor(Role.READER), id=str(comment.pk))

    assert by_author.data == {"comment": {"body": "Early."}}
    assert by_reader.data == gql(document, id="none").data == {"comment": None}
