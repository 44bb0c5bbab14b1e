"""Orders."""

from decimal import Decimal

import orders.selectors
import orders.services
from orders.models import Order
from tests.contract.admin_browser import press_button
from tests.contract.admin_requests import (
    ADMINS_MAY,
    ADMINS_SEE,
    NOBODY,
    ONLY_ADMINS_SEE,
    Page,
    act_on,
    list_pages,
    perform_in_list,
)
from tests.contract.input_documents import input_document
from tests.contract.openapi_requests import order_request, shipped_order_request
from tests.contract.permissions import (
    ADMINS_KNOW,
    ADMINS_ONLY,
    OTHERS,
    OWN,
    SEE_ORDERS,
    USERS,
    WRITE_ORDERS,
    Row,
    allow,
)
from tests.contract.routine import Routine
from tests.contract.worlds import World, contains_row

ORDER = Routine("order", "orders", {"total": 1.5}, actions=("read", "list", "create"))


def create_order(world: World) -> Order:
    user_id = None if world.is_own else world.target.user.pk
    return orders.services.create_order(actor=world.actor, user_id=user_id, total=Decimal(1))


TABLE = {
    "read, pay, cancel, create orders": [
        Row("read an order", OWN, allow(USERS), SEE_ORDERS),
        Row("read an order", OTHERS, ADMINS_KNOW, SEE_ORDERS),
        Row("list orders", OWN, allow(USERS), SEE_ORDERS),
        Row("list orders", OTHERS, ADMINS_KNOW, SEE_ORDERS),
        Row("pay an order", OWN, allow(USERS), SEE_ORDERS | WRITE_ORDERS),
        Row("pay an order", OTHERS, ADMINS_KNOW, SEE_ORDERS | WRITE_ORDERS),
        Row("cancel an order", OWN, allow(USERS), SEE_ORDERS | WRITE_ORDERS),
        Row("cancel an order", OTHERS, ADMINS_KNOW, SEE_ORDERS | WRITE_ORDERS),
        Row("create an order", OWN, allow(USERS, anonymous=401), WRITE_ORDERS),
        Row("create an order", OTHERS, ADMINS_ONLY, WRITE_ORDERS),
    ],
}
NARROWER = {
    ("list orders", OWN): (("author", "editor"), "403", "The section is for admins. One's own order has its page."),
    ("list orders", OTHERS): (("author", "editor"), "403", "The section is for admins."),
}
SERVICES = {
    "read an order": lambda world: orders.selectors.select_order_by_id(
        world.actor, str(world.target.order.pk)
    ).exists(),
    "list orders": lambda world: contains_row(
        orders.selectors.select_orders(world.actor).queryset(), world.target.order
    ),
    "pay an order": lambda world: orders.services.pay_order(actor=world.actor, order_id=str(world.target.order.pk)),
    "cancel an order": lambda world: orders.services.cancel_order(
        actor=world.actor, order_id=str(world.target.order.pk)
    ),
    "create an order": create_order,
}
GRAPHQL = {
    **ORDER.ask_graphql(),
    "pay an order": lambda world: input_document("payOrder", "order { id }", id=str(world.target.order.pk)),
    "cancel an order": lambda world: input_document("cancelOrder", "order { id }", id=str(world.target.order.pk)),
}
REST = {
    **ORDER.ask_rest(),
    "pay an order": lambda world: ("POST", f"/orders/{world.target.order.pk}/payment", None, None),
    "cancel an order": lambda world: ("DELETE", f"/orders/{world.target.order.pk}", None, None),
}
BROWSED = Routine("order", "orders", actions=("read", "list"))
ADMIN = {
    **BROWSED.browse("orders"),
    "pay an order": lambda world: press_button(world, "orders_order", world.target.order.pk, "pay"),
    "cancel an order": lambda world: press_button(world, "orders_order", world.target.order.pk, "cancel"),
}
PAGES = [
    *list_pages("orders_order", ADMINS_MAY, NOBODY, ADMINS_SEE, ONLY_ADMINS_SEE),
    Page("orders_order_action", OTHERS, ADMINS_SEE, act_on("cancel")),
    Page("orders_order_bulk", OTHERS, ADMINS_MAY, perform_in_list("cancel")),
]
SUCCESSES = {
    **ORDER.succeed(),
    "getOrder": [(200, order_request()), (200, shipped_order_request())],
    "cancelOrder": [(204, order_request())],
    "payOrder": [(200, order_request()), (200, order_request(body={}))],
    "trackOrder": [(200, shipped_order_request())],
}
