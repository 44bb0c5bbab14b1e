"""Compares the SDL with the specification and with the bound code."""

import re
from collections.abc import Iterator
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLObjectType,
    build_schema,
    get_directive_values,
    get_named_type,
    get_nullable_type,
    is_composite_type,
    is_list_type,
    is_non_null_type,
    is_object_type,
)

import blog.selectors
import contentapi.events.webhooks.selectors
import contentapi.urls
import orders.selectors
import users.selectors
from contentapi.core.errors import ApiError
from contentapi.core.identity import Role
from contentapi.graphql.bindings import get_projection
from contentapi.graphql.cost_directives import read_schema_costs
from contentapi.graphql.schema_diff import list_breaking_changes, list_dangerous_changes
from contentapi.schema import PROJECTIONS, SCHEMA
from orders.models import OrderAction, OrderStatus
from tests.contract.own_types import OWN_NAMES
from tests.deployment.processes import ROOT

# The types that no projection reads, and payloads without an object
WITHOUT_ROWS = {
    "CreatePreviewLinkPayload",
    "CreateUploadPayload",
    "CreateWebhookPayload",
    "PreviewAddress",
    "ReplayWebhookPayload",
    "RotateWebhookSecretPayload",
    "UploadHeader",
}

# What docs/specification.md shows, with the types of docs/decisions/0016-additions-to-the-sdl.md. `manage.py
# check_schema` compares the additions with the released SDL.
SPECIFIED = """
type Query {
  post(id: ID!): Post
  posts(limit: Int = 10, status: PostStatus): [Post!]!
}
type Mutation { createPost(input: CreatePostInput!): Post }
enum PostStatus { draft scheduled published archived }
scalar DateTime
type Post {
  id: ID!
  title: String!
  body: String!
  status: PostStatus!
  author: Author!
  comments(limit: Int = 100): [Comment!]!
  commentCount: Int!
  createdAt: DateTime!
  updatedAt: DateTime!
  tags: [String!]!
}
type Author { id: ID! name: String! bio: String! avatarUrl: String! email: String }
type Comment { id: ID! body: String! author: Author! }
input CreatePostInput { title: String! body: String! authorId: ID }
"""


def list_names(type_name: str) -> list[str]:
    """Return the names of the values of an enum."""
    kind = SCHEMA.type_map[type_name]
    assert isinstance(kind, GraphQLEnumType)
    return list(kind.values)


def list_object_types() -> list[GraphQLObjectType]:
    return [kind for name, kind in SCHEMA.type_map.items() if is_object_type(kind) and not name.startswith("__")]


def test_request_that_the_specification_allows_is_valid_with_the_same_defaults() -> None:
    specified = build_schema(SPECIFIED)

    assert list_breaking_changes(specified, SCHEMA) == []
    assert [change for change in list_dangerous_changes(specified, SCHEMA) if "default" in change] == []
    assert list_names("PostStatus") == ["draft", "scheduled", "published", "archived"]


def test_each_order_of_the_sdl_has_an_ordering_of_rows() -> None:
    assert list_names("PostOrder") == list(blog.selectors.posts.POST_ORDERS)
    assert list_names("CommentOrder") == list(blog.selectors.comments.COMMENT_ORDERS)
    assert list_names("PostSortField") == list(blog.selectors.posts.POST_SORT_FIELDS)
    assert list_names("AuthorSortField") == list(blog.selectors.authors.AUTHOR_SORT_FIELDS)
    assert list_names("OrderSortField") == list(orders.selectors.ORDER_SORT_FIELDS)
    assert list_names("UserSortField") == list(users.selectors.USER_SORT_FIELDS)
    assert list_names("WebhookSortField") == list(contentapi.events.webhooks.selectors.WEBHOOK_SORT_FIELDS)
    assert list_names("WebhookDeliverySortField") == list(contentapi.events.webhooks.selectors.DELIVERY_SORT_FIELDS)


def test_roles_of_the_sdl_equal_the_roles_of_an_actor() -> None:
    assert list_names("Role") == list(Role)


def test_statuses_and_actions_of_orders_are_those_of_the_model() -> None:
    assert list_names("OrderStatus") == list(OrderStatus)
    assert list_names("OrderAction") == list(OrderAction)


def iterate_error_classes(kind: type[ApiError] = ApiError) -> Iterator[type[ApiError]]:
    for below in kind.__subclasses__():
        yield below
        yield from iterate_error_classes(below)


def test_error_codes_of_the_sdl_and_of_its_documentation_are_those_of_the_error_table() -> None:
    table = {kind.code: kind.status for kind in iterate_error_classes()}
    rows = re.findall(r"^\| (\d{3}) \| `([A-Z_]+)` \|", (ROOT / "docs" / "graphql.md").read_text(), re.MULTILINE)
    codes: Any = SCHEMA.type_map["ErrorCode"]

    assert {name: int(value.description.partition(".")[0]) for name, value in codes.values.items()} == table
    assert {code: int(status) for status, code in rows} == table


def test_each_type_has_a_projection_and_each_root_field_a_resolver() -> None:
    for kind in list_object_types():
        if kind in (SCHEMA.query_type, SCHEMA.mutation_type):
            assert [name for name, field in kind.fields.items() if field.resolve is None] == []
        elif kind is SCHEMA.subscription_type:
            assert [name for name, field in kind.fields.items() if field.subscribe is None] == []
        else:
            has_object = any(is_composite_type(get_named_type(field.type)) for field in kind.fields.values())
            is_empty = kind.name.endswith("Payload") and not has_object
            assert (get_projection(kind) in PROJECTIONS) is not (is_empty or kind.name in WITHOUT_ROWS), kind


def test_each_list_of_objects_has_a_size_in_the_sdl() -> None:
    sized = {name for cost in read_schema_costs(SCHEMA).fields.values() for name in cost.size.fields}
    lists = {
        f"{kind}.{name}": field
        for kind in list_object_types()
        for name, field in kind.fields.items()
        if is_list_type(get_nullable_type(field.type)) and is_composite_type(get_named_type(field.type))
    }

    without = {name for name, field in lists.items() if not has_list_size(field)}
    assert {name.partition(".")[2] for name in without} == sized == {"edges"}
    assert {"Query.posts", "Query.nodes", "Post.comments"} <= lists.keys() - without


def has_list_size(field: GraphQLField) -> bool:
    """Return whether the SDL determines the size of a list also if its slicing arguments are null."""
    directive: Any = SCHEMA.get_directive("listSize")
    given = get_directive_values(directive, field.ast_node) if field.ast_node else None
    if given is None:
        return False
    required = [name for name in given.get("slicingArguments", ()) if is_non_null_type(field.args[name].type)]
    return given["requireOneSlicingArgument"] == bool(required) and (bool(required) or given["assumedSize"] > 0)


def test_each_type_field_and_argument_has_a_description() -> None:
    own = [
        kind
        for name, kind in SCHEMA.type_map.items()
        if not name.startswith("__") and kind.ast_node and name not in OWN_NAMES
    ]
    undescribed = [kind.name for kind in own if not kind.description]
    for kind in own:
        members = getattr(kind, "fields", None) or getattr(kind, "values", None) or {}
        undescribed += [f"{kind}.{name}" for name, member in members.items() if not member.description]
        undescribed += [
            f"{kind}.{name}({argument})"
            for name, member in members.items()
            if name not in OWN_NAMES
            for argument, given in getattr(member, "args", {}).items()
            if not given.description
        ]

    assert len(own) >= 13
    assert undescribed == []
