"""One statement per root field, with bound values, cached for requests with other values."""

import json
from itertools import permutations
from typing import Any

import msgspec
import pytest
from graphql import DocumentNode, Node, Visitor, visit
from pytest_django import Settings

from blog import views
from blog.models import Author
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, Actor, Role
from contentapi.db.engine.slots import get_connection
from contentapi.graphql.documents import DOCUMENTS
from contentapi.projection.querysets import QuerySetRows
from contentapi.projection.statements import STATEMENTS
from contentapi.schema import SCHEMA
from tests.contentapi.projection.execution import recorded, run
from tests.contentapi.projection.fixture_rows import ACTORS, BO, IDA, POSTS, fill
from tests.factories import make_author, make_post

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_caches")]

PAGE = """
query ($n: Int, $m: Int) { posts(limit: $n) { id tags author { id email } comments(limit: $m) { author { name } } } }
"""
OWN = " ".join(f"a{id_}: author(id: {id_}) {{ name email posts {{ id status }} }}" for id_ in (IDA, BO))
OWN = f"{{ {OWN} posts {{ id status author {{ email posts {{ id }} }} }} }}"


def cached_statements() -> int:
    return len(STATEMENTS.items)


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
def test_each_root_field_executes_one_statement(document: str, number: int) -> None:
    fill()

    first, second = run(document), run(document)

    assert len(first.statements) == len(second.statements) == number
    assert first.data == second.data


def test_hundred_ids_share_one_statement() -> None:
    fill()
    document = "query ($id: ID!) { post(id: $id) { id } }"

    responses = [run(document, {"id": str(number)}).data for number in [*range(1, 100), POSTS[0]]]

    assert responses == [*[{"post": None}] * 99, {"post": {"id": str(POSTS[0])}}]
    assert cached_statements() == 1


def test_present_null_and_omitted_values_each_get_a_correct_statement() -> None:
    fill()
    document = "query ($s: PostStatus, $n: Int) { author(id: AUTHOR) { posts(status: $s, limit: $n) { status } } }"
    variables: list[dict[str, Any]] = [{}, {"s": None, "n": None}, {"s": "draft"}, {"n": 1}, {"s": "archived", "n": 1}]

    responses = [
        [run(document.replace("AUTHOR", str(IDA)), given, actor=ACTORS["author"]).data for given in variables]
        for _ in range(2)
    ]

    assert responses[0] == responses[1]
    assert [{post["status"] for post in data["author"]["posts"]} for data in responses[0]] == [
        {"archived", "draft", "published", "scheduled"},
        {"archived", "draft", "published", "scheduled"},
        {"draft"},
        {responses[0][0]["author"]["posts"][0]["status"]},
        {"archived"},
    ]


def test_values_are_bound_and_not_part_of_the_statement() -> None:
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


def test_cached_statement_shows_each_actor_only_visible_rows() -> None:
    fill()
    wanted = {}
    for actor_name, actor in ACTORS.items():
        STATEMENTS.clear()
        wanted[actor_name] = run(OWN, actor=actor).content

    for names in ([*ACTORS], [*reversed(ACTORS)]):  # the later ones use statements of the earlier ones, if they share
        STATEMENTS.clear()
        for actor_name in names:
            assert run(OWN, actor=ACTORS[actor_name]).content == wanted[actor_name], actor_name


def test_two_authors_share_a_statement_and_see_their_own_drafts() -> None:
    fill()
    document = "{ posts { status author { id email } coauthors { id } } }"
    seen = {}

    for actor_name, author in {"author": IDA, "another author": BO}.items():
        posts = run(document, actor=ACTORS[actor_name]).data["posts"]
        hidden = [post for post in posts if post["status"] != "published"]
        writers = [{each["id"] for each in (post["author"], *post["coauthors"])} for post in hidden]
        assert writers
        assert all(str(author) in ids for ids in writers)
        seen[actor_name] = {post["author"]["email"] for post in posts} - {None}

    assert seen == {"author": {"ida@example.invalid"}, "another author": {"bo@example.invalid"}}
    assert cached_statements() == 1


@pytest.mark.parametrize(("first", "second"), list(permutations(["x" * 63 + "a", "x" * 63 + "b"])))
def test_aliases_that_differ_after_63_bytes_stay_distinct(first: str, second: str) -> None:
    fill()

    data = run(f"{{ post(id: {POSTS[0]}) {{ {first}: id {second}: version }} }}").data

    assert list(data["post"].items()) == [(first, str(POSTS[0])), (second, "1")]


@pytest.mark.thorough
def test_many_documents_keep_both_caches_within_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for cache in (DOCUMENTS, STATEMENTS):
        monkeypatch.setattr(cache, "limit", cache.limit // 4)

    for number in range(85):
        run(f"{{ post(id: 1) {{ {'a' * 1000}{number}: id }} }}")
        assert DOCUMENTS.weight <= 64 * 1024
        assert STATEMENTS.weight <= 256 * 1024

    assert DOCUMENTS.weight > 63 * 1024
    assert STATEMENTS.weight > 250 * 1024
    assert cached_statements() < 85


@pytest.mark.parametrize(("fields", "is_prepared"), [(10, True), (300, False)])
def test_only_a_statement_of_moderate_length_is_prepared(
    settings: Settings,
    fields: int,
    is_prepared: bool,  # noqa: FBT001
) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_aliases=fields)
    text = "{ posts { " + " ".join(f"a{number}: author {{ id }}" for number in range(fields)) + " } }"

    for _ in range(3):
        run(text)

    [cached] = STATEMENTS.items.values()
    statement = cached.item
    assert statement.has_run
    prepared = get_connection("default").prepared
    assert (prepared is not None and statement.numbered_sql in prepared.names) is is_prepared


def test_cached_document_has_no_tokens() -> None:
    run(PAGE, {"n": 1, "m": 1})

    cached = DOCUMENTS.get((SCHEMA, PAGE))
    assert cached is not None
    places = [node.loc for node in all_nodes(cached.document) if node.loc]
    assert len(places) > 20
    assert [place for place in places if place.start_token or place.end_token] == []


def all_nodes(document: DocumentNode) -> list[Node]:
    found: list[Node] = []

    class Collector(Visitor):
        def enter(self, node: Node, *_: Any) -> None:
            found.append(node)

    visit(document, Collector())
    return found


def test_version_of_a_resource_is_a_column_of_its_statement() -> None:
    post = make_post(version=7)

    with recorded() as statements:
        resource = views.POST.of(post, ANONYMOUS)

    assert len(statements) == 1
    assert json.loads(resource.body)["id"] == str(post.pk)
    assert "version" not in json.loads(resource.body)
    assert resource.headers["ETag"].startswith('"7-')


def test_optional_field_is_omitted_from_objects_in_which_it_is_null() -> None:
    make_author(name="A", email="a@example.invalid")
    make_author(name="B", email="")

    found = views.AUTHOR.read_rows(QuerySetRows.of(Author.objects.order_by("name")), OPERATOR)
    texts = [views.AUTHOR.show(text) for text, _ in found]

    assert [json.loads(text).get("email", "omitted") for text in texts] == ["a@example.invalid", "omitted"]
    assert [list(json.loads(text))[:2] for text in texts] == [["id", "name"]] * 2
