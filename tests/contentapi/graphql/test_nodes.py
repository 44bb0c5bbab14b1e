"""`node(id:)` and `nodes(ids:)`: objects of any type, under the rules of the fields of their types."""

from typing import Any

import msgspec
import pytest
from ariadne import gql as sdl
from graphql import build_schema
from pytest_django import Settings

import blog.projections
import blog.selectors
from contentapi.core.identity import ANONYMOUS, Role, Scope
from contentapi.graphql.bindings import ProjectionBindable
from contentapi.projection import NodeType, Projection, ProjectionError
from contentapi.schema import NODE, SCHEMA
from tests.conftest import GraphQL
from tests.contentapi.projection.execution import run
from tests.contentapi.projection.fixture_rows import ACTORS, AUTHORS, POSTS, fill
from tests.factories import make_actor, make_author, make_comment, make_post, make_user
from tests.graphql_requests import PostToGraphQL
from tests.webhook_rows import make_delivery, make_webhook
from users.models import ApiKey

pytestmark = pytest.mark.django_db

NODES = "query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }"


def read_nodes(gql: GraphQL, *ids: object, **options: Any) -> list[Any]:
    found: list[Any] = gql(NODES, ids=[str(each) for each in ids], **options).data["nodes"]
    return found


def test_node_of_each_type_is_found_by_its_id(gql: GraphQL) -> None:
    admin = make_actor(Role.ADMIN)
    post = make_post()
    comment = make_comment(post)

    found = read_nodes(gql, comment.pk, admin.user_id, post.pk, post.author_id, actor=admin)

    assert found == [
        {"__typename": "Comment", "id": str(comment.pk)},
        {"__typename": "User", "id": str(admin.user_id)},
        {"__typename": "Post", "id": str(post.pk)},
        {"__typename": "Author", "id": str(post.author_id)},
    ]


def test_fragment_applies_to_the_nodes_of_its_type(gql: GraphQL) -> None:
    post = make_post(title="Soup")

    response = gql(
        """
        query ($ids: [ID!]!) { nodes(ids: $ids) { ...P ... on Author { name posts { title } } ... on Node { id } } }
        fragment P on Post { title author { name } comments(limit: 1) { body } }
        """,
        ids=[str(post.pk), str(post.author_id)],
    )

    name = post.author.name
    assert response.data["nodes"] == [
        {"title": "Soup", "author": {"name": name}, "comments": [], "id": str(post.pk)},
        {"name": name, "posts": [{"title": "Soup"}], "id": str(post.author_id)},
    ]
    assert list(response.data["nodes"][0]) == ["title", "author", "comments", "id"]


def test_order_and_repetitions_of_ids_are_kept_and_others_are_null(gql: GraphQL) -> None:
    author, key = make_author(), make_user().pk
    ids = [author.pk, "none", author.pk, 0, -1, 2**63, key, "", "٣"]

    found = read_nodes(gql, *ids)

    assert [each and each["id"] for each in found] == [str(author.pk), None, str(author.pk), *[None] * 6]
    assert read_nodes(gql) == []


def test_node_without_fields_of_its_type_is_an_empty_object(gql: GraphQL) -> None:
    author = make_author()

    assert gql("query ($id: ID!) { node(id: $id) { ... on Post { id } } }", id=str(author.pk)).data == {"node": {}}
    assert gql('{ node(id: "0") { id } }').data == {"node": None}


def test_node_is_visible_to_whom_the_field_of_its_type_shows_it() -> None:
    fill()
    text = "query ($id: ID!) { post(id: $id) { __typename id } author(id: $id) { __typename id } node(id: $id) "
    text += "{ __typename id } }"

    found = [run(text, {"id": str(id_)}, actor=actor).data for actor in ACTORS.values() for id_ in {*POSTS, *AUTHORS}]

    assert [data["node"] for data in found] == [data["post"] or data["author"] for data in found]
    assert {bool(data["post"]) for data in found} == {bool(data["author"]) for data in found} == {True, False}


def test_webhooks_and_deliveries_are_nodes_for_their_managers_alone(gql: GraphQL) -> None:
    admin = make_actor(Role.ADMIN, scopes={Scope.WEBHOOKS_MANAGE})
    webhook = make_webhook(make_user(Role.ADMIN))
    delivery = make_delivery(webhook)

    found = read_nodes(gql, delivery.pk, webhook.pk, actor=admin)

    assert found == [
        {"__typename": "WebhookDelivery", "id": str(delivery.pk)},
        {"__typename": "Webhook", "id": str(webhook.pk)},
    ]
    for other in (None, make_actor(Role.EDITOR), make_actor(Role.ADMIN, scopes={Scope.USERS_READ})):
        assert read_nodes(gql, delivery.pk, webhook.pk, actor=other) == [None, None]


def test_equal_ids_of_an_older_database_give_the_first_visible_type() -> None:
    author = make_author()
    post = make_post(pk=author.pk, author=author, status="draft")
    text = f"{{ node(id: {post.pk}) {{ __typename }} }}"

    assert run(text, actor=ANONYMOUS).data == {"node": {"__typename": "Author"}}
    assert run(text, actor=ACTORS["operator"]).data == {"node": {"__typename": "Post"}}


def test_all_ids_are_read_by_one_statement_which_serves_other_ids() -> None:
    post = make_post()
    text = "query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Post { author { name } } } node(id: 1) { id } }"

    first, second = (run(text, {"ids": ids}) for ids in (["1"], [str(post.pk), "2", "3"]))

    assert [len(executed.reads) for executed in (first, second)] == [2, 2]
    assert [sql for sql, _ in first.reads] == [sql for sql, _ in second.reads]
    assert first.reads[0][1][-1] == "{1}"


def test_too_many_ids_name_the_limit_and_there_is_no_data(post: PostToGraphQL, settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_page=3)

    response = post({"query": NODES, "variables": {"ids": ["1"] * 4}})

    assert (response.status, response.codes) == (400, ["LIMIT_EXCEEDED"])
    message = "The query's number of ids is 4; at most 3 is allowed (CONTENTAPI_MAX_PAGE)."
    assert response.body["errors"][0]["message"] == message
    assert "data" not in response.body
    assert post({"query": NODES, "variables": {"ids": ["1"] * 3}}).status == 200


def test_invalid_argument_below_one_type_fails_the_field(gql: GraphQL) -> None:
    response = gql("{ node(id: 1) { ... on Post { comments(limit: 0) { id } } } }")

    assert (response.status, response.codes) == (400, ["BAD_REQUEST"])
    assert response.body["errors"][0]["path"] == ["node", "comments"]


def test_cursor_of_another_post_fails_the_nodes(gql: GraphQL) -> None:
    first, second = make_post(), make_post()
    make_comment(first), make_comment(second)
    read = "... on Post { commentsConnection(first: 1%s) { pageInfo { endCursor } } }"
    cursor = gql(f"{{ node(id: {first.pk}) {{ {read % ''} }} }}").data["node"]["commentsConnection"]["pageInfo"][
        "endCursor"
    ]
    after = read % f', after: "{cursor}"'

    response = gql(f"{{ nodes(ids: [{first.pk}, {second.pk}]) {{ {after} }} }}")

    assert (response.status, response.codes) == (400, ["BAD_REQUEST"])
    assert gql(f"{{ nodes(ids: [{first.pk}]) {{ {after} }} }}").status == 200


# --- Start-up -------------------------------------------------------------------------------------------

SDL = "type Query {{ node: Node }} interface Node {{ id: ID! }} {types}"


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ("type Author { id: ID! }", "Author implements Node only in its projection."),
        (
            "type Author implements Node { id: ID! } type Post implements Node { id: ID! }",
            "Post implements Node only in the SDL.",
        ),
    ],
)
def test_types_that_differ_from_the_sdl_stop_the_start(types: str, message: str) -> None:
    node = NodeType({blog.projections.AUTHOR: blog.selectors.authors.select_author_by_id})

    with pytest.raises(ProjectionError, match=message):
        ProjectionBindable([node]).bind_to_schema(build_schema(sdl(SDL.format(types=types))))


def test_type_with_a_sequence_of_its_own_cannot_be_a_node() -> None:
    key = Projection("ApiKey", ApiKey, {"id": "id"})
    node = NodeType({key: blog.selectors.authors.select_author_by_id})

    with pytest.raises(ProjectionError, match="ApiKey is a Node, but its ids are not unique across types"):
        ProjectionBindable([key, node]).bind_to_schema(
            build_schema(sdl(SDL.format(types="type ApiKey implements Node { id: ID! }")))
        )


def test_every_type_with_an_id_is_a_node() -> None:
    with_id = {
        name
        for name, kind in SCHEMA.type_map.items()
        if "id" in getattr(kind, "fields", {}) and not name.endswith(("Input", "Payload")) and name != "Node"
    }

    assert with_id == {projection.name for projection in NODE.selectors}
