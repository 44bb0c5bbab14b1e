"""Reads of orders: which ones an actor may see."""

from django.db.models import QuerySet

from contentapi import policy
from contentapi.identity import Actor
from contentapi.pagination import parse_id
from contentapi.projection import by_shape
from orders.models import Order


def order_by_id(actor: Actor, order_id: str) -> QuerySet[Order]:
    """Return the order with this id, or no order."""
    return visible_order(actor, pk=parse_id(order_id))


@by_shape(Order)
def visible_order(actor: Actor, *, pk: int) -> QuerySet[Order]:
    return Order.objects.filter(policy.visible_orders(actor), pk=pk)


@by_shape(Order)
def list_orders(actor: Actor) -> QuerySet[Order]:
    """Return orders, the newest first."""
    return Order.objects.filter(policy.visible_orders(actor)).order_by("-id")
