"""Writes of orders. Each function finds an order that the actor may see, checks the permission, validates and writes.

`expected_version` is a version that the caller has read. If the order has another one, the function raises `Conflict`.
"""

from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from contentapi.core.entity_tags import ExpectedVersion, require_version
from contentapi.core.errors import Conflict, Invalid, Unauthenticated, require_row
from contentapi.core.identity import Actor
from contentapi.core.policy import require_permission
from contentapi.core.text import require_storable
from contentapi.events.triggers import attribute_changes
from orders import policy, selectors
from orders.models import LARGEST_TOTAL, MAX_TRACKING, SMALLEST_TOTAL, Audit, Order, OrderStatus


@transaction.atomic
def create_order(*, actor: Actor, total: Decimal, user_id: int | None = None) -> Order:
    """Create a pending order: the actor's own unless `user_id` names another user. Raises `Invalid`."""
    require_permission(actor, policy.may_write_orders(actor), "create orders")
    customer = actor.user_id if user_id is None else user_id
    if customer is None:
        raise Invalid({"user": ["Name the user: this credential belongs to none."]})
    require_permission(actor, policy.may_write_orders_of(actor, customer), "create orders for this user")
    validate_total(total)
    require_existing_user(actor, customer)
    with attribute_changes(actor):
        return Order.objects.create(user_id=customer, total=total)


def validate_total(total: Decimal) -> None:
    is_in_range = total.is_finite() and SMALLEST_TOTAL <= total <= LARGEST_TOTAL
    if not is_in_range or total != round(total, 2):
        raise Invalid({"total": [f"From {SMALLEST_TOTAL} to {LARGEST_TOTAL}, with two decimals."]})


def require_existing_user(actor: Actor, user_id: int) -> None:
    if get_user_model().objects.filter(pk=user_id).exists():
        return
    if user_id == actor.user_id:  # a token can outlast its user by minutes
        raise Unauthenticated("The user of this credential does not exist any more.")
    raise Invalid({"user": ["There is no user with this id."]})


@transaction.atomic
def pay_order(*, actor: Actor, order_id: str, expected_version: ExpectedVersion = None) -> Order:
    """Pay a pending order. Raises `Conflict` for any other status."""
    order = get_order_for_update(actor, order_id, "pay")
    require_version("order", order.version, expected_version)
    return save_transition(actor, order, OrderStatus.PENDING, OrderStatus.PAID)


@transaction.atomic
def cancel_order(*, actor: Actor, order_id: str, expected_version: ExpectedVersion = None) -> Order:
    """Cancel a pending order; a cancelled order does not change. Raises `Conflict` for any other status."""
    order = get_order_for_update(actor, order_id, "cancel")
    require_version("order", order.version, expected_version)
    if order.status == OrderStatus.CANCELLED:
        return order
    return save_transition(actor, order, OrderStatus.PENDING, OrderStatus.CANCELLED)


@transaction.atomic
def ship_order(*, actor: Actor, order_id: str, carrier: str, tracking_number: str) -> Order:
    """Ship a paid order. Raises `Conflict` for any other status."""
    order = get_order_for_update(actor, order_id, "ship")
    require_permission(actor, policy.may_ship_orders(actor), "ship orders")
    tracking = validate_tracking(carrier=carrier, tracking_number=tracking_number)
    return save_transition(actor, order, OrderStatus.PAID, OrderStatus.SHIPPED, shipped_at=timezone.now(), **tracking)


@transaction.atomic
def deliver_order(*, actor: Actor, order_id: str) -> Order:
    """Record the delivery of a shipped order. Raises `Conflict` for any other status."""
    order = get_order_for_update(actor, order_id, "deliver")
    require_permission(actor, policy.may_ship_orders(actor), "deliver orders")
    return save_transition(actor, order, OrderStatus.SHIPPED, OrderStatus.DELIVERED, delivered_at=timezone.now())


def validate_tracking(**texts: str) -> dict[str, str]:
    """Return the texts without spaces at the ends. Raises `Invalid`, and `Malformed` for text with NUL."""
    require_storable(texts)
    cleaned = {name: text.strip() for name, text in texts.items()}
    problems = {
        name: [f"From 1 to {MAX_TRACKING} characters are allowed (got {len(text)})."]
        for name, text in cleaned.items()
        if not 1 <= len(text) <= MAX_TRACKING
    }
    if problems:
        raise Invalid(problems)
    return cleaned


def get_order_for_update(actor: Actor, order_id: str, action: str) -> Order:
    """Return an order that the actor may see and write. It is locked until the transaction ends."""
    require_permission(actor, policy.may_write_orders(actor), f"{action} orders")
    orders = selectors.select_order_by_id(actor, order_id).queryset()
    order = require_row(orders.select_for_update(of=("self",)), "order")
    require_permission(actor, policy.may_write_orders_of(actor, order.user_id), f"{action} this order")
    return order


def save_transition(actor: Actor, order: Order, old: OrderStatus, new: OrderStatus, **values: Any) -> Order:
    """Change the status from `old` to `new`, and save other values with it. Raises `Conflict` for another status."""
    if order.status != old:
        raise Conflict(f"An order that is {order.status} cannot be {new}.")
    order.status = new
    for name, value in values.items():
        setattr(order, name, value)
    with attribute_changes(actor):
        order.save(update_fields=["status", *values])
    states = {"from": str(old), "to": str(new)}
    Audit(f"order.{new}").record(actor, "order", order.pk, **states)
    return order
