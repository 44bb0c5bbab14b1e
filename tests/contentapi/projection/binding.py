"""A small SDL and its binding to projections, for the tests of the checks at start-up."""

from typing import Any

from ariadne import EnumType, make_executable_schema

from blog.models import Author, Comment, Post, PostSource
from contentapi.graphql.bindings import ProjectionBindable
from contentapi.graphql.scalars import DATE_TIME
from contentapi.projection import PAGE_INFO, ConnectionType, Ordering, Projection

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


def bind(
    post_sdl: str,
    field: Any,
    *,
    author_model: Any = Author,
    name: str = "Post",
    types: str = TYPES,
) -> None:
    """Bind a schema whose type Post has this field and a title."""
    fields: dict[str, Any] = {"title": "title"} if field is None else {"title": "title", "odd": field}
    author_fields = {"name": "name"}
    comment = Projection("Comment", Comment, {"body": "body"})
    connection = ConnectionType(comment)
    make_executable_schema(
        types
        + f"type Post {{ title: String! {post_sdl} }}"
        + "type Author { name: String! } type Comment { body: String! }"
        + "type Source { path: String! }",
        DATE_TIME,
        EnumType("Way", {"up": Ordering("created_at")}),
        ProjectionBindable(
            [
                *(PAGE_INFO, comment, connection, connection.edge),
                Projection(name, Post, fields),
                Projection("Author", author_model, author_fields),
                Projection("Source", PostSource, {"path": "path"}),
            ]
        ),
    )
