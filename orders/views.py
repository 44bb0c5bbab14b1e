"""REST resources of orders. Each method reads the request and calls one selector or service."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any, TypedDict

import msgspec
from msgspec import UNSET, UnsetType

from contentapi.http.response import Response, created, no_content
from contentapi.rest import Body, EmptyBody, Resource, ResourceRequest
from contentapi.rest.representations import Representation
from orders import projections, selectors, services
from orders.models import OrderAction


class NewOrder(Body):
    total: int | float


class OrderLink(msgspec.Struct):
    href: str
    method: str | UnsetType = UNSET


class Tracking(TypedDict, total=False):
    carrier: str
    trackingNumber: str
    shippedAt: datetime
    deliveredAt: datetime | None


def build_links(pk: int, actions: Iterable[OrderAction]) -> dict[str, OrderLink]:
    """Return the links to an order and to the actions that are possible."""
    here = f"/orders/{pk}"
    links = {
        OrderAction.CANCEL: ("cancel", OrderLink(here, "DELETE")),
        OrderAction.PAY: ("payment", OrderLink(f"{here}/payment", "POST")),
        OrderAction.TRACK: ("track", OrderLink(f"{here}/tracking")),
    }
    return {"self": OrderLink(here), **dict(links[action] for action in actions)}


def represent_order(order: bytes) -> bytes:
    """Return an order as REST shows it: the id is a number, and each allowed action is a link."""
    members: dict[str, Any] = msgspec.json.decode(order, type=dict[str, msgspec.Raw])
    members["id"] = pk = int(msgspec.json.decode(members["id"]))
    if "_links" in members:
        actions = msgspec.json.decode(members["_links"], type=list[OrderAction])
        members["_links"] = build_links(pk, actions)
    return msgspec.json.encode(members)


def represent_tracking(tracking: bytes) -> bytes:
    """Return a tracking with its times in UTC."""
    return msgspec.json.encode(msgspec.json.decode(tracking, type=Tracking))


ORDER = Representation(projections.ORDER, version=projections.VERSION, represent=represent_order)
TRACKING = Representation(projections.TRACKING, version=projections.VERSION, represent=represent_tracking)
REPRESENTATIONS = [ORDER, TRACKING]


class OrderCollection(Resource, is_private=True, shows=ORDER):
    def get(self, request: ResourceRequest) -> Response:
        page = request.page()
        return request.shown.page(selectors.select_orders(request.actor, page.after), page, request.actor)

    def post(self, request: ResourceRequest) -> Response:
        total = Decimal(str(request.body(NewOrder).total))
        order = services.create_order(actor=request.actor, total=total)
        return created(f"/orders/{order.pk}", request.shown.of(order, request.actor))


class OrderResource(Resource, is_private=True, shows=ORDER):
    def get(self, request: ResourceRequest, order_id: str) -> Response:
        return request.shown.one(selectors.select_order_by_id(request.actor, order_id), request.actor)

    def delete(self, request: ResourceRequest, order_id: str) -> Response:
        services.cancel_order(actor=request.actor, order_id=order_id, expected_version=request.expected_version())
        return no_content()


class OrderPaymentResource(Resource, shows=ORDER):
    def post(self, request: ResourceRequest, order_id: str) -> Response:
        request.body_if_any(EmptyBody)
        version = request.expected_version()
        order = services.pay_order(actor=request.actor, order_id=order_id, expected_version=version)
        return request.shown.of(order, request.actor)


class OrderTrackingResource(Resource, is_private=True, shows=TRACKING):
    def get(self, request: ResourceRequest, order_id: str) -> Response:
        return request.shown.of(selectors.get_trackable_order(request.actor, order_id), request.actor)
