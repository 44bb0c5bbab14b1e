"""The rows that the actions of the permission table are done to, and their state before and after."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import Model, QuerySet

from blog.models import Author, Comment, Image, ImageUpload, Post, PostStatus, PreviewLink, WorkingCopy
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, Actor, Role, Scope
from contentapi.db.statements import fetch_column
from contentapi.events.webhooks.models import Webhook
from contentapi.rate_limits.account import COUNTERS
from contentapi.schema import TYPES
from orders.models import Order
from tests.conftest import make_api_key
from tests.contract.permissions import ANONYMOUS_CALLER, COAUTHORED, ON_OWN_POSTS, OTHERS, OWN
from tests.contract.types import collect
from tests.event_log import relay
from tests.factories import (
    make_author,
    make_comment,
    make_image,
    make_order,
    make_post,
    make_preview_link,
    make_user,
    make_working_copy,
)
from users.models import User

LATER = datetime(2100, 1, 1, tzinfo=UTC)
CHANGED = "Changed, and not public"  # the title of each working copy


@dataclass(frozen=True)
class OwnedRows:
    """The rows that belong to one user, with one post in each status. The published one and the draft have a copy."""

    user: User
    author: Author
    posts: dict[str, Post]
    order: Order
    link: PreviewLink  # of the published post
    image: Image
    others: dict[str, Model]  # by the types of `tests.contract.types`

    def find(self, name: str) -> Model:
        """Return the row of this name, such as `order`."""
        found: Model = self.others.get(name) or getattr(self, name)
        return found


@dataclass(frozen=True)
class World:
    """The caller, and the objects of the action: they belong to the caller or to another user."""

    actor: Actor
    is_own: bool
    target: OwnedRows
    comments: dict[str, Comment]  # by the state of the post that they are on
    api_key: str  # empty for the anonymous caller
    other_author: Author  # than that of the posts
    rows: list[str] = field(repr=False)  # all rows
    session: str = ""  # the cookie of a browser in which the caller is logged in

    def find_id(self, name: str) -> object:
        return self.target.find(name).pk

    def post_id(self, status: str) -> str:
        return str(self.target.posts[status].pk)

    def comment_id(self, status: str) -> str:
        return str(self.comments[status].pk)

    def limit_scopes(self, scopes: AbstractSet[Scope]) -> "World":
        """Return this world with an actor that has these scopes, unless it is anonymous. The API key keeps its own."""
        return self if self.actor.is_anonymous else replace(self, actor=replace(self.actor, scopes=scopes))


def make_worlds(caller: str) -> dict[str, World]:
    """Write rows of a caller and of somebody else, and return the worlds by the owner of the object of an action.

    The credential has all scopes. There is another admin, because the last one cannot be deleted.
    """
    make_user(Role.ADMIN)
    role = Role.READER if caller == ANONYMOUS_CALLER else Role(caller)
    mine, theirs = make_owned_rows(role), make_owned_rows(Role.AUTHOR)
    joint = make_owned_rows(Role.AUTHOR, coauthor_ids=[mine.author.pk])
    actor = ANONYMOUS if caller == ANONYMOUS_CALLER else Actor(mine.user.pk, role, ALL_SCOPES, "api-key")
    api_key = "" if actor.is_anonymous else make_api_key(actor)
    owners = {
        OWN: (mine, theirs),
        OTHERS: (theirs, theirs),
        ON_OWN_POSTS: (theirs, mine),
        COAUTHORED: (theirs, joint),
    }
    comments = {
        whose: {status: make_comment(post, author=writer.author) for status, post in owner.posts.items()}
        for whose, (writer, owner) in owners.items()
    }
    relay()
    rows = read_all_rows()
    worlds = {}
    for whose in owners:
        target, other = {OWN: (mine, theirs), COAUTHORED: (joint, theirs)}.get(whose, (theirs, mine))
        worlds[whose] = World(actor, whose == OWN, target, comments[whose], api_key, other.author, rows)
    return worlds


def make_owned_rows(role: Role, **values: object) -> OwnedRows:
    user = make_user(role)
    author = make_author(user=user, email=user.email)
    posts = {
        status: make_post(author=author, status=status, publish_at=LATER if status == "scheduled" else None, **values)
        for status in PostStatus.values
    }
    for status in ("published", "draft"):
        make_working_copy(posts[status], title=CHANGED)
    link = make_preview_link(posts["published"], maker=user)
    image = make_image(owner_id=user.pk)
    others = {name: make(user) for name, make in collect("ROWS").items()}
    return OwnedRows(user, author, posts, make_order(user=user), link, image, others)


MODELS: list[Any] = [kind.projection.model for kind in TYPES if kind.events]
TABLES = [model._meta.db_table for model in (*MODELS, WorkingCopy, PreviewLink, ImageUpload, Webhook)]
READ_ALL = " UNION ALL ".join(f"SELECT '{table} ' || t FROM {table} t" for table in TABLES)  # noqa: S608


def read_all_rows() -> list[str]:
    """Return the rows of the objects of all actions as text, to compare them before and after an action."""
    return sorted(row for row in fetch_column(READ_ALL))


@contextmanager
def roll_back() -> Iterator[None]:
    """Roll back what the block writes, so that the next action finds the same world, with unused rate limits."""
    COUNTERS.clear()
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def contains_row(rows: QuerySet[Any], row: Model) -> bool:
    return row in list(rows)
