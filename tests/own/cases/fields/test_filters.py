"""Filters by own fields on both transports, and their indexes, which `migrate` builds and drops."""

from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from blog.models import POST_OWN, Post
from blog.search.indexing import index_posts
from contentapi.db.statements import execute, fetch_column
from contentapi.types.own_values import adapt_indexes, match_own_fields, write_indexes
from tests.conftest import GraphQL
from tests.factories import make_post
from tests.resources import send_request

QUERY = "query($filter: PostFilter) { postsConnection(filter: $filter) { edges { node { title } } } }"
INDEXES = "SELECT indexname FROM pg_indexes WHERE starts_with(indexname, 'own_blog_post_')"


def find(gql: GraphQL, **values: Any) -> list[str]:
    edges = gql(QUERY, filter=values).data["postsConnection"]["edges"]
    return sorted(edge["node"]["title"] for edge in edges)


def list_titles(query: str) -> list[str]:
    return sorted(post["title"] for post in send_request("GET", f"/posts?{query}").body["data"])


def test_filters_select_by_the_shown_values(gql: GraphQL) -> None:
    make_post(title="A", own={"rating": 3, "level": "expert", "sources": ["x", "y"]})
    make_post(title="B", own={"rating": 4, "isSponsored": True, "sources": ["y"]})
    make_post(title="C")

    assert find(gql, rating=3) == list_titles("rating=3") == ["A"]
    assert find(gql, level="beginner") == list_titles("level=beginner") == ["B", "C"]
    assert find(gql, isSponsored=False) == list_titles("isSponsored=false") == ["A", "C"]
    assert find(gql, sources="y") == list_titles("sources=y") == ["A", "B"]
    assert find(gql, sources="y", rating=4) == list_titles("sources=y&rating=4") == ["B"]


@pytest.mark.parametrize("query", ["rating=three", "rating=", "level=master", "isSponsored=1", "subtitle=a"])
def test_parameter_of_another_type_or_without_a_filter_is_400(query: str) -> None:
    assert send_request("GET", f"/posts?{query}").status == 400


def test_pages_follow_with_the_same_filter_only() -> None:
    for title in ("A", "B", "C"):
        make_post(title=title, own={"rating": 3})
    page = send_request("GET", "/posts?rating=3&limit=2").body

    rest = send_request("GET", f"/posts?rating=3&limit=2&cursor={page['next_cursor']}")
    other = send_request("GET", f"/posts?rating=4&limit=2&cursor={page['next_cursor']}")

    assert [post["title"] for post in rest.body["data"]] == ["A"]
    assert other.status == 400


def test_search_finds_among_the_filtered_posts() -> None:
    posts = [
        make_post(title=title, own={"rating": rating}) for title, rating in (("harbour one", 3), ("harbour two", 4))
    ]
    index_posts([post.pk for post in posts])

    assert list_titles("search=harbour&rating=4") == ["harbour two"]
    assert list_titles("search=harbour") == ["harbour one", "harbour two"]


def list_indexes() -> set[str]:
    return set(fetch_column(INDEXES))


@pytest.mark.django_db(transaction=True)
def test_migrate_builds_indexes_and_drops_those_without_a_filter() -> None:
    execute("CREATE INDEX own_blog_post_outdated ON blog_post (id)")

    call_command("migrate", verbosity=0)
    built = list_indexes()
    adapt_indexes(connection)

    assert built == list_indexes() == dict(write_indexes(POST_OWN)).keys()
    assert len(built) == 4
    for value in ({"own_rating": "3"}, {"own_level": '"beginner"'}, {"own_sources": '["x"]'}):
        assert uses_own_index(value)


def uses_own_index(criteria: dict[str, str]) -> bool:
    """Return whether PostgreSQL can find the posts of a filter by an index of own fields."""
    rows = Post.objects.filter(match_own_fields(POST_OWN, criteria))
    execute("SET enable_seqscan = off")
    plan = rows.explain()
    execute("RESET enable_seqscan")
    return "own_blog_post_" in plan
