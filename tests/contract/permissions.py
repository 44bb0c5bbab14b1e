"""The rows of the permission table: who may do what to whose objects, and with which scopes.

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
REPLACE_FILE = "replace the file of an image"  # a request of REST, with the bytes as its body


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
EDITORS_ONLY = allow(EDITORS, anonymous=401, reader=403, author=403)
EDITORS_KNOW = allow(EDITORS, anonymous=401, reader=404, author=404)  # the object is hidden from others
ADMINS_ONLY = allow(ADMINS, anonymous=401, reader=403, author=403, editor=403)
ADMINS_KNOW = allow(ADMINS, anonymous=401, reader=404, author=404, editor=404)
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
