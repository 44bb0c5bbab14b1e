"""The checks of SDL, projection and model at start-up. An error names the type and the field."""

from typing import Any

import pytest
from ariadne import make_executable_schema
from django.contrib.postgres.fields import ArrayField
from django.db.models import CharField, ExpressionWrapper, F, QuerySet, Value
from django.db.models.functions import Length

from blog.models import Author, PostSource, PostStatus
from blog.projections.posts import select_oldest_visible_comments
from contentapi.core.identity import Actor
from contentapi.graphql.bindings import ProjectionBindable
from contentapi.projection import (
    Computed,
    Connection,
    Count,
    Listed,
    Projection,
    ProjectionError,
    SameRowAsType,
    ToMany,
    ToOne,
)
from contentapi.projection.sdl import list_plain_columns
from tests.contentapi.projection.binding import TYPES, bind
from users.models import User

WINDOW = "first: Int, after: String, last: Int, before: String"


def unordered(rows: QuerySet[Any], _: Actor) -> QuerySet[Any]:
    return rows.all()


WRONG: dict[str, tuple[str, Any, str]] = {
    "not projected": ("odd: String", None, "is neither in its projection nor a column of Post"),
    "not in the SDL": ("", "title", "is in its projection, but not in the SDL"),
    "no such column": ("odd: String", "colour", "Post has no field colour"),
    "a list of lists": ("odd: [[String!]!]!", "tags", "lists of lists cannot be projected"),
    "a relation as a column": ("odd: Author!", "author", "author is a relation"),
    "a nullable column under non-null": ("odd: DateTime!", "publish_at", "can be NULL"),
    "text under Int": ("odd: Int!", "title", "a CharField cannot be a Int"),
    "64 bits under Int": ("odd: Int!", "version", "a BigIntegerField cannot be a Int"),
    "an object over a column": ("odd: Author!", "title", "a CharField cannot be a Author"),
    "an enum with values fewer than choices": (
        "odd: Two!",
        "status",
        "Two has draft, published; the column has archived",
    ),
    "an enum with values beyond choices": ("odd: Five!", "status", "Five has archived, draft, lost"),
    "an enum over a column without choices": ("odd: PostStatus!", "title", "the column has none"),
    "a column over an array": ("odd: String!", "tags", "a ArrayField cannot be a String"),
    "an array of others": ("odd: [Int!]!", "tags", "a CharField cannot be a Int"),
    "arguments on a column": ("odd(limit: Int): String!", "title", "the projection's are none"),
    "ToOne on a column": ("odd: Author!", ToOne("title"), "title is neither a foreign key"),
    "ToOne on a one-to-one that points here, under non-null": ("odd: Source!", ToOne("source"), "source can be NULL"),
    "SameRowAsType as a type of another model": ("odd: Author!", SameRowAsType(), "does not fit Post"),
    "SameRowAsType under a list": ("odd: [Post!]!", SameRowAsType(), "the SDL has a list of Post"),
    "arguments on SameRowAsType": ("odd(id: ID): Post!", SameRowAsType(), "the projection's are none"),
    "ToOne that leaves rows out, under non-null": (
        "odd: Author!",
        ToOne("author", lambda rows, _: rows),
        "author can be NULL",
    ),
    "ToOne under a list": ("odd: [Author!]!", ToOne("author"), "the SDL has a list of Author"),
    "ToOne of another type": ("odd: Comment!", ToOne("author"), "does not fit Author"),
    "ToMany on a column": (
        "odd(limit: Int = 9): [Comment!]!",
        ToMany("title", select_oldest_visible_comments),
        "not a to-many relation",
    ),
    "ToMany under an object": (
        "odd(limit: Int = 9): Comment",
        ToMany("comments", select_oldest_visible_comments),
        "has a object of Comment",
    ),
    "ToMany of another type": (
        "odd(limit: Int = 9): [Author!]!",
        ToMany("comments", select_oldest_visible_comments),
        "does not fit Comment",
    ),
    "ToMany without order": (
        "odd(limit: Int = 9): [Comment!]!",
        ToMany("comments", unordered),
        "the rows have no order",
    ),
    "ToMany without limit": (
        "odd: [Comment!]!",
        ToMany("comments", select_oldest_visible_comments),
        "limit needs a default",
    ),
    "ToMany with an argument more": (
        "odd(limit: Int = 9, status: PostStatus): [Comment!]!",
        ToMany("comments", select_oldest_visible_comments),
        "the SDL's arguments are limit, status; the projection's are limit",
    ),
    "Listed on a column": ("odd: [Author!]!", Listed("title"), "title is no array"),
    "Listed under an object": ("odd: Author", Listed("tags"), "the SDL has Author, which is no list of objects"),
    "Count on a column": ("odd: Int!", Count("title"), "title is not a to-many relation"),
    "Count under String": ("odd: String!", Count("comments"), "a count is an Int, but the SDL type is String"),
    "Connection on a column": (f"odd({WINDOW}): CommentConnection!", Connection("title"), "not a to-many relation"),
    "Connection of another type": ("odd: [Comment!]!", Connection("comments"), "Comment, which is not a connection of"),
    "Connection of what is no type": ("odd: Int!", Connection("comments"), "Int, which is not a connection of Comment"),
    "Connection without an order": (
        f"odd({WINDOW}): CommentConnection!",
        Connection("comments"),
        "orderBy needs a default in the SDL",
    ),
    "Connection with an order that is none": (
        f"odd({WINDOW}, orderBy: Nowhere = up): CommentConnection!",
        Connection("comments"),
        "its values must be orders",
    ),
    "Computed of nothing": ("odd: String", Computed(lambda _: F("colour")), "Cannot resolve keyword 'colour'"),
    "Computed of another type": (
        "odd: String",
        Computed(lambda _: F("publish_at")),
        "a DateTimeField cannot be a String",
    ),
    "arguments on Computed": ("odd(id: ID): String", Computed(lambda _: Value("a")), "the projection's are none"),
    "Computed under a list": ("odd: [String!]", Computed(lambda _: F("title")), "cannot be a list of String"),
}


def test_field_that_is_not_declared_is_the_column_of_its_name() -> None:
    bind("createdAt: DateTime!", None)

    with pytest.raises(ProjectionError, match=r"Post\.publishAt: .*can be NULL"):
        bind("publishAt: DateTime!", None)
    with pytest.raises(ProjectionError, match=r"Post\.author is neither in its projection nor a column of Post"):
        bind("author: Author!", None)


def test_guarded_column_is_no_field_unless_it_is_declared() -> None:
    assert "email" not in [column.name for column in list_plain_columns(Author)]


@pytest.mark.parametrize("case", WRONG)
def test_mismatch_of_sdl_and_projection_raises_at_start_up(case: str) -> None:
    sdl, field, message = WRONG[case]

    with pytest.raises(ProjectionError) as error:
        bind(sdl, field)

    assert str(error.value).startswith(("Post.odd: ", "Post.odd is "))
    assert message in str(error.value)


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
    "the row itself": ("odd: Post!", SameRowAsType()),
    "a to-many relation": ("odd(limit: Int = 9): [Comment!]", ToMany("comments", select_oldest_visible_comments)),
    "a connection": (f"odd({WINDOW}, orderBy: Way = up): CommentConnection!", Connection("comments")),
    "a count": ("odd: Int", Count("comments")),
    "an expression": ("odd: Int", Computed(lambda _: Length("title"))),
}


@pytest.mark.parametrize("case", RIGHT)
def test_matching_sdl_and_projection_are_bound(case: str) -> None:
    bind(*RIGHT[case])


PRESCRIBED = {
    "pageInfo: PageInfo! totalCount: Int!": "CommentConnection.edges is missing in the SDL, but [CommentEdge!]! in a",
    "edges: [Comment!]! pageInfo: PageInfo! totalCount: Int!": "CommentConnection.edges is [Comment!]! in the SDL",
    "edges: [CommentEdge!]! pageInfo: PageInfo! totalCount: Int": "CommentConnection.totalCount is Int in the SDL",
    "edges: [CommentEdge!]! pageInfo: PageInfo! totalCount: Int! nodes: [Comment!]!": "CommentConnection.nodes is",
}


@pytest.mark.parametrize("fields", PRESCRIBED)
def test_connection_type_that_is_not_as_relay_prescribes_raises(fields: str) -> None:
    types = TYPES.replace("edges: [CommentEdge!]! pageInfo: PageInfo! totalCount: Int!", fields)

    with pytest.raises(ProjectionError) as error:
        bind("", None, types=types)

    assert str(error.value).startswith(PRESCRIBED[fields])


def test_projection_of_a_type_missing_in_the_sdl_raises() -> None:
    with pytest.raises(ProjectionError, match="Article has a projection, but is not an object type of the SDL"):
        bind("", None, name="Article")


def test_projection_of_a_type_that_is_not_an_object_type_raises() -> None:
    with pytest.raises(ProjectionError, match="PostStatus has a projection, but is not an object type of the SDL"):
        bind("", None, name="PostStatus")


def test_relation_to_a_type_of_another_model_raises() -> None:
    with pytest.raises(ProjectionError, match=r"^Post\.odd: .*does not fit Author"):
        bind("odd: Author!", ToOne("author"), author_model=User)


def test_nullable_key_with_a_non_null_type_raises() -> None:
    sdl = "type Query { a: Author } type Author { user: User! } type User { id: ID! }"
    types = ProjectionBindable(
        [Projection("Author", Author, {"user": ToOne("user")}), Projection("User", User, {"id": "id"})]
    )

    with pytest.raises(ProjectionError, match=r"^Author\.user: user can be NULL, but the SDL type is non-null\.$"):
        make_executable_schema(sdl, types)


def test_column_of_bytes_raises() -> None:
    sdl = "type Query { a: Source } type Source { digest: String! }"

    with pytest.raises(ProjectionError, match=r"^Source\.digest: a BinaryField cannot be a String\.$"):
        make_executable_schema(sdl, ProjectionBindable([Projection("Source", PostSource, {"digest": "digest"})]))
