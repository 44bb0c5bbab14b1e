"""The connections of posts and comments: pages, filters and invalid arguments."""

from typing import Any

import pytest

from blog.models import Post
from contentapi.core.identity import Role
from tests.blog.connection_queries import COMMENTS, POSTS, get_error_message, get_ids, get_time, query_posts
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_post

# --- Pages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "places", "has_previous", "has_next"),
    [
        ({}, [0, 1, 2, 3, 4], False, False),
        ({"last": 2}, [3, 4], True, False),
        ({"first": 2, "after": 1}, [2, 3], True, True),
        ({"last": 2, "before": 3}, [1, 2], True, True),
        ({"after": 0, "before": 4}, [1, 2, 3], True, True),
        ({"last": 1, "after": 0, "before": 4}, [3], True, True),
        ({"after": 4}, [], True, False),
        ({"before": 0}, [], False, True),
        ({"after": 3, "before": 1}, [], True, True),
    ],
)
def test_page_info_describes_the_items_before_and_after_the_page(
    gql: GraphQL, variables: dict[str, int], places: list[int], *, has_previous: bool, has_next: bool
) -> None:
    for hour in range(5):
        make_post(created_at=get_time(hour))
    everything = query_posts(gql)
    cursors = [edge["cursor"] for edge in everything["edges"]]
    given = {name: cursors[value] if name in ("after", "before") else value for name, value in variables.items()}

    page = query_posts(gql, **given)

    assert get_ids(page) == [get_ids(everything)[place] for place in places]
    assert page["totalCount"] == 5
    assert (page["pageInfo"]["hasPreviousPage"], page["pageInfo"]["hasNextPage"]) == (has_previous, has_next)
    ends = [cursors[places[0]], cursors[places[-1]]] if places else [None, None]
    assert [page["pageInfo"]["startCursor"], page["pageInfo"]["endCursor"]] == ends


@pytest.mark.parametrize(
    ("chosen", "titles"),
    [
        ({}, "ABCD"),
        ({"status": "published"}, "ABC"),
        ({"tag": "x"}, "AB"),
        ({"author": "own"}, "AD"),
        ({"author": "nobody"}, ""),
        ({"createdFrom": "2026-01-01T02:00:00Z"}, "CD"),
        ({"createdBefore": "2026-01-01T03:00:00+01:00"}, "AB"),
        ({"createdFrom": "2026-01-01T01:00:00Z", "createdBefore": "2026-01-01T03:00:00Z"}, "BC"),
        ({"status": "published", "tag": "x", "author": "own", "createdFrom": "2025-01-01T00:00:00Z"}, "A"),
    ],
)
def test_conditions_of_a_filter_are_combined(gql: GraphQL, chosen: dict[str, Any], titles: str) -> None:
    own, other = make_author(), make_author()
    for place, (title, author, status) in enumerate(
        [("A", own, "published"), ("B", other, "published"), ("C", other, "published"), ("D", own, "draft")]
    ):
        make_post(
            title=title, author=author, status=status, tags=["x"] if place < 2 else [], created_at=get_time(place)
        )
    by_title = dict(Post.objects.values_list("title", "pk"))
    said = {**chosen, **({"author": str(own.pk)} if chosen.get("author") == "own" else {})}

    page = query_posts(gql, actor=make_actor(Role.EDITOR), filter=said, order="createdAtAsc")

    assert get_ids(page) == [by_title[title] for title in titles]
    assert page["totalCount"] == len(titles)


# --- Rejected arguments -------------------------------------------------------------------------------


@pytest.mark.parametrize("document", [POSTS, COMMENTS])
@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"first": 1, "last": 1}, "Send first or last, not both."),
        ({"first": 0}, "first must be from 1 to 100 (CONTENTAPI_MAX_PAGE), and is 0."),
        ({"first": 101}, "first must be from 1 to 100 (CONTENTAPI_MAX_PAGE), and is 101."),
        ({"last": -1}, "last must be from 1 to 100 (CONTENTAPI_MAX_PAGE), and is -1."),
        ({"after": ""}, "after must be a cursor of this connection, with the same filter and order."),
        ({"before": "5b315d.x"}, "before must be a cursor of this connection, with the same filter and order."),
    ],
)
def test_invalid_argument_is_rejected_with_its_name_and_range(
    gql: GraphQL, document: str, variables: dict[str, Any], expected: str
) -> None:
    given = variables if document == POSTS else {**variables, "id": make_post().pk}

    assert get_error_message(gql(document, **given)) == expected


def test_page_of_100_posts_is_returned(gql: GraphQL) -> None:
    author = make_author()
    Post.objects.bulk_create(Post(title="Title", author=author, status="published") for _ in range(101))

    assert [len(get_ids(query_posts(gql, **size))) for size in ({}, {"first": 100}, {"last": 100})] == [10, 100, 100]
