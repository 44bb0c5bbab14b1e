"""The permission rules of the kernel and of all apps, and the actors of their tables."""

from types import SimpleNamespace
from typing import Any

from contentapi.core import policy as kernel
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, Actor, Role, Scope
from contentapi.schema import EVENT_TYPES

policy: Any = SimpleNamespace(**vars(kernel) | {"visible_events": EVENT_TYPES.visible})

OWN, OTHER, NOBODYS = 1, 2, None
ACTORS = ("anonymous", "reader", "author", "editor", "admin", "operator")


def actor(name: str, *, scopes: frozenset[Scope] = ALL_SCOPES) -> Actor:
    """Return an actor who is user 1."""
    if name == "anonymous":
        return ANONYMOUS
    if name == "operator":
        return OPERATOR
    return Actor(user_id=OWN, role=Role(name), scopes=scopes, credential="api-key")
