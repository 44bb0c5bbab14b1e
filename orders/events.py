"""How events show orders."""

from decimal import Decimal

import msgspec

from contentapi.events.sources import EventSource
from orders.models import OrderAction, OrderStatus
from orders.projections import ORDER
from orders.selectors import select_order_node
from orders.views import encode_order


class OrderFields(msgspec.Struct, rename="camel"):
    id: str
    status: str
    total: Decimal
    allowed_actions: list[OrderAction]


def represent_order(order: bytes, prefix: str) -> bytes:
    found = msgspec.json.decode(order, type=OrderFields)
    return encode_order(int(found.id), found.status, found.total, found.allowed_actions, prefix)


FIELDS = ("id", "status", "total", "allowedActions")
ACTIONS = ("created", *(status.value for status in OrderStatus if status != OrderStatus.PENDING))
SOURCES = [EventSource(ORDER, select_order_node, ACTIONS, FIELDS, represent_order)]
