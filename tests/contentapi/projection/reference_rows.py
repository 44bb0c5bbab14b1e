"""The rows that the reference executor reads, their orders, and who sees which."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

from graphql import GraphQLResolveInfo

from blog.models import SUMMARIES, Author, Comment, Post, WorkingCopy
from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor, Role
from contentapi.core.pagination import sign_cursor
from orders.models import Order
from tests.content import TEXTS
from tests.contentapi.projection.fixture_rows import USERS
from users.models import User

Row = TypeVar("Row", Author, Post, Comment, User, Order)

RELATED: dict[type[Any], list[str]] = {Post: ["author"]}
COLUMNS: dict[type[Any], dict[str, str]] = {  # by which the rows of a connection can be ordered
    Post: {"createdAt": "created_at", "updatedAt": "updated_at", "publishedAt": "publication_order"},
    Comment: {"createdAt": "created_at"},
    Author: {"name": "name", "createdAt": "created_at"},
    User: {"name": "name", "createdAt": "created_at"},
    Order: {"createdAt": "created_at"},
}
ORDERS = {
    model: {
        f"{name}{way}": [f"{sign}{column}", f"{sign}pk"]
        for name, column in columns.items()
        for way, sign in {"Asc": "", "Desc": "-"}.items()
    }
    for model, columns in COLUMNS.items()
}


class Bound(NamedTuple):
    """The collection, the order of its rows, the criteria and the parent for which a cursor is valid."""

    model: type[Any]
    collection: str
    order: str
    criteria: dict[str, str]
    parent: int | None = None

    @property
    def terms(self) -> list[str]:
        return ORDERS[self.model][self.order]

    def sign(self, text: str) -> str:
        """Return the cursor with this text."""
        return f"{text}.{sign_cursor(text, self.collection, {**self.criteria, 'orderBy': self.terms})}"


@dataclass
class World:
    """All rows, the actor, and the posts that the actor's mutations have created. Orders are read when needed."""

    actor: Actor
    authors: list[Author]
    posts: list[Post]
    comments: list[Comment]
    users: list[User]
    orders: list[Order]
    written: list[Post]
    refused: Collection[str | int]  # the keys of the mutations that wrote nothing
    orders_read: dict[tuple[type[Any], str], list[Any]] = field(default_factory=dict)

    def in_order(self, model: type[Any], order: str) -> list[Any]:
        if (model, order) not in self.orders_read:
            rows = model.objects.select_related(*RELATED.get(model, ()))
            self.orders_read[model, order] = list(rows.order_by(*ORDERS[model][order]))
        return self.orders_read[model, order]


Info = GraphQLResolveInfo[World]


def all_rows(actor: Actor, known_posts: list[int], refused: Collection[str | int] = ()) -> World:
    """Read all rows. Posts that are not known were created by the mutations of the operation."""
    posts = list(Post.objects.select_related("author").order_by("-created_at", "-pk"))
    comments = list(Comment.objects.order_by("created_at", "pk"))
    return World(
        actor,
        list(Author.objects.all()),
        [post for post in posts if post.pk in known_posts],
        comments,
        list(User.objects.all()),
        list(Order.objects.all()),
        sorted((post for post in posts if post.pk not in known_posts), key=lambda post: post.pk),
        refused,
    )


def may(actor: Actor, scope: str) -> bool:
    return actor.role is not None and scope in actor.scopes and not (actor.role == "reader" and scope == "posts:read")


def sees(actor: Actor, post: Post) -> bool:
    if post.status == "published":
        return True
    writers = [post.author.user_id, *map(USERS.get, post.coauthor_ids)]
    mine = actor.user_id is not None and actor.user_id in writers
    return may(actor, "posts:read") and (mine or actor.role in (Role.EDITOR, Role.ADMIN))


def find_seen_copy(post: Post, info: Info) -> SimpleNamespace | None:
    """Return the working copy of a post, if the actor may read and change the post."""
    actor, copy = info.context.actor, WorkingCopy.objects.filter(pk=post.pk).first()
    mine = actor.user_id is not None and actor.user_id == post.author.user_id
    is_seen = may(actor, "posts:read") and may(actor, "posts:write") and actor.role != "reader"
    if copy is None or not is_seen or not (mine or actor.role in (Role.EDITOR, Role.ADMIN)):
        return None
    saver = next((user.name for user in info.context.users if user.pk == copy.updated_by), "")
    columns = ("publish_at", "base_version", "version", "updated_at")
    values = {name: getattr(copy, name) for name in columns}
    values |= {name: copy.content.get(name, getattr(post, name)) for name in TEXTS}
    values |= {name: values[name] or "" for name in SUMMARIES}
    return SimpleNamespace(**values, updated_by=saver)


def first(rows: list[Any], limit: int | None, default: int) -> list[Any]:
    size = default if limit is None else limit
    if size < 1 or size > 100:
        raise Malformed(f"limit must be from 1 to 100 (CONTENTAPI_MAX_PAGE), and is {size}.")
    return rows[:size]


def with_id(rows: list[Row], id: str) -> Row | None:  # noqa: A002
    return next((row for row in rows if str(row.pk) == id), None)
