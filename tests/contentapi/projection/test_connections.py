"""Connections in SQL: one statement each, which reads only what is selected and serves other values."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from ariadne import QueryType, make_executable_schema
from django.db.models import QuerySet
from graphql import GraphQLSchema

from blog.models import Author
from contentapi.core.errors import Malformed
from contentapi.core.identity import ANONYMOUS, Actor
from contentapi.core.pagination import Position, encode_cursor, parse_connection_args, sign_cursor
from contentapi.graphql.bindings import ProjectionBindable
from contentapi.projection import PAGE_INFO, ConnectionQuery, ConnectionType, Ordering, Projection, parametrised
from contentapi.projection.querysets import QuerySetRows
from contentapi.projection.statements import STATEMENTS
from tests.contentapi.projection.execution import run
from tests.contentapi.projection.fixture_rows import ACTORS, POSTS, fill
from tests.factories import make_author, make_post

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_caches")]

WINDOW = """
query ($n: Int, $m: Int, $after: String, $filter: PostFilter, $order: PostOrder, $way: CommentOrder) {
  postsConnection(first: $n, after: $after, filter: $filter, orderBy: $order) {
    edges { cursor node { id commentsConnection(first: $m, orderBy: $way) { edges { node { id } } } } }
  }
}
"""


@pytest.mark.parametrize(
    ("selection", "tables", "parts"),
    [
        ("totalCount", 1, {"count(*) FROM"}),
        ("__typename", 0, set()),
        ("pageInfo { __typename }", 0, set()),
        ("edges { __typename }", 1, {"array_to_json"}),
        ("edges { node { title } }", 1, {"array_to_json", "title"}),
        ("edges { cursor }", 1, {"array_to_json", "sha256"}),
        ("pageInfo { endCursor }", 1, {"sha256"}),
        ("pageInfo { hasNextPage }", 1, {"more"}),
        ("pageInfo { hasPreviousPage }", 0, set()),
        ("pageInfo { hasPreviousPage hasNextPage endCursor }", 1, {"more", "sha256"}),
        (
            "edges { node { title } } edges { node { title } } a: edges { cursor }",
            1,
            {"array_to_json", "title", "sha256"},
        ),
        ("a: totalCount b: totalCount", 1, {"count(*) FROM"}),
        ("edges @skip(if: true) { cursor } totalCount @include(if: false)", 0, set()),
    ],
)
def test_statement_reads_only_what_is_selected(selection: str, tables: int, parts: set[str]) -> None:
    fill()

    [(statement, _)] = run(f"{{ postsConnection {{ {selection} }} }}").statements

    assert statement.count('FROM "blog_post"') == tables
    assert {
        part for part in ("count(*) FROM", "array_to_json", "title", "sha256", "more") if part in statement
    } == parts


def test_windows_and_filters_with_other_values_share_a_statement() -> None:
    fill()
    everything = run(WINDOW, {"n": 100, "m": 1}, actor=ACTORS["operator"]).data["postsConnection"]["edges"]
    cursors = [edge["cursor"] for edge in everything]
    STATEMENTS.clear()

    rest = [
        run(WINDOW, {"n": 100 - place, "m": place + 1, "after": cursor}, actor=ACTORS["operator"]).data[
            "postsConnection"
        ]
        for place, cursor in enumerate(cursors)
    ]
    assert [len(page["edges"]) for page in rest] == list(range(len(POSTS)))[::-1]
    assert len(STATEMENTS.items) == 1

    for status in ("draft", "published", "draft"):  # a statement for each state
        run(WINDOW, {"filter": {"status": status}}, actor=ACTORS["operator"])
    assert len(STATEMENTS.items) == 3


def test_each_order_in_a_variable_has_its_own_statement() -> None:
    fill()
    ways = [
        (order, way)
        for order in ("updatedAtAsc", "updatedAtDesc", None)
        for way in ("createdAtAsc", "createdAtDesc", None)
    ]

    def read(order: str | None, way: str | None) -> Any:
        edges = run(WINDOW, {"order": order, "way": way}).data["postsConnection"]["edges"]
        nodes = [edge["node"] for edge in edges]
        return [(node["id"], [edge["node"]["id"] for edge in node["commentsConnection"]["edges"]]) for node in nodes]

    found = {each: read(*each) for each in ways + ways[::-1]}

    for order, way in ways:
        assert [post for post, _ in found[order, way]] == [post for post, _ in found[order, None]]
        comments, of_default = dict(found[order, way]), dict(found[None, None])
        assert comments == {post: ids[:: -1 if way == "createdAtDesc" else 1] for post, ids in of_default.items()}
    assert found["updatedAtAsc", None] == found["updatedAtDesc", None][::-1] != found[None, None]


# --- Rows of any kind ---------------------------------------------------------------------------------

SDL = """
type Query { authors(first: Int, after: String, last: Int, before: String): AuthorConnection }
type Author { id: ID! name: String! }
type AuthorConnection { edges: [AuthorEdge!]! pageInfo: PageInfo! totalCount: Int! }
type AuthorEdge { cursor: String! node: Author! }
type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
"""
DOCUMENT = "query ($first: Int, $last: Int, $after: String) {"
DOCUMENT += " authors(first: $first, last: $last, after: $after) { edges { cursor node { name } } totalCount } }"
BY_NAME = Ordering("name")


def schema(resolve: Any) -> GraphQLSchema:
    """Return a schema whose root field resolves to `resolve(arguments)`."""
    query = QueryType()
    query.set_field("authors", lambda *_, **arguments: resolve(arguments))
    author = Projection("Author", Author, {"id": "id", "name": "name"})
    connection = ConnectionType(author)
    return make_executable_schema(SDL, query, ProjectionBindable([PAGE_INFO, author, connection, connection.edge]))


def names(response: Any) -> list[str]:
    return [edge["node"]["name"] for edge in response.data["authors"]["edges"]]


def test_connection_of_any_queryset() -> None:
    for name in ("C", "A%s", "B"):
        make_post(author=make_author(name=name))
    rows = QuerySetRows.of(Author.objects.filter(name__lt="C", pk__in=Author.objects.values("pk")))
    of_rows = schema(lambda given: ConnectionQuery(rows, BY_NAME, parse_connection_args("authors", {}, **given)))

    first = run(DOCUMENT, {"first": 1}, schema=of_rows)
    rest = run(DOCUMENT, {"after": first.data["authors"]["edges"][0]["cursor"]}, schema=of_rows)

    assert (names(first), names(rest), names(run(DOCUMENT, {"last": 1}, schema=of_rows))) == (["A%s"], ["B"], ["B"])
    assert rest.data["authors"]["totalCount"] == 2
    assert len(STATEMENTS.items) == 0


@parametrised(Author)
def all_authors(_: Actor) -> QuerySet[Author]:
    return Author.objects.all()


def test_windows_and_orders_of_a_resolver_get_their_own_statements() -> None:
    for name in "ABC":
        make_author(name=name)
    cursor = parse_connection_args("authors", {})
    windows = [cursor, replace(cursor, size=1, backwards=True), replace(cursor, before=Position(0, "C"))]
    windows.append(replace(cursor, after=Position(0, "B")))

    found = []
    for window, order in product(windows, (BY_NAME, Ordering("name", descending=True))):
        decided = ConnectionQuery(all_authors(ANONYMOUS), order, window)
        found.append(names(run(DOCUMENT, schema=schema(lambda _, decided=decided: decided))))

    assert ["".join(each) for each in found] == ["ABC", "CBA", "C", "A", "AB", "C", "BC", "A"]
    assert len(STATEMENTS.items) == 8


# --- Windows ------------------------------------------------------------------------------------------


def test_cursor_equals_the_one_that_python_signs() -> None:
    author = make_author(name='"Zoë" \\ \x01 😀')
    of_rows = schema(
        lambda given: ConnectionQuery(all_authors(ANONYMOUS), BY_NAME, parse_connection_args("a", {"b": "c"}, **given))
    )

    [edge] = run(DOCUMENT, schema=of_rows).data["authors"]["edges"]

    text, _, signature = edge["cursor"].rpartition(".")
    assert signature == sign_cursor(text, "a", {"b": "c"})
    assert parse_connection_args("a", {"b": "c"}, after=edge["cursor"]).after == Position(author.pk, author.name, None)


@pytest.mark.parametrize("bound_to", [("a", {}), ("b", {"b": "c"}), ("a", {"b": "d"}), ("a", {"b": "c", "d": "e"})])
def test_cursor_of_another_connection_is_malformed(bound_to: tuple[str, dict[str, str]]) -> None:
    cursor = encode_cursor(Position(1), *bound_to)

    with pytest.raises(Malformed, match="before must be a cursor of this connection"):
        parse_connection_args("a", {"b": "c"}, before=cursor)
    assert parse_connection_args(*bound_to, before=cursor).before == Position(1)


ROOT = """
query ($filter: PostFilter, $order: PostOrder, $first: Int, $last: Int, $after: String, $before: String) {
  postsConnection(
    filter: $filter, orderBy: $order, first: $first, last: $last, after: $after, before: $before
  ) { edges { cursor node { id title } } pageInfo { hasNextPage hasPreviousPage } }
}
"""


@pytest.mark.thorough
def test_cached_statements_return_the_same_as_new_ones() -> None:
    fill()
    first = run(ROOT, {"first": 2}, actor=ACTORS["operator"]).data["postsConnection"]["edges"][0]["cursor"]
    last = run(ROOT, {"last": 2}, actor=ACTORS["operator"]).data["postsConnection"]["edges"][1]["cursor"]
    windows: list[dict[str, Any]] = [
        {"first": 2},
        {"last": 2},
        {"first": 2, "after": first},
        {"last": 2, "before": last},
        {"filter": {"status": "draft"}},
        {"filter": {"status": "published"}},
        {"filter": {"status": None}},
        {"filter": None},
        {"order": "updatedAtAsc"},
        {"order": "createdAtAsc", "first": 2},
        {"order": None, "last": 1},
    ]
    names = ("anonymous", "author", "author without scopes", "another author", "operator")
    cases = [(window, ACTORS[name]) for window in windows for name in names]

    def read_all(*, cold: bool) -> list[bytes]:
        contents = []
        for window, actor in cases:
            if cold:
                STATEMENTS.clear()
            contents.append(run(ROOT, window, actor=actor).content)
        return contents

    alone = read_all(cold=True)
    together = read_all(cold=False)
    cases.reverse()

    assert together == alone
    assert read_all(cold=False) == alone[::-1]
    assert len(set(alone)) > len(windows)
