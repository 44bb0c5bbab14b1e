"""The rules for events. Who could see the object at the time of an event may see the event, whatever came later.

`Event.owner_ids` has the authors of a post, the author of the post of a comment, or the user of the rest.
"""

from functools import reduce
from operator import or_
from typing import Any

from django.db.models import F, Q

from contentapi.core.identity import Actor, Scope
from contentapi.core.policy.posts import select_author_id
from contentapi.core.policy.reach import NOBODY, get_reach
from contentapi.db.arrays import IsInArray

PUBLIC_EVENTS = Q(is_public=True)
# What one needs beside `events:read` for the objects in reach that are not public. Editors moderate all comments.
OF_AUTHORS = {"post": Scope.POSTS_READ, "comment": Scope.COMMENTS_MODERATE}
OF_USERS = {"author": Scope.AUTHORS_READ, "order": Scope.ORDERS_READ, "user": Scope.USERS_READ}


def visible_events(actor: Actor) -> Q:
    """The events of public objects. With `events:read` also those of other objects that the actor may see.

    Users with the scope to write posts or images may see the events of all images.
    """
    if not actor.has(Scope.EVENTS_READ):
        return PUBLIC_EVENTS
    conditions = [PUBLIC_EVENTS]
    for kind, scope in (OF_AUTHORS | OF_USERS).items():
        reach = get_reach(actor, scope)
        if reach != NOBODY:
            conditions.append(Q(type__startswith=f"{kind}.") & reach.build_condition(find_owner(kind)))
    if actor.has(Scope.IMAGES_WRITE) or actor.has(Scope.POSTS_WRITE):
        conditions.append(Q(type__startswith="image."))
    return reduce(or_, conditions)


def find_owner(kind: str) -> Any:
    """Return the condition on the own objects of a user, as a function: `$1 = ANY(owner_ids)`."""
    if kind in OF_AUTHORS:
        return lambda user_id: Q(IsInArray(select_author_id(user_id), F("owner_ids")))
    return lambda user_id: Q(IsInArray(user_id, F("owner_ids")))


def visible_event_actors(actor: Actor) -> Q:
    """The events of which the actor may see who did it: with `users:read` their own; for admins all."""
    return get_reach(actor, Scope.USERS_READ).build_condition(lambda user_id: Q(actor_id=user_id))
