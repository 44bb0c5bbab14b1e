"""Fields that a distributed database reads by statements of their own: the JSON is that of one statement."""

from typing import Any

import pytest
from django.db.models import Model
from pytest_django import Settings

from blog.models import Author, Comment, Image, Post
from blog.projections import AUTHOR, COMMENT, IMAGE, POST
from blog.projections.posts import COMMENT_CONNECTION
from contentapi.core.errors import ResponseTooLarge
from contentapi.events.models import Event
from contentapi.graphql.documents import DOCUMENTS
from contentapi.projection import statements
from contentapi.projection.deferred import must_defer
from contentapi.projection.statements import STATEMENTS
from tests.contentapi.projection.execution import Executed, run
from tests.contentapi.projection.fixture_rows import ACTORS, BO, EMPTY, FIRST, IDA, POSTS, fill
from tests.environment import set_environment
from tests.factories import make_author, make_post

pytestmark = pytest.mark.django_db
FIELDS = [(AUTHOR, "posts"), (AUTHOR, "postsConnection"), (POST, "commentsConnection"), (IMAGE, "usedBy")]
PAGE = "edges { cursor node { id } } pageInfo { hasNextPage startCursor endCursor } totalCount"
DOCUMENTS_TO_COMPARE = {
    "lists below lists": "{ posts { title author { name posts(limit: 2) { id title author { posts { id } } } } } }",
    "aliases": f"{{ author(id: {IDA}) {{ a: posts(limit: 1) {{ id }} b: posts(status: draft) {{ id }} name }} }}",
    "pages below a list": f"{{ posts {{ id commentsConnection(first: 1) {{ {PAGE} }} }} }}",
    "pages below pages": "{ postsConnection(first: 9) { edges { node { author { "
    f"postsConnection(last: 2) {{ {PAGE} }} }} }} }} }} }}",
    "a page without rows": f"{{ author(id: {EMPTY}) {{ postsConnection(first: 1) {{ {PAGE} }} posts {{ id }} }} }}",
    "only the name of the type": "{ posts { commentsConnection(first: 1) { __typename } } }",
}
NODES = """
query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Post { title author { posts { id } } } ... on Author { name } } }
"""
WALK = f"""
query ($id: ID!, $after: String) {{ author(id: $id) {{ postsConnection(first: 1, after: $after) {{ {PAGE} }} }} }}
"""


def run_uncached(text: str, variables: dict[str, Any] | None = None, **options: Any) -> Executed:
    """Execute a document without any cached statement."""
    STATEMENTS.clear()
    DOCUMENTS.clear()
    executed = run(text, variables, **options)
    STATEMENTS.clear()
    return executed


@pytest.fixture
def deferred(monkeypatch: pytest.MonkeyPatch) -> None:
    for projection, name in FIELDS:
        monkeypatch.setattr(projection.fields[name], "is_deferred", True)


@pytest.mark.thorough
def test_json_is_that_of_one_statement(subtests: pytest.Subtests, request: pytest.FixtureRequest) -> None:
    fill()
    cases = [(name, actor) for name in DOCUMENTS_TO_COMPARE for actor in ("author", "editor")]
    cases.append(("lists below lists", "anonymous"))
    expected = [run_uncached(DOCUMENTS_TO_COMPARE[name], actor=ACTORS[actor]) for name, actor in cases]

    request.getfixturevalue("deferred")
    for (name, actor), in_one in zip(cases, expected, strict=True):
        with subtests.test(f"{name}, {actor}"):
            found = run_uncached(DOCUMENTS_TO_COMPARE[name], actor=ACTORS[actor])

            assert found.data == in_one.data
            assert len(found.reads) > len(in_one.reads) == 1


@pytest.mark.usefixtures("deferred")
def test_walk_goes_on_after_each_cursor() -> None:
    fill()
    variables: dict[str, Any] = {"id": IDA}
    walked: list[str] = []
    while variables.get("after") != "":
        page = run(WALK, variables, actor=ACTORS["editor"]).data["author"]["postsConnection"]
        walked += [edge["node"]["id"] for edge in page["edges"]]
        variables["after"] = page["pageInfo"]["endCursor"] if page["pageInfo"]["hasNextPage"] else ""

    assert len(walked) == page["totalCount"] == len(set(walked)) > 2


@pytest.mark.usefixtures("deferred")
def test_cursor_of_another_row_is_refused_at_its_field() -> None:
    fill()
    cursor = run(WALK, {"id": IDA}, actor=ACTORS["editor"]).data["author"]["postsConnection"]["pageInfo"]["endCursor"]

    refused = run(WALK, {"id": BO, "after": cursor}, actor=ACTORS["editor"])

    assert [error["path"] for error in refused.errors] == [["author", "postsConnection"]]
    assert "after" in refused.errors[0]["message"]


@pytest.mark.usefixtures("deferred")
def test_text_that_looks_like_a_marker_is_a_text() -> None:
    author = make_author(name='{"~0":1}')
    make_post(author=author, title='{"~0":1}', tags=['{"~0":1}'])

    shown = run("{ posts { title tags author { name posts { title } } } }").data["posts"]

    assert shown == [
        {"title": '{"~0":1}', "tags": ['{"~0":1}'], "author": {"name": '{"~0":1}', "posts": [{"title": '{"~0":1}'}]}}
    ]


@pytest.mark.usefixtures("deferred")
def test_rows_of_deferred_fields_count_for_the_size_of_the_response(settings: Settings) -> None:
    author = make_author()
    for _ in range(3):
        make_post(author=author, body="x" * 1000)
    set_environment(settings, CONTENTAPI_MAX_RESPONSE="9000")
    document = "{ posts { author { posts { body } } } }"

    with pytest.raises(ResponseTooLarge):
        run(document)
    set_environment(settings, CONTENTAPI_MAX_RESPONSE="11000")
    assert len(run(document).data["posts"]) == 3


def test_nodes_one_by_one_are_those_of_one_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    fill()
    variables = {"ids": [str(pk) for pk in (POSTS[0], IDA, FIRST, POSTS[1], POSTS[0])]}
    expected = [run_uncached(NODES, variables, actor=ACTORS[name]).data for name in ("anonymous", "editor")]

    monkeypatch.setattr(statements, "is_distributed", lambda: True)

    assert [run_uncached(NODES, variables, actor=ACTORS[name]).data for name in ("anonymous", "editor")] == expected


@pytest.mark.parametrize(
    ("model", "projection", "expected"),
    [
        (Author, POST, True),
        (Image, POST, True),
        (Event, COMMENT, True),
        (Post, COMMENT, False),
        (Post, COMMENT_CONNECTION, True),
        (Comment, AUTHOR, False),
        (Event, AUTHOR, True),
        (Post, None, False),
    ],
)
def test_posts_below_what_is_no_post_are_deferred_where_there_are_shards(
    model: type[Model], projection: Any, settings: Settings, *, expected: bool
) -> None:
    assert not must_defer(model, projection)
    set_environment(settings, CONTENTAPI_DISTRIBUTED="citus")
    assert must_defer(model, projection) == expected
