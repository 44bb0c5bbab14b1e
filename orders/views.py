"""Resource-oriented HTTP's way to orders. Each method: what is asked for, and what is answered."""

from datetime import datetime
from decimal import Decimal
from functools import partial

import msgspec
from django.db.models import QuerySet
from msgspec import UNSET, UnsetType

from contentapi.core.entity_tags import Rendered, tagged
from contentapi.core.identity import Actor
from contentapi.core.pagination import paged
from contentapi.http.response import Answer, created, no_content, ok
from contentapi.rest import Asked, Body, Nothing, Resource
from orders import selectors, services
from orders.models import Order

ENCODER = msgspec.json.Encoder(decimal_format="number")


class NewOrder(Body):
    total: int | float


class Link(msgspec.Struct):
    href: str
    method: str | UnsetType = UNSET


class OrderRepresentation(msgspec.Struct, rename={"links": "_links"}):
    id: int
    status: str
    total: Decimal
    links: dict[str, Link]


class Tracking(msgspec.Struct, rename="camel"):
    carrier: str
    tracking_number: str
    shipped_at: datetime | None
    delivered_at: datetime | None


def links_of(order: Order, actor: Actor, prefix: str) -> dict[str, Link]:
    """Return where an order is, and what this actor may do next with it, by paths that begin with this prefix."""
    here = f"{prefix}/orders/{order.pk}"
    ways = {
        "cancel": ("cancel", Link(here, "DELETE")),
        "pay": ("payment", Link(f"{here}/payment", "POST")),
        "track": ("track", Link(f"{here}/tracking")),
    }
    acts = selectors.next_acts(actor, order)
    return {"self": Link(here), **dict(way for act, way in ways.items() if act in acts)}


def represented(order: Order, actor: Actor, prefix: str = "") -> bytes:
    links = links_of(order, actor, prefix)
    return ENCODER.encode(OrderRepresentation(order.pk, order.status, round(order.total, 2), links))


def each(asked: Asked, orders: QuerySet[Order]) -> list[bytes]:
    return [represented(order, asked.actor, asked.prefix) for order in orders]


def one(order: Order, asked: Asked) -> Rendered:
    """Return an order with its tag, which is the same under each prefix."""
    body = represented(order, asked.actor, asked.prefix)
    return tagged(body, order.version, canonical=represented(order, asked.actor) if asked.prefix else body)


class OrderCollection(Resource):
    def get(self, asked: Asked) -> Answer:
        page = asked.page()
        return ok(paged(selectors.orders_after(asked.actor, page.after), page, partial(each, asked)))

    def post(self, asked: Asked) -> Answer:
        total = Decimal(str(asked.body(NewOrder).total))
        order = services.create_order(actor=asked.actor, total=total)
        return created(f"/orders/{order.pk}", one(order, asked))


class OrderResource(Resource):
    def get(self, asked: Asked, order_id: str) -> Answer:
        return ok(one(selectors.get_order(asked.actor, order_id), asked))

    def delete(self, asked: Asked, order_id: str) -> Answer:
        services.cancel_order(actor=asked.actor, order_id=order_id, expected_version=asked.expected_version())
        return no_content()


class Payment(Resource):
    def post(self, asked: Asked, order_id: str) -> Answer:
        asked.body_if_any(Nothing)
        version = asked.expected_version()
        return ok(one(services.pay_order(actor=asked.actor, order_id=order_id, expected_version=version), asked))


class OrderTracking(Resource):
    def get(self, asked: Asked, order_id: str) -> Answer:
        order = selectors.get_order_on_its_way(asked.actor, order_id)
        tracking = Tracking(order.carrier, order.tracking_number, order.shipped_at, order.delivered_at)
        return ok(tagged(ENCODER.encode(tracking), order.version))
