"""The rules for events. Who could see the object at the time of an event may see the event, whatever came later."""

from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import F, Q

from contentapi.core.identity import Actor, Scope
from contentapi.core.policy.reach import NOTHING, get_reach
from contentapi.db.arrays import IsInArray

PUBLIC_EVENTS = Q(is_public=True)
EventRule = Callable[[Actor], Q]


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


def visible_event_actors(actor: Actor) -> Q:
    """The events of which the actor may see who did it: with `users:read` their own; for admins all."""
    return get_reach(actor, Scope.USERS_READ).build_condition(lambda user_id: Q(actor_id=user_id))
