"""The root fields of orders. Each calls one selector or one service."""

from decimal import Decimal
from typing import Any

from ariadne import MutationType, QueryType

from contentapi.graphql.root_fields import Info, bind_fields, build_sort, pass_arguments, pass_id
from orders import selectors, services
from orders.models import Order


def create_order(_: None, info: Info, input: dict[str, Any]) -> Order:
    return services.create_order(actor=info.context["actor"], total=Decimal(str(input["total"])))


QUERY = {
    "order": pass_id(selectors.select_order_by_id),
    "orders": pass_arguments(selectors.select_orders_page),
}
MUTATION = {
    "createOrder": create_order,
    "payOrder": pass_arguments(services.pay_order, "order_id"),
    "cancelOrder": pass_arguments(services.cancel_order, "order_id"),
}
BINDABLES = [
    bind_fields(QueryType(), QUERY),
    bind_fields(MutationType(), MUTATION),
    *build_sort("Order", selectors.ORDER_SORT_FIELDS),
]
