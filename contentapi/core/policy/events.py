"""The rules for events. Who could see the object at the time of an event may see the event, whatever came later.

`Event.owner_ids` has the authors of a post, the author of the post of a comment, or the user of the rest.
"""

from functools import reduce
from operator import or_
from typing import Any

from django.db.models import F, Q

from contentapi.core.identity import Actor, Scope
from contentapi.core.policy.posts import select_author_id
from contentapi.core.policy.reach import NEVER, NOBODY, Reach, get_reach
from contentapi.db.arrays import IsInArray

PUBLIC_EVENTS = Q(is_public=True)


def visible_events(actor: Actor) -> Q:
    """The events of public objects. With `events:read` also those of other objects that the actor may see.

    These are posts with `posts:read`, comments with `comments:moderate`, emails of authors with `authors:read`, images
    with `images:write` or `posts:write`, orders with `orders:read`, and users with `users:read`.
    """
    if not actor.has(Scope.EVENTS_READ):
        return PUBLIC_EVENTS
    of_authors = {"post": Scope.POSTS_READ, "comment": Scope.COMMENTS_MODERATE}
    of_users = {"author": Scope.AUTHORS_READ, "order": Scope.ORDERS_READ, "user": Scope.USERS_READ}
    conditions = [PUBLIC_EVENTS]
    conditions += [
        build_condition(kind, get_reach(actor, scope), select_author_id) for kind, scope in of_authors.items()
    ]
    conditions += [build_condition(kind, get_reach(actor, scope), lambda pk: pk) for kind, scope in of_users.items()]
    if actor.has(Scope.IMAGES_WRITE) or actor.has(Scope.POSTS_WRITE):
        conditions.append(build_kind_condition("image"))
    return reduce(or_, conditions)


def build_condition(kind: str, reach: Reach, find_owner: Any) -> Q:
    """Return the condition on events of the objects in reach: `type LIKE 'post.%' AND $1 = ANY(owner_ids)`."""
    if reach == NOBODY:
        return NEVER
    is_own = reach.build_condition(lambda user_id: Q(IsInArray(find_owner(user_id), F("owner_ids"))))
    return build_kind_condition(kind) & is_own


def build_kind_condition(kind: str) -> Q:
    return Q(type__startswith=f"{kind}.")


def visible_event_actors(actor: Actor) -> Q:
    """The events whose actor's id the actor may see: with `users:read` their own; for admins all."""
    reach = get_reach(actor, Scope.USERS_READ)
    return NEVER if reach == NOBODY else reach.build_condition(lambda user_id: Q(actor_id=user_id))
