"""Projections of orders: how each field of the SDL is read."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from django.contrib.postgres.fields import ArrayField
from django.db.models import Case, CharField, Expression, F, IntegerField, Q, Value, When
from django.db.models.functions import Cast

from contentapi.core.identity import Actor
from contentapi.projection import Computed, ConnectionType, Projection, RelayType, SameRowAsType
from orders import policy
from orders.models import ON_THE_WAY, VERSIONS, Order, OrderAction, OrderStatus

ACTIONS = ArrayField(CharField(choices=OrderAction.choices))
VERSION = Case(
    *(When(status=status, then=Value(version)) for status, version in VERSIONS.items()), output_field=IntegerField()
)


class ActionRule(NamedTuple):
    """Actions on orders with certain statuses, and a condition for the orders on which an actor may perform them."""

    statuses: Sequence[OrderStatus]
    actions: Sequence[OrderAction]
    permitted_rows: Callable[[Actor], Q]


ACTION_RULES = (
    ActionRule(
        [OrderStatus.PENDING],
        [OrderAction.CANCEL, OrderAction.PAY],
        policy.writable_orders,
    ),
    ActionRule(ON_THE_WAY, [OrderAction.TRACK], policy.visible_orders),
)


def build_allowed_actions(actor: Actor) -> Expression:
    cases = [
        When(Q(status__in=rule.statuses) & rule.permitted_rows(actor), then=build_actions(rule.actions))
        for rule in ACTION_RULES
    ]
    return Case(*cases, default=build_actions([]))


def build_actions(actions: Sequence[OrderAction]) -> Expression:
    return Cast(Value([str(action) for action in actions]), ACTIONS)


ORDER = Projection(
    "Order",
    Order,
    {
        "tracking": SameRowAsType(Q(status__in=ON_THE_WAY)),
        "allowedActions": Computed(build_allowed_actions),
        "version": Computed(lambda _: VERSION),
    },
)

# The constraint `orders_order_shipped_has_tracking` lets no shipped order be without a time.
TRACKING = Projection("OrderTracking", Order, {"shippedAt": Computed(lambda _: F("shipped_at"))})

ORDER_CONNECTION = ConnectionType(ORDER)

PAYLOADS = [
    Projection(f"{mutation}Payload", Order, {"order": SameRowAsType()})
    for mutation in ("CreateOrder", "PayOrder", "CancelOrder")
]

PROJECTIONS: list[Projection | RelayType] = [
    *(ORDER, ORDER_CONNECTION, ORDER_CONNECTION.edge, TRACKING),
    *PAYLOADS,
]
