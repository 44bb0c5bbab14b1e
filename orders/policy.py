"""The rules for orders."""

from functools import partial

from django.db.models import Q

from contentapi.core.identity import Actor, Scope
from contentapi.core.policy import build_events_in_reach, get_reach

ORDER_EVENTS = partial(build_events_in_reach, scope=Scope.ORDERS_READ)


def visible_orders(actor: Actor) -> Q:
    """With `orders:read` the actor's own orders; for admins all orders."""
    return get_reach(actor, Scope.ORDERS_READ).build_condition(lambda user_id: Q(user=user_id))


def may_see_order(actor: Actor, owner_id: int | None) -> bool:
    return get_reach(actor, Scope.ORDERS_READ).includes(owner_id)


def writable_orders(actor: Actor) -> Q:
    """With `orders:write` the actor's own orders; for admins all orders."""
    return get_reach(actor, Scope.ORDERS_WRITE).build_condition(lambda user_id: Q(user=user_id))


def may_read_orders(actor: Actor) -> bool:
    """Whether the actor may read orders; `visible_orders` limits which. No empty list and no 404 hides a refusal."""
    return actor.has(Scope.ORDERS_READ)


def may_list_all_orders(actor: Actor) -> bool:
    return get_reach(actor, Scope.ORDERS_READ).of_everybody


def may_write_orders(actor: Actor) -> bool:
    """Whether the actor may write orders, perhaps only their own. `may_write_orders_of` decides about one user."""
    return actor.has(Scope.ORDERS_WRITE)


def may_write_orders_of(actor: Actor, owner_id: int | None) -> bool:
    """Whether the actor may create, pay and cancel orders of this user."""
    return get_reach(actor, Scope.ORDERS_WRITE).includes(owner_id)


def may_ship_orders(actor: Actor) -> bool:
    """Whether the actor may ship and deliver orders: admins and the operator may."""
    return get_reach(actor, Scope.ORDERS_WRITE).of_everybody
