"""The SDL against the specification, and against the code bound to it."""

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLObjectType,
    is_object_type,
    print_ast,
)

from blog.projections import PROJECTIONS
from contentapi.graphql.projections import projection_of
from contentapi.graphql.schema import SCHEMA

# The specification's "Resources and their fields", "Query fields" and "Mutation fields", with the decisions' section 1.
SIGNATURES = [
    ("Query", "post(id: ID!): Post"),
    ("Query", "posts(limit: Int = 10, status: PostStatus): [Post!]!"),
    ("Query", "author(id: ID!): Author"),
    ("Mutation", "createPost(input: CreatePostInput!): Post"),
    ("Post", "id: ID!"),
    ("Post", "title: String!"),
    ("Post", "body: String!"),
    ("Post", "status: PostStatus!"),
    ("Post", "author: Author!"),
    ("Post", "comments(limit: Int = 100): [Comment!]!"),
    ("Post", "commentCount: Int!"),
    ("Post", "createdAt: DateTime!"),
    ("Post", "updatedAt: DateTime!"),
    ("Post", "publishAt: DateTime"),
    ("Post", "tags: [String!]!"),
    ("Post", "version: String!"),
    ("Author", "id: ID!"),
    ("Author", "name: String!"),
    ("Author", "bio: String!"),
    ("Author", "avatarUrl: String!"),
    ("Author", "email: String"),
    ("Author", "posts(limit: Int = 10, status: PostStatus): [Post!]!"),
    ("Comment", "id: ID!"),
    ("Comment", "body: String!"),
    ("Comment", "author: Author!"),
    ("Comment", "createdAt: DateTime!"),
    ("CreatePostInput", "title: String!"),
    ("CreatePostInput", "body: String!"),
    ("CreatePostInput", "authorId: ID"),
    ("CreatePostInput", "tags: [String!]"),
    ("CreatePostInput", "status: PostStatus = draft"),
    ("CreatePostInput", "publishAt: DateTime"),
]


def signatures(type_name: str) -> list[str]:
    """Return what the SDL says of each field or value of a type: its name, its arguments and its type."""
    kind = SCHEMA.type_map[type_name]
    if isinstance(kind, GraphQLEnumType):
        return list(kind.values)
    if isinstance(kind, GraphQLInputObjectType):
        return [argument(name, field) for name, field in kind.fields.items()]
    assert isinstance(kind, GraphQLObjectType)
    return [
        f"{name}({', '.join(argument(*item) for item in field.args.items())}): {field.type}".replace("()", "")
        for name, field in kind.fields.items()
    ]


def argument(name: str, given: GraphQLArgument | GraphQLInputField) -> str:
    default = given.ast_node and given.ast_node.default_value
    return f"{name}: {given.type}" + (f" = {print_ast(default)}" if default else "")


def object_types() -> list[GraphQLObjectType]:
    return [kind for name, kind in SCHEMA.type_map.items() if is_object_type(kind) and not name.startswith("__")]


@pytest.mark.parametrize("type_name", sorted({name for name, _ in SIGNATURES}))
def test_the_fields_are_the_specified_ones_and_no_others(type_name: str) -> None:
    assert signatures(type_name) == [signature for name, signature in SIGNATURES if name == type_name]


def test_the_states_of_a_post_are_the_decided_ones() -> None:
    assert signatures("PostStatus") == ["draft", "scheduled", "published", "archived"]


@pytest.mark.parametrize("kind", object_types(), ids=str)
def test_every_type_is_projected_and_every_root_field_has_a_resolver(kind: GraphQLObjectType) -> None:
    unresolved = [name for name, field in kind.fields.items() if field.resolve is None]

    if kind in (SCHEMA.query_type, SCHEMA.mutation_type):
        assert unresolved == []
    else:
        assert projection_of(kind) in PROJECTIONS


def test_every_type_and_every_field_with_arguments_is_described() -> None:
    types = [kind.name for kind in object_types() if not kind.description]
    arguments = [
        f"{kind.name}.{name}({argument})"
        for kind in object_types()
        for name, field in kind.fields.items()
        for argument, definition in field.args.items()
        if not definition.description and argument not in ("id", "input")
    ]

    assert types == []
    assert arguments == []
