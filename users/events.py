"""How events show users."""

import msgspec

from contentapi.events.sources import EventSource
from users.projections import USER
from users.selectors import select_user_node
from users.views import UserRepresentation


def represent_user(user: bytes, _: str) -> bytes:
    found = msgspec.json.decode(user)
    return msgspec.json.encode(UserRepresentation(int(found["id"]), found["name"], found["email"]))


ACTIONS = ("created", "updated", "deleted")
SOURCES = [EventSource(USER, select_user_node, ACTIONS, ("id", "name", "email"), represent_user)]
