"""Actions on orders, each with its event of the audit log."""

from contentapi.core.identity import OPERATOR
from orders import services as orders
from orders.models import Audit, OrderStatus
from tests.contentapi.monitoring.audit_scene import Action, Scene, causes
from tests.factories import make_order


@causes(Audit.ORDER_PAID, "REST")
def pay_an_order(scene: Scene) -> Action:
    order = make_order()
    return lambda: scene.request("POST", f"/orders/{order.pk}/payment")


@causes(Audit.ORDER_CANCELLED, "REST")
def cancel_an_order(scene: Scene) -> Action:
    order = make_order()
    return lambda: scene.request("DELETE", f"/orders/{order.pk}")


@causes(Audit.ORDER_SHIPPED, "command line")
def ship_an_order(scene: Scene) -> Action:
    order = make_order(status=OrderStatus.PAID)
    command = ("ship_order", str(order.pk), "--carrier", "Harbour Mail", "--tracking-number", "HM-7")
    return lambda: scene.command(*command)


@causes(Audit.ORDER_DELIVERED, "command line")
def deliver_an_order(scene: Scene) -> Action:
    order = make_order()
    orders.pay_order(actor=OPERATOR, order_id=str(order.pk))
    orders.ship_order(actor=OPERATOR, order_id=str(order.pk), carrier="Mail", tracking_number="7")
    return lambda: scene.command("deliver_order", str(order.pk))
