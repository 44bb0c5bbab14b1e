"""Resolvers of the GraphQL fields of orders. Each function calls one selector or one service."""

from decimal import Decimal
from typing import Any

from ariadne import EnumType, InputType, MutationType, QueryType
from graphql import GraphQLResolveInfo

from contentapi.graphql.context import RequestContext
from contentapi.graphql.sorting import build_ordering
from contentapi.projection import ConnectionQuery, Ordering, Rows
from orders import selectors, services
from orders.models import Order

Info = GraphQLResolveInfo[RequestContext]

QUERY = QueryType()
MUTATION = MutationType()
BINDABLES = [
    *(QUERY, MUTATION),
    *(EnumType("OrderSortField", selectors.ORDER_SORT_FIELDS), InputType("OrderSort", out_type=build_ordering)),
]


@QUERY.field("order")
def order(_: None, info: Info, id: str) -> Rows[Order]:
    return selectors.select_order_by_id(info.context["actor"], id)


@QUERY.field("orders")
def orders(_: None, info: Info, order_by: Ordering | None = None, **window: Any) -> ConnectionQuery:
    return selectors.build_orders_connection(info.context["actor"], order_by=order_by, **window)


@MUTATION.field("createOrder")
def create_order(_: None, info: Info, input: dict[str, Any]) -> Order:
    return services.create_order(actor=info.context["actor"], total=Decimal(str(input["total"])))


@MUTATION.field("payOrder")
def pay_order(_: None, info: Info, input: dict[str, Any]) -> Order:
    return services.pay_order(
        actor=info.context["actor"], order_id=input["id"], expected_version=input.get("expected_version")
    )


@MUTATION.field("cancelOrder")
def cancel_order(_: None, info: Info, input: dict[str, Any]) -> Order:
    return services.cancel_order(
        actor=info.context["actor"], order_id=input["id"], expected_version=input.get("expected_version")
    )
