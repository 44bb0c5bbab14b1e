"""Compares the SDL with the specification and with the bound code."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLObjectType,
    get_directive_values,
    get_named_type,
    get_nullable_type,
    is_composite_type,
    is_list_type,
    is_non_null_type,
    is_object_type,
    print_ast,
)

import blog.projections
import orders.projections
import users.projections
from contentapi.core.errors import ApiError
from contentapi.core.identity import Role
from contentapi.graphql.bindings import get_projection
from contentapi.graphql.cost_directives import read_schema_costs
from contentapi.projection import PAGE_INFO
from contentapi.schema import SCHEMA
from orders.models import OrderAction, OrderStatus
from tests.e2e.checkout import ROOT

PROJECTIONS = [
    PAGE_INFO,
    *blog.projections.PROJECTIONS,
    *orders.projections.PROJECTIONS,
    *users.projections.PROJECTIONS,
]
WITHOUT_ROWS = {"DeleteUserPayload"}  # the types that no projection reads
WINDOW = "first: Int, after: String, last: Int, before: String"
ASCENDING = "{ field: createdAt, direction: asc }"
DESCENDING = "{ field: createdAt, direction: desc }"

# The fields of docs/specification.md, with the additions of docs/decisions/0016-additions-to-the-sdl.md.
SIGNATURES = [
    ("Query", "post(id: ID!): Post"),
    ("Query", "posts(limit: Int = 10, status: PostStatus): [Post!]!"),
    (
        "Query",
        "postsConnection(first: Int, after: String, last: Int, before: String, filter: PostFilter, "
        "orderBy: PostOrder): PostConnection!",
    ),
    ("Query", "author(id: ID!): Author"),
    ("Query", f"authors({WINDOW}, orderBy: AuthorSort = {ASCENDING}): AuthorConnection!"),
    ("Query", "comment(id: ID!): Comment"),
    ("Query", "order(id: ID!): Order"),
    ("Query", f"orders({WINDOW}, orderBy: OrderSort = {DESCENDING}): OrderConnection"),
    ("Query", "node(id: ID!): Node"),
    ("Query", "nodes(ids: [ID!]!): [Node]!"),
    ("Query", "viewer: Viewer"),
    ("Query", "user(id: ID!): User"),
    ("Query", f"users({WINDOW}, orderBy: UserSort = {ASCENDING}): UserConnection"),
    ("Mutation", "createPost(input: CreatePostInput!): Post"),
    ("Mutation", "updatePost(input: UpdatePostInput!): Post"),
    ("Mutation", "publishPost(id: ID!, expectedVersion: String): Post"),
    ("Mutation", "unpublishPost(id: ID!, expectedVersion: String): Post"),
    ("Mutation", "archivePost(id: ID!, expectedVersion: String): Post"),
    ("Mutation", "schedulePost(input: SchedulePostInput!): Post"),
    ("Mutation", "deletePost(id: ID!, expectedVersion: String): ID"),
    ("Mutation", "addComment(input: AddCommentInput!): Comment"),
    ("Mutation", "deleteComment(id: ID!): ID"),
    ("Mutation", "createOrder(input: CreateOrderInput!): CreateOrderPayload"),
    ("Mutation", "payOrder(input: PayOrderInput!): PayOrderPayload"),
    ("Mutation", "cancelOrder(input: CancelOrderInput!): CancelOrderPayload"),
    ("Mutation", "createUser(input: CreateUserInput!): CreateUserPayload"),
    ("Mutation", "deleteUser(input: DeleteUserInput!): DeleteUserPayload"),
    ("Post", "id: ID!"),
    ("Post", "title: String!"),
    ("Post", "body: String!"),
    ("Post", "status: PostStatus!"),
    ("Post", "author: Author!"),
    ("Post", "comments(limit: Int = 100): [Comment!]!"),
    (
        "Post",
        "commentsConnection(first: Int, after: String, last: Int, before: String, "
        "orderBy: CommentOrder = createdAtAsc): CommentConnection!",
    ),
    ("Post", "commentCount: Int!"),
    ("Post", "createdAt: DateTime!"),
    ("Post", "updatedAt: DateTime!"),
    ("Post", "publishAt: DateTime"),
    ("Post", "publishedAt: DateTime"),
    ("Post", "tags: [String!]!"),
    ("Post", "version: String!"),
    ("Author", "id: ID!"),
    ("Author", "name: String!"),
    ("Author", "bio: String!"),
    ("Author", "avatarUrl: String!"),
    ("Author", "email: String"),
    ("Author", "posts(limit: Int = 10, status: PostStatus): [Post!]!"),
    (
        "Author",
        f"postsConnection({WINDOW}, status: PostStatus, orderBy: PostSort = {DESCENDING}): PostConnection!",
    ),
    ("AuthorConnection", "edges: [AuthorEdge!]!"),
    ("AuthorConnection", "pageInfo: PageInfo!"),
    ("AuthorConnection", "totalCount: Int!"),
    ("AuthorEdge", "cursor: String!"),
    ("AuthorEdge", "node: Author!"),
    ("AuthorSort", "field: AuthorSortField!"),
    ("AuthorSort", "direction: SortDirection! = asc"),
    ("PostSort", "field: PostSortField!"),
    ("PostSort", "direction: SortDirection! = asc"),
    ("Comment", "id: ID!"),
    ("Comment", "body: String!"),
    ("Comment", "author: Author!"),
    ("Comment", "createdAt: DateTime!"),
    ("PostFilter", "status: PostStatus"),
    ("PostFilter", "tag: String"),
    ("PostFilter", "author: ID"),
    ("PostFilter", "createdFrom: DateTime"),
    ("PostFilter", "createdBefore: DateTime"),
    ("PostFilter", "search: String"),
    ("PostConnection", "edges: [PostEdge!]!"),
    ("PostConnection", "pageInfo: PageInfo!"),
    ("PostConnection", "totalCount: Int!"),
    ("PostEdge", "cursor: String!"),
    ("PostEdge", "node: Post!"),
    ("CommentConnection", "edges: [CommentEdge!]!"),
    ("CommentConnection", "pageInfo: PageInfo!"),
    ("CommentConnection", "totalCount: Int!"),
    ("CommentEdge", "cursor: String!"),
    ("CommentEdge", "node: Comment!"),
    ("PageInfo", "hasNextPage: Boolean!"),
    ("PageInfo", "hasPreviousPage: Boolean!"),
    ("PageInfo", "startCursor: String"),
    ("PageInfo", "endCursor: String"),
    ("CreatePostInput", "title: String!"),
    ("CreatePostInput", "body: String!"),
    ("CreatePostInput", "authorId: ID"),
    ("CreatePostInput", "tags: [String!]"),
    ("CreatePostInput", "status: PostStatus = draft"),
    ("CreatePostInput", "publishAt: DateTime"),
    ("UpdatePostInput", "id: ID!"),
    ("UpdatePostInput", "title: String"),
    ("UpdatePostInput", "body: String"),
    ("UpdatePostInput", "tags: [String!]"),
    ("UpdatePostInput", "expectedVersion: String"),
    ("SchedulePostInput", "id: ID!"),
    ("SchedulePostInput", "publishAt: DateTime!"),
    ("SchedulePostInput", "expectedVersion: String"),
    ("AddCommentInput", "postId: ID!"),
    ("AddCommentInput", "body: String!"),
    ("Viewer", "user: User!"),
    ("Viewer", "role: Role!"),
    ("Viewer", "scopes: [String!]!"),
    ("Viewer", "author: Author"),
    ("Viewer", f"orders({WINDOW}, orderBy: OrderSort = {DESCENDING}): OrderConnection!"),
    ("User", "id: ID!"),
    ("User", "name: String!"),
    ("User", "email: String!"),
    ("User", "author: Author"),
    ("UserConnection", "edges: [UserEdge!]!"),
    ("UserConnection", "pageInfo: PageInfo!"),
    ("UserConnection", "totalCount: Int!"),
    ("UserEdge", "cursor: String!"),
    ("UserEdge", "node: User!"),
    ("UserSort", "field: UserSortField!"),
    ("UserSort", "direction: SortDirection! = asc"),
    ("CreateUserInput", "name: String!"),
    ("CreateUserInput", "email: String!"),
    ("CreateUserPayload", "user: User!"),
    ("DeleteUserInput", "id: ID!"),
    ("DeleteUserPayload", "deletedUserId: ID!"),
    ("Order", "id: ID!"),
    ("Order", "status: OrderStatus!"),
    ("Order", "total: Float!"),
    ("Order", "createdAt: DateTime!"),
    ("Order", "tracking: OrderTracking"),
    ("Order", "allowedActions: [OrderAction!]!"),
    ("Order", "version: String!"),
    ("OrderTracking", "carrier: String!"),
    ("OrderTracking", "trackingNumber: String!"),
    ("OrderTracking", "shippedAt: DateTime!"),
    ("OrderTracking", "deliveredAt: DateTime"),
    ("OrderConnection", "edges: [OrderEdge!]!"),
    ("OrderConnection", "pageInfo: PageInfo!"),
    ("OrderConnection", "totalCount: Int!"),
    ("OrderEdge", "cursor: String!"),
    ("OrderEdge", "node: Order!"),
    ("OrderSort", "field: OrderSortField!"),
    ("OrderSort", "direction: SortDirection! = asc"),
    ("CreateOrderInput", "total: Float!"),
    ("CreateOrderPayload", "order: Order!"),
    ("PayOrderInput", "id: ID!"),
    ("PayOrderInput", "expectedVersion: String"),
    ("PayOrderPayload", "order: Order!"),
    ("CancelOrderInput", "id: ID!"),
    ("CancelOrderInput", "expectedVersion: String"),
    ("CancelOrderPayload", "order: Order!"),
]


def list_signatures(type_name: str) -> list[str]:
    """Return the signature of each field of a type, or the values of an enum."""
    kind = SCHEMA.type_map[type_name]
    if isinstance(kind, GraphQLEnumType):
        return list(kind.values)
    if isinstance(kind, GraphQLInputObjectType):
        return [format_argument(name, field) for name, field in kind.fields.items()]
    assert isinstance(kind, GraphQLObjectType)
    return [
        f"{name}({', '.join(format_argument(*item) for item in field.args.items())}): {field.type}".replace("()", "")
        for name, field in kind.fields.items()
    ]


def format_argument(name: str, given: GraphQLArgument | GraphQLInputField) -> str:
    default = given.ast_node and given.ast_node.default_value
    return f"{name}: {given.type}" + (f" = {print_ast(default)}" if default else "")


def list_object_types() -> list[GraphQLObjectType]:
    return [kind for name, kind in SCHEMA.type_map.items() if is_object_type(kind) and not name.startswith("__")]


@pytest.mark.parametrize("type_name", sorted({name for name, _ in SIGNATURES}))
def test_type_has_exactly_the_specified_fields(type_name: str) -> None:
    assert list_signatures(type_name) == [signature for name, signature in SIGNATURES if name == type_name]


def test_post_status_has_four_values() -> None:
    assert list_signatures("PostStatus") == ["draft", "scheduled", "published", "archived"]


def test_each_order_of_the_sdl_has_an_ordering_of_rows() -> None:
    assert list_signatures("PostOrder") == list(blog.projections.POST_ORDERS)
    assert list_signatures("CommentOrder") == list(blog.projections.COMMENT_ORDERS)
    assert list_signatures("PostSortField") == list(blog.projections.POST_SORT_FIELDS)
    assert list_signatures("AuthorSortField") == list(blog.projections.AUTHOR_SORT_FIELDS)
    assert list_signatures("OrderSortField") == list(orders.projections.ORDER_SORT_FIELDS)
    assert list_signatures("UserSortField") == list(users.projections.USER_SORT_FIELDS)


def test_roles_of_the_sdl_equal_the_roles_of_an_actor() -> None:
    assert list_signatures("Role") == list(Role)


def test_statuses_and_actions_of_orders_are_those_of_the_model() -> None:
    assert list_signatures("OrderStatus") == list(OrderStatus)
    assert list_signatures("OrderAction") == list(OrderAction)


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


@pytest.mark.parametrize("kind", list_object_types(), ids=str)
def test_each_type_has_a_projection_and_each_root_field_a_resolver(kind: GraphQLObjectType) -> None:
    unresolved = [name for name, field in kind.fields.items() if field.resolve is None]

    if kind in (SCHEMA.query_type, SCHEMA.mutation_type):
        assert unresolved == []
    else:
        assert (get_projection(kind) in PROJECTIONS) is (kind.name not in WITHOUT_ROWS)


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
    required = [name for name in given["slicingArguments"] if is_non_null_type(field.args[name].type)]
    return given["requireOneSlicingArgument"] == bool(required) and (bool(required) or given["assumedSize"] > 0)


def test_each_type_field_and_argument_has_a_description() -> None:
    own = [kind for name, kind in SCHEMA.type_map.items() if not name.startswith("__") and kind.ast_node]
    undescribed = [kind.name for kind in own if not kind.description]
    for kind in own:
        members = getattr(kind, "fields", None) or getattr(kind, "values", None) or {}
        undescribed += [f"{kind}.{name}" for name, member in members.items() if not member.description]
        undescribed += [
            f"{kind}.{name}({argument})"
            for name, member in members.items()
            for argument, given in getattr(member, "args", {}).items()
            if not given.description
        ]

    assert len(own) >= 13
    assert undescribed == []
