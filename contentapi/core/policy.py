"""What the permission rules share: whose objects an action may touch, refusals, and the rules of the kernel.

The rules of an app are in its module `policy`. `visible_*` returns the condition on the rows that an actor may see,
`may_*` a boolean. The source is the permission table in docs/authentication.md. Both forms of a rule are computed from
one `Reach`. The owner of an object is a user id, never an author profile: a credential has only a user id. Rules use
the models' field names and ids, and one subquery for the author profile of a user.
"""

from collections.abc import Callable, Mapping
from functools import partial, reduce
from operator import or_
from typing import Any, NamedTuple

from django.db.models import BooleanField, F, Q
from django.db.models.expressions import RawSQL

from contentapi.core.errors import Forbidden, Unauthenticated
from contentapi.core.identity import Actor, Role, Scope, list_own_scopes
from contentapi.db.distribution import get_backend
from contentapi.db.expressions import IsInArray

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
    *list_own_scopes(Role.EDITOR),
}
EVERYTHING = Q()
NOTHING = Q(pk__in=())
# Unlike NOTHING, Django writes a statement. Joins of shards must stay, which are removed for a constant. No id is 0.
NEVER = get_backend().nested(Q(RawSQL("false", (), output_field=BooleanField())), Q(pk=0))
PUBLIC_EVENTS = Q(is_public=True)
EventRule = Callable[[Actor], Q]


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


def build_rows_in_reach(
    actor: Actor, scope: Scope, column: str, find_owner: Callable[[int], Any] = lambda user: user
) -> Q:
    """Return the condition on the rows in the reach of a scope, whose owner is in a column.

    `find_owner` returns what the column has for a user; by default the id of the user.
    """
    return get_reach(actor, scope).build_condition(lambda user_id: Q(**{column: find_owner(user_id)}))


def reaches_owner(actor: Actor, owner_id: int | None, scope: Scope) -> bool:
    """Whether the actor may do what needs a scope to the objects of this user."""
    return get_reach(actor, scope).includes(owner_id)


def reaches_everybody(actor: Actor, scope: Scope) -> bool:
    return get_reach(actor, scope).of_everybody


def may_grant_scope(actor: Actor, scope: Scope) -> bool:
    """Whether the actor may give a credential this scope: only one that the actor has."""
    return actor.has(scope)


def require_credential(actor: Actor, action: str) -> None:
    """Raise `Unauthenticated` for an anonymous actor. Call this before you look for the object of the action."""
    if actor.is_anonymous:
        raise Unauthenticated(f"A credential is needed to {action}.")


def require_no_preview(actor: Actor) -> None:
    """Raise `Forbidden` if the caller has sent a preview token, whatever credential is beside it."""
    if actor.preview is not None:
        raise Forbidden("A preview token only reads: send writes without Preview-Token.")


def require_permission(actor: Actor, allowed: bool, action: str) -> None:  # noqa: FBT001 - the call reads as a sentence
    """Raise `Unauthenticated` for an anonymous actor, else `Forbidden`, unless `allowed`. `action`: "publish posts"."""
    if allowed:
        return
    require_credential(actor, action)
    raise Forbidden(f"You may not {action}.")


# --- Events. Who could see the object at the time of an event may see the event, whatever came later


def build_visible_events(actor: Actor, rules: Mapping[str, EventRule]) -> Q:
    """The events of public objects. With `events:read` also those of each kind that its rule lets the actor see."""
    conditions = [PUBLIC_EVENTS]
    if actor.has(Scope.EVENTS_READ):
        for kind, rule in rules.items():
            condition = rule(actor)
            if condition != NOTHING:
                conditions.append(Q(type__startswith=f"{kind}.") & condition)
    return reduce(or_, conditions)


def build_events_in_reach(actor: Actor, scope: Scope, find_owner: Callable[[int], Any] = lambda user: user) -> Q:
    """Return the condition on events of objects in the reach of a scope: `$1 = ANY(owner_ids)` for one's own objects.

    `find_owner` returns what `Event.owner_ids` has for a user; by default the id of the user.
    """
    return get_reach(actor, scope).build_condition(lambda user_id: Q(IsInArray(find_owner(user_id), F("owner_ids"))))


# The events of which the actor may see who did it
visible_event_actors = partial(build_rows_in_reach, scope=Scope.USERS_READ, column="actor_id")


# --- Webhooks. With `webhooks:manage`, admins see and change all of them, and nobody else any


may_manage_webhooks = partial(reaches_everybody, scope=Scope.WEBHOOKS_MANAGE)


def visible_webhooks(actor: Actor) -> Q:
    """All webhooks, or all deliveries, for those who manage them."""
    return EVERYTHING if may_manage_webhooks(actor) else NEVER


def may_name_maker(actor: Actor) -> bool:
    """Whether the actor may create webhooks with the rights of another user: the operator may."""
    return actor.credential == "operator"
