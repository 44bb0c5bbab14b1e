"""Writes to orders."""

from decimal import Decimal

from django.contrib.auth import get_user_model
from django.db import transaction

from contentapi import policy
from contentapi.errors import Invalid
from contentapi.identity import Actor
from orders.models import LARGEST_TOTAL, SMALLEST_TOTAL, Order


@transaction.atomic
def create_order(*, actor: Actor, user_id: int, total: Decimal) -> Order:
    """Place an order for a user, pending payment."""
    policy.permit(actor, policy.may_create_order_for(actor, user_id), "create orders for this user")
    if not total.is_finite() or not SMALLEST_TOTAL <= total <= LARGEST_TOTAL or total != round(total, 2):
        raise Invalid({"total": [f"From {SMALLEST_TOTAL} to {LARGEST_TOTAL}, with two decimals."]})
    if not get_user_model().objects.filter(pk=user_id).exists():
        raise Invalid({"user": ["There is no user with this id."]})
    return Order.objects.create(user_id=user_id, total=total)
