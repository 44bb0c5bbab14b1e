"""The caller of a request: `Actor`, which every kind of credential becomes, with its role and scopes."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

from django.db.models import TextChoices

from contentapi.conf import content_apps

CredentialKind = Literal["none", "api-key", "jwt", "session", "link", "preview", "operator", "webhook"]
Interface = Literal["", "GraphQL", "REST", "OAuth", "admin", "command line", "import", "demo", "worker"]


class Role(StrEnum):
    READER = "reader"
    AUTHOR = "author"
    EDITOR = "editor"
    ADMIN = "admin"


OWN_TYPES = [*content_apps.find_own_access(content_apps.SCHEMA_DIR)]  # the settings import this module
EDITORS = (Role.EDITOR, Role.ADMIN)
READERS = {"public": (Role.AUTHOR, *EDITORS), "member": tuple(Role), "staff": EDITORS}  # `public`: of what is not
WRITERS = {"author": (Role.AUTHOR, *EDITORS), "editor": EDITORS, "admin": (Role.ADMIN,)}


def build_own_scopes() -> dict[str, tuple[str, str]]:
    """Return the scopes of own types, by the names of the members."""
    scopes = {}
    for path, read, _ in OWN_TYPES:
        name, noun = path.replace("-", "_").upper(), path.replace("-", " ")
        scopes[f"{name}_READ"] = f"{path}:read", f"Read {noun}{' that are not public' if read == 'public' else ''}"
        scopes[f"{name}_WRITE"] = f"{path}:write", f"Write, change and delete {noun}"
    return scopes


class Scope(TextChoices):
    """The scopes, each with its meaning as the consent page shows it. Own types add two each."""

    POSTS_READ = "posts:read", "Read posts that are not published"
    POSTS_WRITE = "posts:write", "Write, change and delete posts"
    POSTS_PUBLISH = "posts:publish", "Publish and schedule posts, and take them back"
    COMMENTS_WRITE = "comments:write", "Comment as you, and delete your comments"
    COMMENTS_MODERATE = "comments:moderate", "Hide and delete other people's comments"
    IMAGES_WRITE = "images:write", "Upload, change and delete images"
    AUTHORS_READ = "authors:read", "See authors' email addresses"
    EVENTS_READ = "events:read", "See what happens to objects that are not public"
    WEBHOOKS_MANAGE = "webhooks:manage", "Send events to addresses, and see what was sent"
    ORDERS_READ = "orders:read", "See orders"
    ORDERS_WRITE = "orders:write", "Place, pay and cancel orders"
    USERS_READ = "users:read", "See user accounts, with names and email addresses"
    USERS_WRITE = "users:write", "Create and delete user accounts, yours among them"
    vars().update(build_own_scopes())


def list_own_scopes(role: Role) -> frozenset[Scope]:
    """Return the scopes of own types that a role can use."""
    reads = frozenset(Scope(f"{path}:read") for path, read, _ in OWN_TYPES if role in READERS[read])
    return reads | {Scope(f"{path}:write") for path, _, write in OWN_TYPES if role in WRITERS[write]}


ALL_SCOPES = frozenset(Scope)
# The scopes that a role can use. The `policy` of each app decides whose objects each of them covers.
SCOPES_OF_AUTHORS = ALL_SCOPES - {Scope.WEBHOOKS_MANAGE} - list_own_scopes(Role.ADMIN)
ROLE_SCOPES: dict[Role, frozenset[Scope]] = {
    Role.READER: list_own_scopes(Role.READER)
    | SCOPES_OF_AUTHORS
    - {Scope.POSTS_READ, Scope.POSTS_WRITE, Scope.POSTS_PUBLISH, Scope.COMMENTS_MODERATE, Scope.IMAGES_WRITE},
    Role.AUTHOR: SCOPES_OF_AUTHORS | list_own_scopes(Role.AUTHOR),
    Role.EDITOR: SCOPES_OF_AUTHORS | list_own_scopes(Role.EDITOR),
    Role.ADMIN: ALL_SCOPES,
}


@dataclass(frozen=True)
class Preview:
    """What a preview token lets its caller read: one hidden post, or in the mode `site` all that its maker may read.

    `read_texts` reads the texts when a statement needs them: a request that is refused, or reads no post, reads none.
    """

    link_id: int
    post_id: int
    maker_id: int
    is_site: bool
    read_texts: Callable[[], Any] = field(compare=False)

    @cached_property
    def texts(self) -> Any:
        """The texts that replace those of posts: a JSON array of objects, each of which has the id of its post."""
        return self.read_texts()

    def forget_texts(self) -> None:
        """Let the next statement read the texts again. A stream calls this, because it lasts."""
        vars(self).pop("texts", None)


@dataclass(frozen=True)
class Actor:
    """The identity of a caller: user id, role, scopes and kind of credential. Actors may be shared by requests.

    `credential_id` identifies the credential, like `key:capi_1234abcd`; it is `user:17` for every token of a user.
    `client_id` is the OAuth client that a token was issued to. `interface` is where the caller acts. Endpoints set it
    for writes only. `preview` is that of a preview token beside the credential, or alone: its caller may only read.
    """

    user_id: int | None = None
    role: Role | None = None
    scopes: AbstractSet[Scope] = frozenset()
    credential: CredentialKind = "none"
    credential_id: str = ""
    client_id: str = ""
    interface: Interface = ""
    preview: Preview | None = None
    # The properties that can change the structure of a statement, as a part of a cache key
    rights: tuple[Any, ...] = field(init=False, compare=False, repr=False)
    known: dict[Interface, "Actor"] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        kind = None if self.preview is None else self.preview.is_site
        rights = self.role, frozenset(self.scopes), self.credential, self.user_id is None, kind
        object.__setattr__(self, "rights", rights)  # a cached property makes each look-up of an attribute slower

    def through(self, interface: Interface) -> "Actor":
        """Return this actor without its preview, acting through an interface. The actor of a cached token keeps it."""
        known = self.known.get(interface)
        return known or self.known.setdefault(interface, replace(self, interface=interface, preview=None))

    @property
    def origin(self) -> str:
        """The interface and the credential, as the history shows them: `GraphQL, API key capi_1234abcd`."""
        key = f"API key {self.credential_id.removeprefix('key:')}"
        token = f"token of {self.client_id}" if self.client_id else "token"
        name = {"api-key": key, "jwt": token}.get(self.credential, "")
        return ", ".join(filter(None, (self.interface, name)))

    @property
    def is_anonymous(self) -> bool:
        return self.role is None

    def has(self, scope: Scope) -> bool:
        """Return whether both the role and the credential allow this scope."""
        return self.role is not None and scope in self.scopes and scope in ROLE_SCOPES[self.role]


ANONYMOUS = Actor()
OPERATOR = Actor(role=Role.ADMIN, scopes=ALL_SCOPES, credential="operator", interface="command line")
WORKER = OPERATOR.through("worker")
