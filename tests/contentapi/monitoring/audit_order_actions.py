"""Actions on orders, each with its event of the audit log."""

from contentapi.core.identity import OPERATOR
from contentapi.monitoring.audit import Event
from orders import services as orders
from orders.models import OrderStatus
from tests.contentapi.monitoring.audit_scene import Action, Scene, causes
from tests.factories import make_order


@causes(Event.ORDER_PAID, "REST")
def pay_an_order(scene: Scene) -> Action:
    order = make_order()
    return lambda: scene.request("POST", f"/orders/{order.pk}/payment")


@causes(Event.ORDER_CANCELLED, "REST")
def cancel_an_order(scene: Scene) -> Action:
    order = make_order()
    return lambda: scene.request("DELETE", f"/orders/{order.pk}")


@causes(Event.ORDER_SHIPPED, "command line")
def ship_an_order(scene: Scene) -> Action:
    order = make_order(status=OrderStatus.PAID)
    command = ("ship_order", str(order.pk), "--carrier", "Harbour Mail", "--tracking-number", "HM-7")
    return lambda: scene.command(*command)


@causes(Event.ORDER_DELIVERED, "command line")
def deliver_an_order(scene: Scene) -> Action:
    order = make_order()
    orders.pay_order(actor=OPERATOR, order_id=str(order.pk))
    orders.ship_order(actor=OPERATOR, order_id=str(order.pk), carrier="Mail", tracking_number="7")
    return lambda: scene.command("deliver_order", str(order.pk))
