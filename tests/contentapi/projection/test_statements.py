"""One statement for each root field, its values bound, and kept for whoever asks the same with other values."""

from itertools import permutations
from typing import Any

import msgspec
import pytest
from graphql import DocumentNode, Node, Visitor, visit
from pytest_django import Settings

from contentapi.core.identity import ALL_SCOPES, Actor, Role
from contentapi.db.postgresql.thread_connections import get_connection
from contentapi.graphql.documents import DOCUMENTS
from contentapi.projection.statements import STATEMENTS
from contentapi.schema import SCHEMA
from tests.contentapi.projection.execution import run
from tests.contentapi.projection.fixture_rows import ASKERS, AUTHORS, BO, IDA, POSTS, fill

pytestmark = pytest.mark.django_db

PAGE = """
query ($n: Int, $m: Int) { posts(limit: $n) { id tags author { id email } comments(limit: $m) { author { name } } } }
"""
OWN = "{ author(id: %d) { name email posts { id status } } posts { id status author { email posts { id } } } }"


@pytest.fixture(autouse=True)
def empty_caches() -> None:
    DOCUMENTS.clear()
    STATEMENTS.clear()


def kept() -> int:
    return len(STATEMENTS._items)


@pytest.mark.parametrize(
    ("document", "number"),
    [
        ("{ __typename }", 0),
        ("{ posts { id } }", 1),
        (
            "{ posts { id tags commentCount author { id posts { comments { author { name } } } } comments { body } } }",
            1,
        ),
        ("{ a: posts { id } b: posts { id } post(id: 1) { id } author(id: 1) { id } }", 4),
        ("{ posts @skip(if: true) { id } post(id: 1) @include(if: true) { id @skip(if: true) } }", 1),
        ("{ posts { id } ...F ... { posts { title } } } fragment F on Query { posts { body } }", 1),
    ],
)
def test_each_root_field_takes_one_statement(document: str, number: int) -> None:
    fill()

    first, second = run(document), run(document)

    assert len(first.statements) == len(second.statements) == number
    assert first.data == second.data


def test_a_hundred_ids_share_one_statement() -> None:
    fill()
    document = "query ($id: ID!) { post(id: $id) { id } }"

    answers = [run(document, {"id": str(number)}).data for number in [*range(1, 100), POSTS[0]]]

    assert answers == [*[{"post": None}] * 99, {"post": {"id": str(POSTS[0])}}]
    assert kept() == 1


def test_a_hundred_limits_share_one_statement() -> None:
    fill()

    pages = [run(PAGE, {"n": limit, "m": 101 - limit}).data["posts"] for limit in range(1, 101)]

    published = len(pages[-1])
    assert [len(page) for page in pages] == [min(limit, published) for limit in range(1, 101)]
    assert kept() == 1


def test_a_value_that_is_there_or_null_or_left_out_is_answered_each_time() -> None:
    fill()
    document = "query ($s: PostStatus, $n: Int) { author(id: AUTHOR) { posts(status: $s, limit: $n) { status } } }"
    variables: list[dict[str, Any]] = [{}, {"s": None, "n": None}, {"s": "draft"}, {"n": 1}, {"s": "archived", "n": 1}]

    answers = [
        [run(document.replace("AUTHOR", str(IDA)), given, actor=ASKERS["author"]).data for given in variables]
        for _ in range(2)
    ]

    assert answers[0] == answers[1]
    assert [{post["status"] for post in data["author"]["posts"]} for data in answers[0]] == [
        {"archived", "draft", "published"},
        {"archived", "draft", "published"},
        {"draft"},
        {answers[0][0]["author"]["posts"][0]["status"]},
        {"archived"},
    ]


def test_values_are_bound_and_never_in_the_statements_text() -> None:
    fill()
    actor = Actor(424242, Role.AUTHOR, ALL_SCOPES, "api-key")
    document = """
    query ($id: ID!, $n: Int, $s: PostStatus) {
      post(id: "777771") { comments(limit: 37) { id } }
      posts(limit: $n, status: $s) { author { email posts(limit: 47, status: archived) { id } } }
      author(id: $id) { email posts(limit: $n, status: $s) { id } }
    }
    """
    values = ["777771", "777772", "37", "47", "57", "archived", "scheduled", "424242"]

    statements = run(document, {"id": "777772", "n": 57, "s": "scheduled"}, actor=actor).statements

    assert [value for value in values for sql, _ in statements if value in sql] == []
    bound = {str(parameter) for _, parameters in statements for parameter in parameters}
    assert bound >= {*values}


@pytest.mark.parametrize("first", ASKERS)
def test_a_statement_that_somebody_left_shows_the_next_one_what_they_may_see(first: str) -> None:
    fill()
    documents = [OWN % author for author in AUTHORS]
    wanted = {}
    for asker, actor in ASKERS.items():
        STATEMENTS.clear()
        wanted[asker] = [run(document, actor=actor).content for document in documents]

    for second in ASKERS:
        STATEMENTS.clear()
        for asker in (first, second, first):
            assert [run(document, actor=ASKERS[asker]).content for document in documents] == wanted[asker]


def test_two_authors_share_a_statement_and_each_sees_their_own_drafts_only() -> None:
    fill()
    document = "{ posts { status author { id email } } }"
    seen = {}

    for asker in ("author", "another author"):
        posts = run(document, actor=ASKERS[asker]).data["posts"]
        seen[asker] = {
            what
            for post in posts
            for what in (post["author"]["email"], post["author"]["id"] if post["status"] != "published" else None)
        } - {None}

    assert seen == {
        "author": {"ida@example.invalid", str(IDA)},
        "another author": {"bo@example.invalid", str(BO)},
    }
    assert kept() == 1


@pytest.mark.parametrize(("first", "second"), list(permutations(["x" * 63 + "a", "x" * 63 + "b"])))
def test_aliases_that_differ_past_postgresqls_longest_name_stay_apart(first: str, second: str) -> None:
    fill()

    data = run(f"{{ post(id: {POSTS[0]}) {{ {first}: id {second}: version }} }}").data

    assert list(data["post"].items()) == [(first, str(POSTS[0])), (second, "1")]


def test_ever_new_documents_leave_both_caches_within_their_limits() -> None:
    for number in range(1100):
        run(f"{{ post(id: 1) {{ a{number}: id }} }}")
        assert DOCUMENTS.weight <= 256 * 1024
        assert STATEMENTS.weight <= 1024 * 1024

    assert DOCUMENTS.weight > 255 * 1024
    assert STATEMENTS.weight > 1000 * 1024
    assert kept() < 1100


@pytest.mark.parametrize(("fields", "is_prepared"), [(10, True), (300, False)])
def test_only_a_statement_of_reasonable_length_is_prepared(
    settings: Settings,
    fields: int,
    is_prepared: bool,  # noqa: FBT001
) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_aliases=fields)
    text = "{ posts { " + " ".join(f"a{number}: author {{ id }}" for number in range(fields)) + " } }"

    for _ in range(3):
        run(text)

    [(statement, _)] = STATEMENTS._items.values()
    assert statement.has_run
    prepared = get_connection("default").prepared
    assert (prepared is not None and statement.numbered in prepared.names) is is_prepared


def test_what_is_kept_of_a_document_holds_none_of_its_tokens() -> None:
    run(PAGE, {"n": 1, "m": 1})

    kept_document = DOCUMENTS.get((SCHEMA, PAGE))
    assert kept_document is not None
    places = [node.loc for node in all_nodes(kept_document.document) if node.loc]
    assert len(places) > 20
    assert [place for place in places if place.start_token or place.end_token] == []


def all_nodes(document: DocumentNode) -> list[Node]:
    found: list[Node] = []

    class Collector(Visitor):
        def enter(self, node: Node, *_: Any) -> None:
            found.append(node)

    visit(document, Collector())
    return found
