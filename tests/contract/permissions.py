"""The permission table of docs/authentication.md as data: who may do what to whose objects, and with which scopes.

The object of an act belongs to the caller or to another user; a comment may be another's on a post of the caller. For
each caller a row has the outcome: `ok`, or the status of the refusal; `-` if the caller cannot own the object.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from blog.models import Author, Comment, Post, PostStatus
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, Actor, Role, Scope
from orders.models import Order
from tests.factories import make_author, make_comment, make_order, make_post, make_user
from users.models import User

LATER = datetime(2100, 1, 1, tzinfo=UTC)
Outcome = (
    str  # "ok", "401", "403" or "404"; a value that a response leaves out, such as a hidden email, counts as "404"
)

OWN, OTHERS, ON_OWN_POSTS = "own", "others'", "others' on own posts"
CALLERS = ("anonymous", "reader", "author", "editor", "admin")

READ_PUBLIC = "read published posts, authors (not email), comments on them"
READ_HIDDEN = "read drafts, scheduled, archived"
WRITE_POSTS = "create, update, publish, schedule, archive, delete posts"
COMMENT = "comment on a visible post"
DELETE_COMMENT = "delete a comment"
EMAIL = "author's email"
ORDERS = "read, pay, cancel, create orders"
READ_USERS = "read a user, list users"
CREATE_USER = "create a user"
DELETE_USER = "delete a user"


class Row(NamedTuple):
    """`without` has the scopes that an act needs, each with the outcome for a credential without that scope."""

    of: str  # a row of the decisions' table
    act: str
    whose: str
    outcomes: str  # in the order of CALLERS
    without: dict[Scope, Outcome]

    @property
    def cells(self) -> list[tuple[str, Outcome]]:
        pairs = zip(CALLERS, self.outcomes.split(), strict=True)
        return [(caller, outcome) for caller, outcome in pairs if outcome != "-"]

    def __str__(self) -> str:
        return f"{self.act}, {self.whose}"


READ = {Scope.POSTS_READ: "404"}
WRITE, PUBLISH = {Scope.POSTS_WRITE: "403"}, {Scope.POSTS_PUBLISH: "403"}
SAY, MODERATE = {Scope.COMMENTS_WRITE: "403"}, {Scope.COMMENTS_MODERATE: "403"}
SEE_EMAILS = {Scope.AUTHORS_READ: "404"}
SEE_ORDERS, LIST_ORDERS = {Scope.ORDERS_READ: "404"}, {Scope.ORDERS_READ: "403"}
SEE_USERS, LIST_USERS = {Scope.USERS_READ: "404"}, {Scope.USERS_READ: "403"}
WRITE_ORDERS, WRITE_USERS = {Scope.ORDERS_WRITE: "403"}, {Scope.USERS_WRITE: "403"}

ROWS = [
    Row(READ_PUBLIC, "read a published post", OTHERS, "ok ok ok ok ok", {}),
    Row(READ_PUBLIC, "read a published post", OWN, "- ok ok ok ok", {}),
    Row(READ_PUBLIC, "list published posts", OTHERS, "ok ok ok ok ok", {}),
    Row(READ_PUBLIC, "read an author", OTHERS, "ok ok ok ok ok", {}),
    Row(READ_PUBLIC, "read a comment", OTHERS, "ok ok ok ok ok", {}),
    Row(READ_HIDDEN, "read a draft", OWN, "- 404 ok ok ok", READ),
    Row(READ_HIDDEN, "read a draft", OTHERS, "404 404 404 ok ok", READ),
    Row(READ_HIDDEN, "read a scheduled post", OWN, "- 404 ok ok ok", READ),
    Row(READ_HIDDEN, "read a scheduled post", OTHERS, "404 404 404 ok ok", READ),
    Row(READ_HIDDEN, "read an archived post", OWN, "- 404 ok ok ok", READ),
    Row(READ_HIDDEN, "read an archived post", OTHERS, "404 404 404 ok ok", READ),
    Row(READ_HIDDEN, "list drafts", OWN, "- 404 ok ok ok", READ),
    Row(READ_HIDDEN, "list drafts", OTHERS, "404 404 404 ok ok", READ),
    Row(READ_HIDDEN, "list an author's drafts", OWN, "- 404 ok ok ok", READ),
    Row(READ_HIDDEN, "list an author's drafts", OTHERS, "404 404 404 ok ok", READ),
    Row(WRITE_POSTS, "create a post", OWN, "401 403 ok ok ok", WRITE),
    Row(WRITE_POSTS, "create a post", OTHERS, "401 403 403 ok ok", WRITE),
    Row(WRITE_POSTS, "create a published post", OWN, "401 403 ok ok ok", WRITE | PUBLISH),
    Row(WRITE_POSTS, "create a scheduled post", OTHERS, "401 403 403 ok ok", WRITE | PUBLISH),
    Row(WRITE_POSTS, "update a published post", OWN, "- 403 ok ok ok", WRITE),
    Row(WRITE_POSTS, "update a published post", OTHERS, "401 403 403 ok ok", WRITE),
    Row(WRITE_POSTS, "update a draft", OWN, "- 404 ok ok ok", READ | WRITE),
    Row(WRITE_POSTS, "update a draft", OTHERS, "401 404 404 ok ok", READ | WRITE),
    Row(WRITE_POSTS, "publish a draft", OWN, "- 404 ok ok ok", READ | PUBLISH),
    Row(WRITE_POSTS, "publish a draft", OTHERS, "401 404 404 ok ok", READ | PUBLISH),
    Row(WRITE_POSTS, "publish a published post", OWN, "- 403 ok ok ok", PUBLISH),
    Row(WRITE_POSTS, "publish a published post", OTHERS, "401 403 403 ok ok", PUBLISH),
    Row(WRITE_POSTS, "schedule a draft", OWN, "- 404 ok ok ok", READ | PUBLISH),
    Row(WRITE_POSTS, "schedule a draft", OTHERS, "401 404 404 ok ok", READ | PUBLISH),
    Row(WRITE_POSTS, "unschedule a post", OWN, "- 404 ok ok ok", READ | PUBLISH),
    Row(WRITE_POSTS, "unschedule a post", OTHERS, "401 404 404 ok ok", READ | PUBLISH),
    Row(WRITE_POSTS, "unpublish a post", OWN, "- 403 ok ok ok", PUBLISH),
    Row(WRITE_POSTS, "unpublish a post", OTHERS, "401 403 403 ok ok", PUBLISH),
    Row(WRITE_POSTS, "archive a published post", OWN, "- 403 ok ok ok", PUBLISH),
    Row(WRITE_POSTS, "archive a published post", OTHERS, "401 403 403 ok ok", PUBLISH),
    Row(WRITE_POSTS, "archive a draft", OWN, "- 404 ok ok ok", READ | WRITE),
    Row(WRITE_POSTS, "archive a draft", OTHERS, "401 404 404 ok ok", READ | WRITE),
    Row(WRITE_POSTS, "take a post out of the archive", OWN, "- 404 ok ok ok", READ | WRITE),
    Row(WRITE_POSTS, "take a post out of the archive", OTHERS, "401 404 404 ok ok", READ | WRITE),
    Row(WRITE_POSTS, "delete a published post", OWN, "- 403 ok ok ok", WRITE),
    Row(WRITE_POSTS, "delete a published post", OTHERS, "401 403 403 ok ok", WRITE),
    Row(WRITE_POSTS, "delete a draft", OWN, "- 404 ok ok ok", READ | WRITE),
    Row(WRITE_POSTS, "delete a draft", OTHERS, "401 404 404 ok ok", READ | WRITE),
    Row(COMMENT, "comment on a published post", OTHERS, "401 ok ok ok ok", SAY),
    Row(COMMENT, "comment on a draft", OWN, "- 404 ok ok ok", READ | SAY),
    Row(COMMENT, "comment on a draft", OTHERS, "401 404 404 ok ok", READ | SAY),
    Row(DELETE_COMMENT, "delete a comment", OWN, "- ok ok ok ok", SAY),
    Row(DELETE_COMMENT, "delete a comment", ON_OWN_POSTS, "- 403 ok ok ok", MODERATE),
    Row(DELETE_COMMENT, "delete a comment", OTHERS, "401 403 403 ok ok", MODERATE),
    Row(DELETE_COMMENT, "delete a comment on a draft", OTHERS, "401 404 404 ok ok", READ | MODERATE),
    Row(EMAIL, "read an author's email", OWN, "- ok ok ok ok", SEE_EMAILS),
    Row(EMAIL, "read an author's email", OTHERS, "404 404 404 ok ok", SEE_EMAILS),
    Row(ORDERS, "read an order", OWN, "- ok ok ok ok", SEE_ORDERS),
    Row(ORDERS, "read an order", OTHERS, "404 404 404 404 ok", SEE_ORDERS),
    Row(ORDERS, "list orders", OWN, "- ok ok ok ok", LIST_ORDERS),
    Row(ORDERS, "list orders", OTHERS, "401 404 404 404 ok", LIST_ORDERS),
    Row(ORDERS, "pay an order", OWN, "- ok ok ok ok", SEE_ORDERS | WRITE_ORDERS),
    Row(ORDERS, "pay an order", OTHERS, "401 404 404 404 ok", SEE_ORDERS | WRITE_ORDERS),
    Row(ORDERS, "cancel an order", OWN, "- ok ok ok ok", SEE_ORDERS | WRITE_ORDERS),
    Row(ORDERS, "cancel an order", OTHERS, "401 404 404 404 ok", SEE_ORDERS | WRITE_ORDERS),
    Row(ORDERS, "create an order", OWN, "401 ok ok ok ok", WRITE_ORDERS),
    Row(ORDERS, "create an order", OTHERS, "401 403 403 403 ok", WRITE_ORDERS),
    Row(READ_USERS, "read a user", OWN, "- ok ok ok ok", SEE_USERS),
    Row(READ_USERS, "read a user", OTHERS, "404 404 404 404 ok", SEE_USERS),
    Row(READ_USERS, "list users", OWN, "- ok ok ok ok", LIST_USERS),
    Row(READ_USERS, "list users", OTHERS, "401 404 404 404 ok", LIST_USERS),
    Row(CREATE_USER, "create a user", OTHERS, "401 403 403 403 ok", WRITE_USERS),
    Row(DELETE_USER, "delete a user", OWN, "- ok ok ok ok", SEE_USERS | WRITE_USERS),
    Row(DELETE_USER, "delete a user", OTHERS, "401 404 404 404 ok", SEE_USERS | WRITE_USERS),
]
# Acts that only the admin has. The table of docs/authentication.md has none of them: its pages are described below it.
ADMIN_ROWS = [
    Row("moderate comments", "hide a comment", OWN, "- 403 403 ok ok", MODERATE),
    Row("moderate comments", "hide a comment", ON_OWN_POSTS, "- 403 ok ok ok", MODERATE),
    Row("moderate comments", "hide a comment", OTHERS, "401 403 403 ok ok", MODERATE),
    Row("moderate comments", "hide a comment on a draft", OTHERS, "401 404 404 ok ok", READ | MODERATE),
    Row("lock a user", "lock a user", OWN, "- 403 403 403 ok", SEE_USERS | WRITE_USERS),
    Row("lock a user", "lock a user", OTHERS, "401 404 404 404 ok", SEE_USERS | WRITE_USERS),
]
CHANGE_NOTHING = {"publish a published post"}


@dataclass(frozen=True)
class OwnedRows:
    """The rows that belong to one user, with one post in each status."""

    user: User
    author: Author
    posts: dict[str, Post]
    order: Order


@dataclass(frozen=True)
class World:
    """The caller, and the objects of the action: they belong to the caller or to another user."""

    actor: Actor
    is_own: bool
    target: OwnedRows
    comments: dict[str, Comment]  # by the state of the post that they are on

    def post_id(self, status: str) -> str:
        return str(self.target.posts[status].pk)

    def comment_id(self, status: str) -> str:
        return str(self.comments[status].pk)


def make_world(caller: str, whose: str, scopes: AbstractSet[Scope] = ALL_SCOPES) -> World:
    """Write the same rows for a caller and for somebody else, and another admin: the last one cannot be deleted."""
    make_user(Role.ADMIN)
    role = Role.READER if caller == "anonymous" else Role(caller)
    mine, theirs = make_owned_rows(role), make_owned_rows(Role.AUTHOR)
    writer, read = {OWN: (mine, theirs), OTHERS: (theirs, theirs), ON_OWN_POSTS: (theirs, mine)}[whose]
    return World(
        actor=ANONYMOUS if caller == "anonymous" else Actor(mine.user.pk, role, scopes, "api-key"),
        is_own=whose == OWN,
        target=mine if whose == OWN else theirs,
        comments={status: make_comment(post, author=writer.author) for status, post in read.posts.items()},
    )


def make_owned_rows(role: Role) -> OwnedRows:
    user = make_user(role)
    author = make_author(user=user, email=user.email)
    posts = {
        status: make_post(author=author, status=status, publish_at=LATER if status == "scheduled" else None)
        for status in PostStatus.values
    }
    return OwnedRows(user, author, posts, make_order(user=user))
