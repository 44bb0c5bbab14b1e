"""SDL, projection and model are held to each other at start-up: what does not fit is named by type and field."""

from typing import Any

import pytest
from ariadne import EnumType, make_executable_schema
from django.contrib.postgres.fields import ArrayField
from django.db.models import CharField, ExpressionWrapper, F, QuerySet, Value
from django.db.models.functions import Length

from blog.models import Author, Comment, Post, PostSource, PostStatus
from blog.projections import order_oldest_first, select_newest_visible_posts
from contentapi.core.identity import Actor
from contentapi.graphql.bindings import ProjectedTypes
from contentapi.graphql.scalars import DATE_TIME
from contentapi.projection import (
    PAGE_INFO,
    Computed,
    Connection,
    ConnectionType,
    Count,
    Ordering,
    Projection,
    ProjectionError,
    SameRow,
    ToMany,
    ToOne,
)
from users.models import User

TYPES = """
scalar DateTime
type Query { posts: [Post!]! }
enum PostStatus { draft scheduled published archived }
enum Two { draft published }
enum Five { draft scheduled published archived lost }
enum Way { up } enum Nowhere { up }
type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
type CommentConnection { edges: [CommentEdge!]! pageInfo: PageInfo! totalCount: Int! }
type CommentEdge { cursor: String! node: Comment! }
"""
WINDOW = "first: Int, after: String, last: Int, before: String"


def unordered(rows: QuerySet[Any], _: Actor) -> QuerySet[Any]:
    return rows.all()


def in_state(rows: QuerySet[Any], _: Actor, *, state: str | None) -> QuerySet[Any]:
    return rows.filter(status=state).order_by("pk")


def bind(
    post_sdl: str,
    field: Any,
    *,
    author_model: Any = Author,
    others: str = "",
    name: str = "Post",
    types: str = TYPES,
) -> None:
    """Bind a schema whose posts have this one field beside the title."""
    fields: dict[str, Any] = {"title": "title"} if field is None else {"title": "title", "odd": field}
    author_fields = {"name": "name"}
    comment = Projection("Comment", Comment, {"body": "body"})
    connection = ConnectionType(comment)
    make_executable_schema(
        types
        + f"type Post {{ title: String! {post_sdl} }}"
        + "type Author { name: String! } type Comment { body: String! } type Other { title: String! }"
        + "type Source { path: String! }"
        + others,
        DATE_TIME,
        EnumType("Way", {"up": Ordering("created_at")}),
        ProjectedTypes(
            [
                *(PAGE_INFO, comment, connection, connection.edge),
                Projection(name, Post, fields),
                Projection("Author", author_model, author_fields),
                Projection("Source", PostSource, {"path": "path"}),
            ]
        ),
    )


WRONG: dict[str, tuple[str, Any, str]] = {
    "not projected": ("odd: String", None, "is in the SDL, and its projection lacks it"),
    "not in the SDL": ("", "title", "is projected, and the SDL lacks it"),
    "no such column": ("odd: String", "colour", "Post has no field colour"),
    "an attribute that is no field": ("odd: ID", "author_id_", "Post has no field author_id_"),
    "a list of lists": ("odd: [[String!]!]!", "tags", "lists of lists cannot be projected"),
    "a relation as a column": ("odd: Author!", "author", "author is a relation"),
    "a to-many relation as a column": ("odd: [Comment!]!", "comments", "comments is a relation"),
    "a nullable column under non-null": ("odd: DateTime!", "publish_at", "can be NULL"),
    "text under Int": ("odd: Int!", "title", "a CharField cannot be a Int"),
    "text under Boolean": ("odd: Boolean!", "body", "a TextField cannot be a Boolean"),
    "text under DateTime": ("odd: DateTime!", "body", "a TextField cannot be a DateTime"),
    "a number under DateTime": ("odd: DateTime!", "version", "a BigIntegerField cannot be a DateTime"),
    "a moment under String": ("odd: String!", "created_at", "a DateTimeField cannot be a String"),
    "64 bits under Int": ("odd: Int!", "version", "a BigIntegerField cannot be a Int"),
    "a key of 64 bits under Int": ("odd: Int!", "id", "a BigAutoField cannot be a Int"),
    "an object over a column": ("odd: Author!", "title", "a CharField cannot be a Author"),
    "an enum with values fewer than choices": (
        "odd: Two!",
        "status",
        "Two has draft, published; the column has archived",
    ),
    "an enum with values beyond choices": ("odd: Five!", "status", "Five has archived, draft, lost"),
    "an enum over a column without choices": ("odd: PostStatus!", "title", "the column has none"),
    "a list over a column": ("odd: [String!]!", "title", "a CharField cannot be a list of String"),
    "a column over an array": ("odd: String!", "tags", "a ArrayField cannot be a String"),
    "an array of others": ("odd: [Int!]!", "tags", "a CharField cannot be a Int"),
    "arguments on a column": ("odd(limit: Int): String!", "title", "takes no arguments, and the SDL has limit"),
    "One on a column": ("odd: Author!", ToOne("title"), "title is no foreign key"),
    "One on nothing": ("odd: Author!", ToOne("colour"), "Post has no field colour"),
    "One on a to-many relation": ("odd: Author!", ToOne("comments"), "comments is no foreign key"),
    "One on a one-to-one that points here, under non-null": ("odd: Source!", ToOne("source"), "source can be NULL"),
    "Itself as a type of another model": ("odd: Author!", SameRow(), "not how Post is projected"),
    "Itself as a type that is not projected": ("odd: Other!", SameRow(), "not how Post is projected"),
    "Itself under a list": ("odd: [Post!]!", SameRow(), "the SDL has a list of Post"),
    "Itself under a scalar": ("odd: String", SameRow(), "not how Post is projected"),
    "arguments on Itself": ("odd(id: ID): Post!", SameRow(), "takes no arguments, and the SDL has id"),
    "One under a list": ("odd: [Author!]!", ToOne("author"), "the SDL has a list of Author"),
    "One of another type": ("odd: Comment!", ToOne("author"), "not how Author is projected"),
    "One of a type that is not projected": ("odd: Other!", ToOne("author"), "not how Author is projected"),
    "One under a scalar": ("odd: String", ToOne("author"), "not how Author is projected"),
    "arguments on One": ("odd(id: ID): Author!", ToOne("author"), "takes no arguments, and the SDL has id"),
    "Many on a column": (
        "odd(limit: Int = 9): [Comment!]!",
        ToMany("title", order_oldest_first),
        "no to-many relation",
    ),
    "Many on a key": ("odd(limit: Int = 9): [Author!]!", ToMany("author", order_oldest_first), "no to-many relation"),
    "Many on nothing": (
        "odd(limit: Int = 9): [Comment!]!",
        ToMany("notes", order_oldest_first),
        "Post has no field notes",
    ),
    "Many under an object": (
        "odd(limit: Int = 9): Comment",
        ToMany("comments", order_oldest_first),
        "has a object of Comment",
    ),
    "Many of another type": (
        "odd(limit: Int = 9): [Author!]!",
        ToMany("comments", order_oldest_first),
        "not how Comment is",
    ),
    "Many without order": ("odd(limit: Int = 9): [Comment!]!", ToMany("comments", unordered), "the rows have no order"),
    "Many without limit": ("odd: [Comment!]!", ToMany("comments", order_oldest_first), "the SDL's arguments are none"),
    "Many without default": (
        "odd(limit: Int): [Comment!]!",
        ToMany("comments", order_oldest_first),
        "limit needs a default",
    ),
    "Many with an argument less": (
        "odd(limit: Int = 9): [Comment!]!",
        ToMany("comments", in_state),
        "the SDL's arguments are limit; the projection's limit, state",
    ),
    "Many with an argument more": (
        "odd(limit: Int = 9, status: PostStatus): [Comment!]!",
        ToMany("comments", order_oldest_first),
        "the SDL's arguments are limit, status; the projection's limit",
    ),
    "Many with another argument": (
        "odd(limit: Int = 9, state: PostStatus): [Comment!]!",
        ToMany("comments", select_newest_visible_posts),
        "the SDL's arguments are limit, state; the projection's limit, status",
    ),
    "Count on a column": ("odd: Int!", Count("title"), "title is no to-many relation"),
    "Count on a key": ("odd: Int!", Count("author"), "author is no to-many relation"),
    "Count on nothing": ("odd: Int!", Count("notes"), "Post has no field notes"),
    "Count under String": ("odd: String!", Count("comments"), "a count is an Int, and the SDL says String"),
    "Count under a list": ("odd: [Int!]!", Count("comments"), "a count is an Int"),
    "arguments on Count": ("odd(limit: Int): Int!", Count("comments"), "takes no arguments"),
    "Connection on a column": (f"odd({WINDOW}): CommentConnection!", Connection("title"), "no to-many relation"),
    "Connection of another type": ("odd: [Comment!]!", Connection("comments"), "Comment, which is no connection of"),
    "Connection of what is no type": ("odd: Int!", Connection("comments"), "Int, which is no connection of Comment"),
    "Connection without an order": (
        f"odd({WINDOW}): CommentConnection!",
        Connection("comments"),
        "the SDL's arguments are after, before, first, last; a connection's after, before, first, last, order_by",
    ),
    "Connection with an order that has no default": (
        f"odd({WINDOW}, orderBy: Way): CommentConnection!",
        Connection("comments"),
        "orderBy needs a default in the SDL",
    ),
    "Connection with an order that is none": (
        f"odd({WINDOW}, orderBy: Nowhere = up): CommentConnection!",
        Connection("comments"),
        "its enum needs orders for its values",
    ),
    "Many under a connection": (
        "odd(limit: Int = 9): CommentConnection!",
        ToMany("comments", order_oldest_first),
        "not how",
    ),
    "Computed of nothing": ("odd: String", Computed(lambda _: F("colour")), "Cannot resolve keyword 'colour'"),
    "Computed of another type": (
        "odd: String",
        Computed(lambda _: F("publish_at")),
        "a DateTimeField cannot be a String",
    ),
    "arguments on Computed": ("odd(id: ID): String", Computed(lambda _: Value("a")), "takes no arguments"),
    "Computed under a list": ("odd: [String!]", Computed(lambda _: F("title")), "cannot be a list of String"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_fails_at_start_up_and_is_named(case: str) -> None:
    sdl, field, told = WRONG[case]

    with pytest.raises(ProjectionError) as refusal:
        bind(sdl, field)

    assert str(refusal.value).startswith(("Post.odd: ", "Post.odd is "))
    assert told in str(refusal.value)


STATES = ExpressionWrapper(F("tags"), output_field=ArrayField(CharField(choices=PostStatus.choices)))
RIGHT: dict[str, tuple[str, Any]] = {
    "a nullable column": ("odd: DateTime", "publish_at"),
    "a non-null column under nullable": ("odd: String", "title"),
    "a number as text": ("odd: String!", "version"),
    "a number as an id": ("odd: ID!", "id"),
    "a number as Float": ("odd: Float!", "version"),
    "an enum": ("odd: PostStatus!", "status"),
    "a list": ("odd: [ID!]!", "tags"),
    "a list of enums": ("odd: [PostStatus!]!", Computed(lambda _: STATES)),
    "a to-one relation": ("odd: Author", ToOne("author")),
    "a one-to-one that points here": ("odd: Source", ToOne("source")),
    "the row itself": ("odd: Post!", SameRow()),
    "a to-many relation": ("odd(limit: Int = 9): [Comment!]", ToMany("comments", order_oldest_first)),
    "a connection": (f"odd({WINDOW}, orderBy: Way = up): CommentConnection!", Connection("comments")),
    "a count": ("odd: Int", Count("comments")),
    "an expression": ("odd: Int", Computed(lambda _: Length("title"))),
}


@pytest.mark.parametrize("case", RIGHT)
def test_what_fits_is_bound(case: str) -> None:
    bind(*RIGHT[case])


PRESCRIBED = {
    "pageInfo: PageInfo! totalCount: Int!": "CommentConnection.edges is missing in the SDL, and [CommentEdge!]! in a",
    "edges: [Comment!]! pageInfo: PageInfo! totalCount: Int!": "CommentConnection.edges is [Comment!]! in the SDL",
    "edges: [CommentEdge!]! pageInfo: PageInfo! totalCount: Int": "CommentConnection.totalCount is Int in the SDL",
    "edges: [CommentEdge!]! pageInfo: PageInfo! totalCount: Int! nodes: [Comment!]!": "CommentConnection.nodes is",
}


@pytest.mark.parametrize("fields", PRESCRIBED)
def test_a_connection_that_is_not_as_prescribed_is_named(fields: str) -> None:
    types = TYPES.replace("edges: [CommentEdge!]! pageInfo: PageInfo! totalCount: Int!", fields)

    with pytest.raises(ProjectionError) as refusal:
        bind("", None, types=types)

    assert str(refusal.value).startswith(PRESCRIBED[fields])


def test_a_projection_of_a_type_that_the_sdl_lacks_is_named() -> None:
    with pytest.raises(ProjectionError, match="Article has a projection, but is not an object type of the SDL"):
        bind("", None, name="Article")


def test_a_projection_of_what_is_no_object_type_is_named() -> None:
    with pytest.raises(ProjectionError, match="PostStatus has a projection, but is not an object type of the SDL"):
        bind("", None, name="PostStatus")


def test_a_relation_to_a_type_of_another_model_is_named() -> None:
    with pytest.raises(ProjectionError, match=r"^Post\.odd: .*not how Author is projected"):
        bind("odd: Author!", ToOne("author"), author_model=User)


def test_a_nullable_key_under_non_null_is_named() -> None:
    sdl = "type Query { a: Author } type Author { user: User! } type User { id: ID! }"
    types = ProjectedTypes(
        [Projection("Author", Author, {"user": ToOne("user")}), Projection("User", User, {"id": "id"})]
    )

    with pytest.raises(ProjectionError, match=r"^Author\.user: user can be NULL, and the SDL says non-null\.$"):
        make_executable_schema(sdl, types)


def test_a_column_of_bytes_is_named() -> None:
    sdl = "type Query { a: Source } type Source { digest: String! }"

    with pytest.raises(ProjectionError, match=r"^Source\.digest: a BinaryField cannot be a String\.$"):
        make_executable_schema(sdl, ProjectedTypes([Projection("Source", PostSource, {"digest": "digest"})]))
