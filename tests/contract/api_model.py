"""A model of the API: its rows, callers and states, and who may do what."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from contentapi.core.identity import Role

NO_ID = 10**12
LATER = datetime(2100, 1, 1, tzinfo=UTC).isoformat()
TRANSITIONS = {
    "draft": {"scheduled", "published", "archived"},
    "scheduled": {"draft", "published"},
    "published": {"draft", "archived"},
    "archived": {"draft"},
}
MUTATIONS = {"published": "publishPost", "draft": "unpublishPost", "archived": "archivePost"}
ROLES = {"reader": Role.READER, "ann": Role.AUTHOR, "bob": Role.AUTHOR, "editor": Role.EDITOR, "admin": Role.ADMIN}
WRITERS, EDITORS = {"ann", "bob", "editor", "admin"}, {"editor", "admin"}

T = TypeVar("T")


@dataclass
class Comment:
    id: int
    owner: str
    gone: bool = False


@dataclass
class Post:
    id: int
    owner: str
    title: str
    status: str
    version: int = 1
    comments: list[Comment] = field(default_factory=list)
    gone: bool = False

    def is_visible_to(self, caller: str) -> bool:
        is_theirs = caller in EDITORS or (caller in WRITERS and caller == self.owner)
        return not self.gone and (self.status == "published" or is_theirs)

    def is_writable_by(self, caller: str) -> bool:
        return caller in EDITORS or (caller in WRITERS and caller == self.owner)


NO_POST = Post(NO_ID, "", "", "draft", gone=True)


@dataclass
class Order:
    id: int
    owner: str
    status: str = "pending"

    def is_visible_to(self, caller: str) -> bool:
        return caller in (self.owner, "admin")


@dataclass
class User:
    id: int
    email: str
    gone: bool = False


def at(items: list[T], place: int, missing: T) -> T:
    return [*items, missing][place % (len(items) + 1)]
