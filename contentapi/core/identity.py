"""The caller of a request: `Actor`, which every kind of credential becomes, with its role and scopes."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

CredentialKind = Literal["none", "api-key", "jwt", "session", "operator"]


class Role(StrEnum):
    READER = "reader"
    AUTHOR = "author"
    EDITOR = "editor"
    ADMIN = "admin"


class Scope(StrEnum):
    AUTHORS_READ = "authors:read"
    COMMENTS_MODERATE = "comments:moderate"
    COMMENTS_WRITE = "comments:write"
    ORDERS_READ = "orders:read"
    ORDERS_WRITE = "orders:write"
    POSTS_PUBLISH = "posts:publish"
    POSTS_READ = "posts:read"
    POSTS_WRITE = "posts:write"
    USERS_READ = "users:read"
    USERS_WRITE = "users:write"


ALL_SCOPES = frozenset(Scope)
# The scopes that a role can use. `contentapi.core.policy` decides whose posts, orders and users each of them covers.
ROLE_SCOPES: dict[Role, frozenset[Scope]] = {
    Role.READER: ALL_SCOPES - {Scope.POSTS_READ, Scope.POSTS_WRITE, Scope.POSTS_PUBLISH, Scope.COMMENTS_MODERATE},
    Role.AUTHOR: ALL_SCOPES,
    Role.EDITOR: ALL_SCOPES,
    Role.ADMIN: ALL_SCOPES,
}

# What a scope allows an application to do, as the consent page shows it.
SCOPE_MEANINGS: dict[Scope, str] = {
    Scope.POSTS_READ: "Read posts that are not published",
    Scope.POSTS_WRITE: "Write, change and delete posts",
    Scope.POSTS_PUBLISH: "Publish and schedule posts, and take them back",
    Scope.COMMENTS_WRITE: "Comment as you, and delete your comments",
    Scope.COMMENTS_MODERATE: "Delete other people's comments",
    Scope.AUTHORS_READ: "See authors' email addresses",
    Scope.ORDERS_READ: "See orders",
    Scope.ORDERS_WRITE: "Place, pay and cancel orders",
    Scope.USERS_READ: "See user accounts, with names and email addresses",
    Scope.USERS_WRITE: "Create and delete user accounts, yours among them",
}


@dataclass(frozen=True, slots=True)
class Actor:
    """The identity of a caller: user id, role, scopes and kind of credential. Actors may be shared by requests.

    `credential_id` identifies the credential for rate limits, like `key:capi_1234abcd` or `user:17`.
    """

    user_id: int | None = None
    role: Role | None = None
    scopes: AbstractSet[Scope] = frozenset()
    credential: CredentialKind = "none"
    credential_id: str = ""

    @property
    def is_anonymous(self) -> bool:
        return self.role is None

    def has(self, scope: Scope) -> bool:
        """Return whether both the role and the credential allow this scope."""
        return self.role is not None and scope in self.scopes and scope in ROLE_SCOPES[self.role]


ANONYMOUS = Actor()
OPERATOR = Actor(role=Role.ADMIN, scopes=ALL_SCOPES, credential="operator")
