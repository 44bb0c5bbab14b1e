"""Reads of orders: which ones an actor may see."""

from django.db.models import QuerySet

from contentapi.core import policy
from contentapi.core.errors import Conflict, NotFound
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position, parse_id
from contentapi.projection import Rows, parametrised
from orders.models import ON_THE_WAY, Order, OrderStatus


def select_order_by_id(actor: Actor, order_id: str) -> Rows[Order]:
    """Return the order with this id, or no order."""
    return select_visible_order(actor, pk=parse_id(order_id))


@parametrised(Order)
def select_visible_order(actor: Actor, *, pk: int) -> QuerySet[Order]:
    return Order.objects.filter(policy.visible_orders(actor), pk=pk)


def list_orders(actor: Actor) -> Rows[Order]:
    """Return orders, newest first. Raises `Unauthenticated` or `Forbidden` without `orders:read`."""
    policy.require_permission(actor, policy.may_list_orders(actor), "list orders")
    return select_visible_orders(actor)


@parametrised(Order)
def select_visible_orders(actor: Actor) -> QuerySet[Order]:
    return Order.objects.filter(policy.visible_orders(actor)).order_by("-id")


def select_orders_after(actor: Actor, position: Position | None) -> QuerySet[Order]:
    """Return orders, newest first, from after a position."""
    orders = list_orders(actor).queryset()
    return orders if position is None else orders.filter(pk__lt=position.id)


def get_order(actor: Actor, order_id: str) -> Order:
    """Return the order with this id. Raises `NotFound`."""
    order = select_order_by_id(actor, order_id).queryset().first()
    if order is None:
        raise NotFound("There is no order with this id.")
    return order


def get_trackable_order(actor: Actor, order_id: str) -> Order:
    """Return an order that has been shipped. Raises `NotFound`, and `Conflict` for one that has not."""
    order = get_order(actor, order_id)
    if order.status not in ON_THE_WAY:
        raise Conflict(f"An order that is {order.status} has no tracking.")
    return order


def list_next_actions(actor: Actor, order: Order) -> set[str]:
    """Return the actions that are possible for this actor in the order's status: cancel, pay, track."""
    if order.status == OrderStatus.PENDING:
        return {"cancel", "pay"} if policy.may_write_orders_of(actor, order.user_id) else set()
    is_tracked = order.status in ON_THE_WAY and policy.may_see_order(actor, order.user_id)
    return {"track"} if is_tracked else set()


def list_visible_orders(actor: Actor) -> QuerySet[Order]:
    """Return the orders that the actor may see."""
    return Order.objects.filter(policy.visible_orders(actor))
