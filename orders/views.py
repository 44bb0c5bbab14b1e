"""REST resources of orders. Each method reads the request and calls one selector or service."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from functools import partial

import msgspec
from django.db.models import QuerySet
from msgspec import UNSET, UnsetType

from contentapi.core.identity import Actor
from contentapi.http.response import Response, build_tagged_response, created, no_content
from contentapi.rest import Body, EmptyBody, Resource, ResourceRequest
from contentapi.rest.pages import render_page
from orders import selectors, services
from orders.models import Order, OrderAction

ENCODER = msgspec.json.Encoder(decimal_format="number")


class NewOrder(Body):
    total: int | float


class OrderLink(msgspec.Struct):
    href: str
    method: str | UnsetType = UNSET


class OrderRepresentation(msgspec.Struct, rename={"links": "_links"}):
    id: int
    status: str
    total: Decimal
    links: dict[str, OrderLink]


class TrackingRepresentation(msgspec.Struct, rename="camel"):
    carrier: str
    tracking_number: str
    shipped_at: datetime | None
    delivered_at: datetime | None


def build_links(pk: int, actions: Iterable[OrderAction], prefix: str) -> dict[str, OrderLink]:
    """Return the links to an order and to the actions that are possible; paths begin with `prefix`."""
    here = f"{prefix}/orders/{pk}"
    links = {
        OrderAction.CANCEL: ("cancel", OrderLink(here, "DELETE")),
        OrderAction.PAY: ("payment", OrderLink(f"{here}/payment", "POST")),
        OrderAction.TRACK: ("track", OrderLink(f"{here}/tracking")),
    }
    return {"self": OrderLink(here), **dict(links[action] for action in actions)}


def render_order(order: Order, actor: Actor, prefix: str = "") -> bytes:
    return encode_order(order.pk, order.status, order.total, selectors.list_next_actions(actor, order), prefix)


def encode_order(pk: int, status: str, total: Decimal, actions: Iterable[OrderAction], prefix: str) -> bytes:
    return ENCODER.encode(OrderRepresentation(pk, status, round(total, 2), build_links(pk, actions, prefix)))


def render_orders(request: ResourceRequest, orders: QuerySet[Order]) -> list[bytes]:
    return [render_order(order, request.actor, request.prefix) for order in orders]


def render_order_with_etag(order: Order, request: ResourceRequest) -> Response:
    """Return an order with its entity tag, which does not depend on the prefix."""
    body = render_order(order, request.actor, request.prefix)
    return build_tagged_response(
        body, order.version, canonical=render_order(order, request.actor) if request.prefix else body
    )


class OrderFields(msgspec.Struct, rename="camel"):
    id: str
    status: str
    total: Decimal
    allowed_actions: list[OrderAction]


def represent_order(order: bytes, prefix: str) -> bytes:
    found = msgspec.json.decode(order, type=OrderFields)
    return encode_order(int(found.id), found.status, found.total, found.allowed_actions, prefix)


class OrderCollection(Resource, is_private=True):
    def get(self, request: ResourceRequest) -> Response:
        page = request.page()
        orders = selectors.select_orders(request.actor, page.after)
        return render_page(orders, page, partial(render_orders, request))

    def post(self, request: ResourceRequest) -> Response:
        total = Decimal(str(request.body(NewOrder).total))
        order = services.create_order(actor=request.actor, total=total)
        return created(f"/orders/{order.pk}", render_order_with_etag(order, request))


class OrderResource(Resource, is_private=True):
    def get(self, request: ResourceRequest, order_id: str) -> Response:
        return render_order_with_etag(selectors.get_order(request.actor, order_id), request)

    def delete(self, request: ResourceRequest, order_id: str) -> Response:
        services.cancel_order(actor=request.actor, order_id=order_id, expected_version=request.expected_version())
        return no_content()


class OrderPaymentResource(Resource):
    def post(self, request: ResourceRequest, order_id: str) -> Response:
        request.body_if_any(EmptyBody)
        version = request.expected_version()
        return render_order_with_etag(
            services.pay_order(actor=request.actor, order_id=order_id, expected_version=version), request
        )


class OrderTrackingResource(Resource, is_private=True):
    def get(self, request: ResourceRequest, order_id: str) -> Response:
        order = selectors.get_trackable_order(request.actor, order_id)
        tracking = TrackingRepresentation(order.carrier, order.tracking_number, order.shipped_at, order.delivered_at)
        return build_tagged_response(ENCODER.encode(tracking), order.version)
