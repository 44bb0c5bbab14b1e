"""The actors of the tables of the permission rules."""

from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, Actor, Role, Scope

OWN, OTHER, NOBODYS = 1, 2, None
ACTORS = ("anonymous", "reader", "author", "editor", "admin", "operator")


def actor(name: str, *, scopes: frozenset[Scope] = ALL_SCOPES) -> Actor:
    """Return an actor who is user 1."""
    if name == "anonymous":
        return ANONYMOUS
    if name == "operator":
        return OPERATOR
    return Actor(user_id=OWN, role=Role(name), scopes=scopes, credential="api-key")
