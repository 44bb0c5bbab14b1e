"""Reads of orders: which ones an actor may see."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet

from contentapi.auth.people import name_person, name_users
from contentapi.core.errors import Conflict, require_row
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position, parse_id
from contentapi.core.policy import require_permission
from contentapi.projection import NEWEST_FIRST, OLDEST_FIRST, Rows, paginate, parametrised
from orders import policy
from orders.models import ON_THE_WAY, Order, OrderState

DATABASE = "database"  # `origin` of a change in SQL or in the shell
ORDER_SORT_FIELDS = {"createdAt": OLDEST_FIRST}


def select_orders(actor: Actor, after: Position | None = None) -> Rows[Order]:
    """Return orders, newest first, from after a position. Raises `Unauthenticated` and `Forbidden`."""
    require_permission(actor, policy.may_read_orders(actor), "list orders")
    return select_visible_orders(actor, after_pk=after and after.id)


select_orders_page = paginate("orders", select_orders, NEWEST_FIRST)


@parametrised(Order)
def select_visible_orders(actor: Actor, *, after_pk: int | None = None) -> QuerySet[Order]:
    orders = Order.objects.filter(policy.visible_orders(actor)).order_by("-id")
    return orders if after_pk is None else orders.filter(pk__lt=after_pk)


def select_order_by_id(actor: Actor, order_id: str) -> Rows[Order]:
    """Return the order with this id, or no order. Raises `Unauthenticated` and `Forbidden`, whatever the id."""
    require_permission(actor, policy.may_read_orders(actor), "read orders")
    return select_order_node(actor, order_id)


@parametrised(Order, pk=parse_id)
def select_order_node(actor: Actor, *, pk: int) -> QuerySet[Order]:
    """Return the order with this id, or no order. `node` gets the ids of all types, so no permission is required."""
    return Order.objects.filter(policy.visible_orders(actor), pk=pk)


def get_order(actor: Actor, order_id: str) -> Order:
    """Return the order with this id. Raises `Unauthenticated`, `Forbidden` and `NotFound`."""
    return require_row(select_order_by_id(actor, order_id).queryset(), "order")


def get_trackable_order(actor: Actor, order_id: str) -> Order:
    """Return an order that has been shipped. Raises `NotFound`, and `Conflict` for one that has not."""
    order = get_order(actor, order_id)
    if order.status not in ON_THE_WAY:
        raise Conflict(f"An order that is {order.status} has no tracking.")
    return order


class StateChange(NamedTuple):
    """A status that an order has had: since when, who gave it, and with which interface and credential.

    `person` is empty if no user did it: an operator, or a change in the database.
    """

    status: str
    at: datetime
    person: str
    origin: str


def list_state_changes(actor: Actor, order_id: str) -> list[StateChange]:
    """Return the statuses that an order has had, the first one first. Raises `NotFound`."""
    order = get_order(actor, order_id)
    columns = ("status", "pgh_created_at", "pgh_context")
    states = list(OrderState.objects.filter(id=order.pk).order_by("pgh_created_at", "pgh_id").values(*columns))
    contexts = [state["pgh_context"] or {} for state in states]
    names = name_users(context.get("changed_by") for context in contexts)
    return [
        StateChange(
            state["status"],
            state["pgh_created_at"],
            name_person(context.get("changed_by"), names),
            context.get("changed_with", DATABASE),
        )
        for state, context in zip(states, contexts, strict=True)
    ]
