"""Own fields on both transports: reads, writes, defaults, limits and types."""

from typing import Any

import pytest

from blog.models import Post, PostVersion
from contentapi.core.identity import Actor, Role
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_post
from tests.resources import send_request

FIELDS = "subtitle rating price isSponsored eventAt level sources levels"
VALUES = {
    "subtitle": "A line",
    "rating": 3,
    "price": 9.5,
    "isSponsored": True,
    "eventAt": "2026-11-21T09:30:00+00:00",
    "level": "expert",
    "sources": ["a", "b"],
    "levels": ["expert", "beginner"],
}
EMPTY: dict[str, Any] = {
    "subtitle": None,
    "rating": None,
    "price": None,
    "isSponsored": False,
    "eventAt": None,
    "level": "beginner",
    "sources": [],
    "levels": [],
}
CREATE = f"mutation($input: CreatePostInput!) {{ createPost(input: $input) {{ id version {FIELDS} }} }}"
UPDATE = f"mutation($input: UpdatePostInput!) {{ updatePost(input: $input) {{ version {FIELDS} }} }}"


@pytest.fixture
def editor() -> Actor:
    return make_actor(Role.EDITOR)


def select(names: str, values: dict[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in names.split()}


def read(pk: int, actor: Actor) -> dict[str, Any]:
    body: dict[str, Any] = send_request("GET", f"/posts/{pk}", actor=actor).body
    return select(FIELDS, body)


def test_created_post_has_its_own_fields_on_both_transports(gql: GraphQL, editor: Actor) -> None:
    created = gql(CREATE, actor=editor, input={"title": "T", "body": "B", **VALUES}).data["createPost"]

    assert select(FIELDS, created) == VALUES
    assert read(int(created["id"]), editor) == VALUES


def test_post_without_own_values_shows_defaults(gql: GraphQL, editor: Actor) -> None:
    created = gql(CREATE, actor=editor, input={"title": "T", "body": "B"}).data["createPost"]

    assert select(FIELDS, created) == EMPTY
    assert Post.objects.get().own == {}


def test_update_changes_one_field_and_null_clears(gql: GraphQL, editor: Actor) -> None:
    post = make_post(own={"rating": 3, "level": "expert", "sources": ["a"], "unknown": 7})

    changes = {"rating": None, "level": None, "sources": None, "price": 2}
    updated = gql(UPDATE, actor=editor, input={"id": str(post.pk), **changes}).data["updatePost"]

    assert select("rating level sources price", updated) == {
        "rating": None,
        "level": "beginner",
        "sources": [],
        "price": 2,
    }
    assert Post.objects.get().own == {"price": 2.0, "unknown": 7}


def test_equal_values_make_no_version(gql: GraphQL, editor: Actor) -> None:
    post = make_post(own={"rating": 3})

    updated = gql(UPDATE, actor=editor, input={"id": str(post.pk), "rating": 3}).data["updatePost"]

    assert updated["version"] == "1"


def test_rest_creates_and_changes_own_fields(editor: Actor) -> None:
    created = send_request("POST", "/posts", {"title": "T", "body": "B", **VALUES}, actor=editor)
    path = created.headers["Location"]
    changed = send_request("PATCH", path, {"rating": 4, "eventAt": None, "subtitle": ""}, actor=editor)

    assert select(FIELDS, created.body) == VALUES
    assert select(FIELDS, changed.body) == {**VALUES, "rating": 4, "eventAt": None, "subtitle": ""}


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("rating", 6, "The largest value is 5 (got 6)."),
        ("rating", 0, "The smallest value is 1 (got 0)."),
        ("subtitle", "x" * 21, "At most 20 characters are allowed (got 21)."),
        ("price", 100.6, "The largest value is 100.5 (got 100.6)."),
        ("sources", ["a", "b", "c", "d"], "At most 3 values are allowed (got 4)."),
        ("sources", ["x" * 11], "At most 10 characters are allowed (got 11)."),
    ],
)
def test_broken_limit_is_422_with_the_name_of_the_field(
    gql: GraphQL, editor: Actor, name: str, value: Any, problem: str
) -> None:
    body = {"title": "T", "body": "B", name: value}
    in_graphql = gql(CREATE, actor=editor, input=body)
    in_rest = send_request("POST", "/posts", body, actor=editor)

    assert in_graphql.codes == ["INVALID"]
    assert in_graphql.body["errors"][0]["extensions"]["fields"] == {name: [problem]}
    assert in_rest.status == 422
    assert in_rest.body == {"error": f"{name}: {problem}"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rating", "3"),
        ("rating", 3.5),
        ("rating", True),
        ("rating", 2**31),
        ("subtitle", 3),
        ("price", "1"),
        ("isSponsored", 1),
        ("eventAt", "2026-11-21T09:30:00"),
        ("level", "master"),
        ("sources", ["a", None]),
        ("sources", "a"),
        ("unknown", 1),
    ],
)
def test_wrong_type_is_400_on_rest(editor: Actor, name: str, value: Any) -> None:
    assert send_request("POST", "/posts", {"title": "T", "body": "B", name: value}, actor=editor).status == 400


@pytest.mark.parametrize(("name", "value"), [("rating", "3"), ("level", "master"), ("eventAt", "yesterday")])
def test_wrong_type_is_400_in_graphql(gql: GraphQL, editor: Actor, name: str, value: Any) -> None:
    assert gql(CREATE, actor=editor, input={"title": "T", "body": "B", name: value}).status == 400


def test_value_that_does_not_fit_the_type_any_more_counts_as_none(editor: Actor) -> None:
    stored = {"subtitle": 7, "rating": 3.5, "isSponsored": "yes", "eventAt": "soon", "level": "master"}
    post = make_post(own={**stored, "sources": [1, "a"], "levels": ["master", "expert"]})

    assert read(post.pk, editor) == {**EMPTY, "sources": ["a"], "levels": ["expert"]}


def test_renamed_field_shows_the_value_of_its_old_name(gql: GraphQL, editor: Actor) -> None:
    post = make_post(own={"headline": "Old"})
    before = read(post.pk, editor)["subtitle"]
    gql(UPDATE, actor=editor, input={"id": str(post.pk), "subtitle": None})

    assert before == "Old"
    assert read(post.pk, editor)["subtitle"] is None
    assert Post.objects.get().own["headline"] == "Old"


def test_author_shows_own_fields_on_both_transports(gql: GraphQL, editor: Actor) -> None:
    author = make_author(own={"town": "Ystad"})

    assert gql("query($id: ID!) { author(id: $id) { town } }", id=str(author.pk)).data == {"author": {"town": "Ystad"}}
    assert send_request("GET", f"/authors/{author.pk}", actor=editor).body["town"] == "Ystad"


def test_history_keeps_own_fields_of_earlier_versions(gql: GraphQL, editor: Actor) -> None:
    post = make_post(own={"rating": 3})

    gql(UPDATE, actor=editor, input={"id": str(post.pk), "rating": 4})

    assert PostVersion.objects.get().own == {"rating": 3}
