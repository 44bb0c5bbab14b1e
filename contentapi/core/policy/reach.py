"""Whose objects an action may touch, and the conditions that need no object."""

from collections.abc import Callable
from typing import NamedTuple

from django.db.models import BooleanField, Q
from django.db.models.expressions import RawSQL

from contentapi.core.identity import Actor, Role, Scope
from contentapi.db.distribution import get_backend

EDITORIAL = (Role.EDITOR, Role.ADMIN)
STAFF = (Role.AUTHOR, *EDITORIAL)
ADMINS = (Role.ADMIN,)
# Editors may use these scopes for everybody's objects. Only admins may use the other scopes for everybody's objects.
EDITORIAL_SCOPES = {
    Scope.POSTS_READ,
    Scope.POSTS_WRITE,
    Scope.POSTS_PUBLISH,
    Scope.COMMENTS_MODERATE,
    Scope.IMAGES_WRITE,
    Scope.AUTHORS_READ,
}
EVERYTHING = Q()
NOTHING = Q(pk__in=())
# Unlike NOTHING, Django writes a statement. Joins of shards must stay, which are removed for a constant. No id is 0.
NEVER = get_backend().nested(Q(RawSQL("false", (), output_field=BooleanField())), Q(pk=0))


class Reach(NamedTuple):
    """Whose objects an action may touch: everybody's, those of one user, or nobody's if `user_id` is None."""

    of_everybody: bool
    user_id: int | None

    def includes(self, owner_id: int | None) -> bool:
        """Whether the reach includes the objects of this user. None is the owner of objects without a user."""
        return self.of_everybody or (self.user_id is not None and self.user_id == owner_id)

    def build_condition(self, is_own: Callable[[int], Q]) -> Q:
        """Return the condition on the rows in reach. `is_own` returns the condition on the rows of one user."""
        if self.of_everybody:
            return EVERYTHING
        return NOTHING if self.user_id is None else is_own(self.user_id)


NOBODY = Reach(of_everybody=False, user_id=None)


def get_reach(actor: Actor, scope: Scope) -> Reach:
    """Return the reach of an action that needs a scope: everybody's objects for some roles, one's own for the others.

    A role that may not touch even its own objects does not have the scope (`ROLE_SCOPES`).
    """
    if not actor.has(scope):
        return NOBODY
    roles = EDITORIAL if scope in EDITORIAL_SCOPES else ADMINS
    return Reach(of_everybody=actor.role in roles, user_id=actor.user_id)


def may_grant_scope(actor: Actor, scope: Scope) -> bool:
    """Whether the actor may give a credential this scope: only one that the actor has."""
    return actor.has(scope)
