"""The connections of generated documents: their rows, orders, filters and cursors."""

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ariadne import convert_camel_case_to_snake

from blog.models import Author, Comment, Post
from orders.models import Order
from tests.contentapi.projection.fixture_rows import authors, comments, orders, posts, users
from tests.contentapi.projection.reference_connections import cursor_of
from tests.contentapi.projection.reference_rows import Bound
from users.models import User


class Pages(NamedTuple):
    """A connection: its rows, the collection that its cursors name, and the column of the parent's id, if it has one.

    Its order is an input with a field and a direction, or else an enum. `variables` are orders with variables.
    """

    model: type[Any]
    rows: Callable[[], list[Any]]
    collection: str
    default: str
    parent: str = ""
    variables: Sequence[str] = ()
    is_sorted_by_input: bool = True


PAGES = {
    "Query.postsConnection": Pages(
        Post, posts, "postsConnection", "createdAtDesc", variables=["$order"], is_sorted_by_input=False
    ),
    "Query.authors": Pages(Author, authors, "authors", "createdAtAsc"),
    "Query.users": Pages(User, users, "users", "createdAtAsc"),
    "Query.orders": Pages(Order, orders, "orders", "createdAtDesc"),
    "Author.postsConnection": Pages(
        Post,
        posts,
        "blog.Author.posts",
        "createdAtDesc",
        "author_id",
        ["$sort", "{field: $sortField, direction: $sortDirection}", "{field: $sortField}"],
    ),
    "Viewer.orders": Pages(Order, orders, "users.User.orders", "createdAtDesc", "user_id"),
    "Post.commentsConnection": Pages(
        Comment,
        comments,
        "blog.Post.comments",
        "createdAtAsc",
        "post_id",
        ["$wayOfComments"],
        is_sorted_by_input=False,
    ),
}


def build_cursor(pages: Pages, place: int, order: str, criteria: dict[str, str]) -> str:
    """Return the cursor of a row in the connection with this order and these criteria."""
    # An order of a deleted user is in no connection with a parent, so the server issues no such cursor for it.
    rows = [row for row in pages.rows() if not pages.parent or getattr(row, pages.parent) is not None]
    row = rows[place % len(rows)]
    parent = getattr(row, pages.parent) if pages.parent else None
    return cursor_of(row, Bound(pages.model, pages.collection, order, criteria, parent))


def build_cursor_of_post(place: int) -> str:
    return build_cursor(PAGES["Query.postsConnection"], place, "createdAtDesc", {})


def build_criteria(filter_: dict[str, Any]) -> dict[str, str]:
    filters = {convert_camel_case_to_snake(name): str(value) for name, value in filter_.items() if value is not None}
    return dict(sorted(filters.items()))


def in_json(filter_: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in filter_.items()}


def in_sort(order: str) -> str:
    """Return an order as an input: `createdAtDesc` is `{field: createdAt, direction: desc}`."""
    column, direction = re.fullmatch(r"(\w+)(Asc|Desc)", order).groups()  # type: ignore[union-attr]
    return f"{{field: {column}, direction: {direction.lower()}}}"


def in_graphql(filter_: dict[str, Any]) -> str:
    values = {name: value if name == "status" else json.dumps(value) for name, value in in_json(filter_).items()}
    return "{" + ", ".join(f"{name}: {value or 'null'}" for name, value in values.items()) + "}"
