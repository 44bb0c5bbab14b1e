"""The permission table of docs/authentication.md as data: who may do what to whose objects, and with which scopes.

The object of an action belongs to the caller or to another user; a comment may be another's on a post of the caller,
and the caller a co-author of another's post. A row has the outcome for each caller who can own the object: `ok`, or the
status of the refusal.
"""

from typing import NamedTuple

from contentapi.core.identity import Role, Scope

Outcome = (
    str  # "ok", "401", "403" or "404"; a value that a response leaves out, such as a hidden email, counts as "404"
)

OWN, OTHERS, ON_OWN_POSTS, COAUTHORED = "own", "others'", "others' on own posts", "co-authored"
ANONYMOUS_CALLER = "anonymous"
CALLERS = (ANONYMOUS_CALLER, *(role.value for role in Role))

READ_PUBLIC = "read published posts, authors (not email), comments on them"
READ_HIDDEN = "read drafts, scheduled, archived"
READ_EVENTS = "read what happened to posts that are not public"
WRITE_POSTS = "create, update, publish, schedule, archive, delete posts"
EDIT_COPIES = "edit and schedule working copies, create preview links"
PREVIEW_SITE = "create preview links of the whole site"
CHANGE_AUTHORS = "change the author of a post, set co-authors"
LIST_IMAGES = "list all images"
WRITE_IMAGES = "upload and change images (use: everybody who writes posts)"
COMMENT = "comment on a visible post"
DELETE_COMMENT = "delete a comment"
EMAIL = "author's email"
ORDERS = "read, pay, cancel, create orders"
REPLACE_FILE = "replace the file of an image"  # a request of REST, with the bytes as its body
READ_USERS = "read a user, list users"
CREATE_USER = "create a user"
DELETE_USER = "delete a user"
MANAGE_WEBHOOKS = "manage webhooks, see deliveries"


class Row(NamedTuple):
    """`without` has the scopes that an action needs, each with the outcome for a credential without that scope."""

    action: str
    whose: str
    outcomes: dict[str, Outcome]  # by caller
    without: dict[Scope, Outcome]

    def __str__(self) -> str:
        return f"{self.action}, {self.whose}"

    def changes_rows(self, outcome: Outcome) -> bool:
        """Return whether the action changes rows. A refused action and a read change nothing."""
        is_read = self.action.startswith(("read", "list")) or self.action == "publish a published post"
        return not is_read and not outcome.isdigit()

    def choose_cells(self) -> dict[str, Outcome]:
        return choose_cells(self.outcomes)


def choose_cells(outcomes: dict[str, Outcome]) -> dict[str, Outcome]:
    """Return the cells at the limits: the first caller that is allowed, and for each status the last refused."""
    allowed = [caller for caller, outcome in outcomes.items() if outcome == "ok"]
    refused = {outcome: caller for caller, outcome in outcomes.items() if outcome != "ok"}
    return {caller: outcomes[caller] for caller in [*allowed[:1], *refused.values()]}


def allow(callers: tuple[str, ...], **refusals: int) -> dict[str, Outcome]:
    """Return the outcome for each caller: `ok`, or the status of the refusal."""
    return dict.fromkeys(callers, "ok") | {caller: str(status) for caller, status in refusals.items()}


USERS = ("reader", "author", "editor", "admin")
EVERYBODY = (ANONYMOUS_CALLER, *USERS)
AUTHORS = ("author", "editor", "admin")
EDITORS = ("editor", "admin")
ADMINS = ("admin",)
READ, SEE_COPIES = {Scope.POSTS_READ: "404"}, {Scope.POSTS_READ: "403"}
SEE_OWN_WORK = READ | {Scope.POSTS_WRITE: "404"}  # working copies and links are hidden without both scopes
FOLLOW = READ | {Scope.EVENTS_READ: "404"}
WRITE, PUBLISH = {Scope.POSTS_WRITE: "403"}, {Scope.POSTS_PUBLISH: "403"}
SAY, MODERATE = {Scope.COMMENTS_WRITE: "403"}, {Scope.COMMENTS_MODERATE: "403"}
UPLOAD = {Scope.IMAGES_WRITE: "403"}
SEE_EMAILS = {Scope.AUTHORS_READ: "404"}
SEE_ORDERS, SEE_USERS = {Scope.ORDERS_READ: "403"}, {Scope.USERS_READ: "403"}
MANAGE = {Scope.WEBHOOKS_MANAGE: "403"}
WRITE_ORDERS, WRITE_USERS = {Scope.ORDERS_WRITE: "403"}, {Scope.USERS_WRITE: "403"}

TABLE: dict[str, list[Row]] = {
    READ_PUBLIC: [
        Row("read a published post", OTHERS, allow(EVERYBODY), {}),
        Row("read a published post", OWN, allow(USERS), {}),
        Row("list published posts", OTHERS, allow(EVERYBODY), {}),
        Row("read an author", OTHERS, allow(EVERYBODY), {}),
        Row("read a comment", OTHERS, allow(EVERYBODY), {}),
    ],
    READ_HIDDEN: [
        Row("read a draft", OWN, allow(AUTHORS, reader=404), READ),
        Row("read a draft", OTHERS, allow(EDITORS, anonymous=404, reader=404, author=404), READ),
        Row("read a scheduled post", OWN, allow(AUTHORS, reader=404), READ),
        Row("read a scheduled post", OTHERS, allow(EDITORS, anonymous=404, reader=404, author=404), READ),
        Row("read an archived post", OWN, allow(AUTHORS, reader=404), READ),
        Row("read an archived post", OTHERS, allow(EDITORS, anonymous=404, reader=404, author=404), READ),
        Row("read a draft", COAUTHORED, allow(AUTHORS, reader=404), READ),
        Row("read a scheduled post", COAUTHORED, allow(AUTHORS, reader=404), READ),
        Row("read an archived post", COAUTHORED, allow(AUTHORS, reader=404), READ),
        Row("list drafts", COAUTHORED, allow(AUTHORS, reader=404), READ),
        Row("list an author's drafts", COAUTHORED, allow(AUTHORS, reader=404), READ),
        Row("list drafts", OWN, allow(AUTHORS, reader=404), READ),
        Row("list drafts", OTHERS, allow(EDITORS, anonymous=404, reader=404, author=404), READ),
        Row("list an author's drafts", OWN, allow(AUTHORS, reader=404), READ),
        Row("list an author's drafts", OTHERS, allow(EDITORS, anonymous=404, reader=404, author=404), READ),
    ],
    READ_EVENTS: [
        Row("read the events of a draft", OWN, allow(AUTHORS, reader=404), FOLLOW),
        Row("read the events of a draft", COAUTHORED, allow(AUTHORS, reader=404), FOLLOW),
        Row("read the events of a draft", OTHERS, allow(EDITORS, anonymous=404, reader=404, author=404), FOLLOW),
    ],
    WRITE_POSTS: [
        Row("create a post", OWN, allow(AUTHORS, anonymous=401, reader=403), WRITE),
        Row("create a post", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), WRITE),
        Row("create a published post", OWN, allow(AUTHORS, anonymous=401, reader=403), WRITE | PUBLISH),
        Row("create a scheduled post", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), WRITE | PUBLISH),
        Row("update a published post", OWN, allow(AUTHORS, reader=403), WRITE),
        Row("update a published post", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), WRITE),
        Row("update a draft", OWN, allow(AUTHORS, reader=404), READ | WRITE),
        Row("update a draft", OTHERS, allow(EDITORS, anonymous=401, reader=404, author=404), READ | WRITE),
        Row("update a published post", COAUTHORED, allow(EDITORS, reader=403, author=403), WRITE),
        Row("update a draft", COAUTHORED, allow(EDITORS, reader=404, author=403), READ | WRITE),
        Row("publish a draft", COAUTHORED, allow(EDITORS, reader=404, author=403), READ | PUBLISH),
        Row("archive a draft", COAUTHORED, allow(EDITORS, reader=404, author=403), READ | WRITE),
        Row("delete a draft", COAUTHORED, allow(EDITORS, reader=404, author=403), READ | WRITE),
        Row("publish a draft", OWN, allow(AUTHORS, reader=404), READ | PUBLISH),
        Row("publish a draft", OTHERS, allow(EDITORS, anonymous=401, reader=404, author=404), READ | PUBLISH),
        Row("publish a published post", OWN, allow(AUTHORS, reader=403), PUBLISH),
        Row("publish a published post", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), PUBLISH),
        Row("schedule a draft", OWN, allow(AUTHORS, reader=404), READ | PUBLISH),
        Row("schedule a draft", OTHERS, allow(EDITORS, anonymous=401, reader=404, author=404), READ | PUBLISH),
        Row("unschedule a post", OWN, allow(AUTHORS, reader=404), READ | PUBLISH),
        Row("unschedule a post", OTHERS, allow(EDITORS, anonymous=401, reader=404, author=404), READ | PUBLISH),
        Row("unpublish a post", OWN, allow(AUTHORS, reader=403), PUBLISH),
        Row("unpublish a post", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), PUBLISH),
        Row("archive a published post", OWN, allow(AUTHORS, reader=403), PUBLISH),
        Row("archive a published post", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), PUBLISH),
        Row("archive a draft", OWN, allow(AUTHORS, reader=404), READ | WRITE),
        Row("archive a draft", OTHERS, allow(EDITORS, anonymous=401, reader=404, author=404), READ | WRITE),
        Row("take a post out of the archive", OWN, allow(AUTHORS, reader=404), READ | WRITE),
        Row(
            "take a post out of the archive",
            OTHERS,
            allow(EDITORS, anonymous=401, reader=404, author=404),
            READ | WRITE,
        ),
        Row("delete a published post", OWN, allow(AUTHORS, reader=403), WRITE),
        Row("delete a published post", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), WRITE),
        Row("delete a draft", OWN, allow(AUTHORS, reader=404), READ | WRITE),
        Row("delete a draft", OTHERS, allow(EDITORS, anonymous=401, reader=404, author=404), READ | WRITE),
    ],
    EDIT_COPIES: [
        Row("read a working copy", OWN, allow(AUTHORS, reader=404), SEE_OWN_WORK),
        Row("read a working copy", OTHERS, allow(EDITORS, anonymous=404, reader=404, author=404), SEE_OWN_WORK),
        Row("save a working copy", OWN, allow(AUTHORS, reader=403), SEE_COPIES | WRITE),
        Row("save a working copy", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), SEE_COPIES | WRITE),
        Row("schedule a working copy", OWN, allow(AUTHORS, reader=403), SEE_COPIES | WRITE | PUBLISH),
        Row(
            "schedule a working copy",
            OTHERS,
            allow(EDITORS, anonymous=401, reader=403, author=403),
            SEE_COPIES | WRITE | PUBLISH,
        ),
        Row("publish a working copy", OWN, allow(AUTHORS, reader=403), PUBLISH),
        Row("publish a working copy", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), PUBLISH),
        Row("publish the working copy of a draft", OWN, allow(AUTHORS, reader=404), READ | WRITE),
        Row(
            "publish the working copy of a draft",
            OTHERS,
            allow(EDITORS, anonymous=401, reader=404, author=404),
            READ | WRITE,
        ),
        Row("discard a working copy", OWN, allow(AUTHORS, reader=403), WRITE),
        Row("discard a working copy", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), WRITE),
        Row("read a working copy", COAUTHORED, allow(EDITORS, reader=404, author=404), SEE_OWN_WORK),
        Row("save a working copy", COAUTHORED, allow(EDITORS, reader=403, author=403), SEE_COPIES | WRITE),
        Row("publish a working copy", COAUTHORED, allow(EDITORS, reader=403, author=403), PUBLISH),
        Row("publish the working copy of a draft", COAUTHORED, allow(EDITORS, reader=404, author=403), READ | WRITE),
        Row("discard a working copy", COAUTHORED, allow(EDITORS, reader=403, author=403), WRITE),
        Row("create a preview link", OWN, allow(AUTHORS, reader=403), SEE_COPIES | WRITE),
        Row("create a preview link", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), SEE_COPIES | WRITE),
        Row("create a preview link", COAUTHORED, allow(EDITORS, reader=403, author=403), SEE_COPIES | WRITE),
        Row("revoke a preview link", OWN, allow(AUTHORS, reader=404), SEE_OWN_WORK),
        Row("revoke a preview link", OTHERS, allow(EDITORS, anonymous=401, reader=404, author=404), SEE_OWN_WORK),
    ],
    PREVIEW_SITE: [
        Row("create a preview link of the site", OWN, allow(EDITORS, reader=403, author=403), SEE_COPIES | WRITE),
        Row(
            "create a preview link of the site",
            OTHERS,
            allow(EDITORS, anonymous=401, reader=403, author=403),
            SEE_COPIES | WRITE,
        ),
    ],
    CHANGE_AUTHORS: [
        Row("change the author of a post", OWN, allow(EDITORS, reader=403, author=403), WRITE),
        Row("change the author of a post", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), WRITE),
        Row("set the co-authors of a post", OWN, allow(EDITORS, reader=403, author=403), WRITE),
        Row("set the co-authors of a post", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), WRITE),
        Row("set the co-authors of a post", COAUTHORED, allow(EDITORS, reader=403, author=403), WRITE),
        Row("create a post with co-authors", OWN, allow(EDITORS, anonymous=401, reader=403, author=403), WRITE),
    ],
    LIST_IMAGES: [
        Row("list images", OTHERS, allow(AUTHORS, anonymous=401, reader=403), UPLOAD),
        Row("list images", OWN, allow(AUTHORS, reader=403), UPLOAD),
    ],
    WRITE_IMAGES: [
        Row("upload an image", OWN, allow(AUTHORS, anonymous=401, reader=403), UPLOAD),
        Row("change an image", OWN, allow(AUTHORS, reader=403), UPLOAD),
        Row("change an image", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), UPLOAD),
        Row(REPLACE_FILE, OWN, allow(AUTHORS, reader=403), UPLOAD),
        Row(REPLACE_FILE, OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), UPLOAD),
        Row("delete an image", OWN, allow(AUTHORS, reader=403), UPLOAD),
        Row("delete an image", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), UPLOAD),
        Row("use an image as a cover", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), WRITE),
        Row("use an image as a cover", OWN, allow(AUTHORS, reader=403), WRITE),
    ],
    COMMENT: [
        Row("comment on a published post", OTHERS, allow(USERS, anonymous=401), SAY),
        Row("comment on a draft", OWN, allow(AUTHORS, reader=404), READ | SAY),
        Row("comment on a draft", COAUTHORED, allow(AUTHORS, reader=404), READ | SAY),
        Row("comment on a draft", OTHERS, allow(EDITORS, anonymous=401, reader=404, author=404), READ | SAY),
    ],
    DELETE_COMMENT: [
        Row("delete a comment", OWN, allow(USERS), SAY),
        Row("delete a comment", ON_OWN_POSTS, allow(AUTHORS, reader=403), MODERATE),
        Row("delete a comment", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), MODERATE),
        Row(
            "delete a comment on a draft",
            OTHERS,
            allow(EDITORS, anonymous=401, reader=404, author=404),
            READ | MODERATE,
        ),
    ],
    EMAIL: [
        Row("read an author's email", OWN, allow(USERS), SEE_EMAILS),
        Row("read an author's email", OTHERS, allow(EDITORS, anonymous=404, reader=404, author=404), SEE_EMAILS),
    ],
    ORDERS: [
        Row("read an order", OWN, allow(USERS), SEE_ORDERS),
        Row("read an order", OTHERS, allow(ADMINS, anonymous=401, reader=404, author=404, editor=404), SEE_ORDERS),
        Row("list orders", OWN, allow(USERS), SEE_ORDERS),
        Row("list orders", OTHERS, allow(ADMINS, anonymous=401, reader=404, author=404, editor=404), SEE_ORDERS),
        Row("pay an order", OWN, allow(USERS), SEE_ORDERS | WRITE_ORDERS),
        Row(
            "pay an order",
            OTHERS,
            allow(ADMINS, anonymous=401, reader=404, author=404, editor=404),
            SEE_ORDERS | WRITE_ORDERS,
        ),
        Row("cancel an order", OWN, allow(USERS), SEE_ORDERS | WRITE_ORDERS),
        Row(
            "cancel an order",
            OTHERS,
            allow(ADMINS, anonymous=401, reader=404, author=404, editor=404),
            SEE_ORDERS | WRITE_ORDERS,
        ),
        Row("create an order", OWN, allow(USERS, anonymous=401), WRITE_ORDERS),
        Row("create an order", OTHERS, allow(ADMINS, anonymous=401, reader=403, author=403, editor=403), WRITE_ORDERS),
    ],
    READ_USERS: [
        Row("read a user", OWN, allow(USERS), SEE_USERS),
        Row("read a user", OTHERS, allow(ADMINS, anonymous=401, reader=404, author=404, editor=404), SEE_USERS),
        Row("list users", OWN, allow(USERS), SEE_USERS),
        Row("list users", OTHERS, allow(ADMINS, anonymous=401, reader=404, author=404, editor=404), SEE_USERS),
    ],
    CREATE_USER: [
        Row("create a user", OTHERS, allow(ADMINS, anonymous=401, reader=403, author=403, editor=403), WRITE_USERS),
    ],
    DELETE_USER: [
        Row("delete a user", OWN, allow(USERS), SEE_USERS | WRITE_USERS),
        Row(
            "delete a user",
            OTHERS,
            allow(ADMINS, anonymous=401, reader=404, author=404, editor=404),
            SEE_USERS | WRITE_USERS,
        ),
    ],
    MANAGE_WEBHOOKS: [
        Row("create a webhook", OTHERS, allow(ADMINS, anonymous=401, reader=403, author=403, editor=403), MANAGE),
    ],
}
ROWS = [row for rows in TABLE.values() for row in rows]
# Actions that only the admin has. The table of docs/authentication.md has none of them: the text below has its pages.
ADMIN_ROWS = [
    Row("hide a comment", OWN, allow(EDITORS, reader=403, author=403), MODERATE),
    Row("hide a comment", ON_OWN_POSTS, allow(AUTHORS, reader=403), MODERATE),
    Row("hide a comment", OTHERS, allow(EDITORS, anonymous=401, reader=403, author=403), MODERATE),
    Row("hide a comment on a draft", OTHERS, allow(EDITORS, anonymous=401, reader=404, author=404), READ | MODERATE),
    Row("lock a user", OWN, allow(ADMINS, reader=403, author=403, editor=403), SEE_USERS | WRITE_USERS),
    Row(
        "lock a user", OTHERS, allow(ADMINS, anonymous=401, reader=404, author=404, editor=404), SEE_USERS | WRITE_USERS
    ),
]
