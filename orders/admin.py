"""Orders in the admin site: the list, the actions that move an order, and its history."""

from collections.abc import Callable
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.widgets import UnfoldAdminTextInputWidget

from contentapi.auth.sessions import get_actor
from contentapi.core.identity import Actor
from contentapi.desk.actions import Action, perform_each
from contentapi.desk.bases import PolicyAdmin
from contentapi.desk.rendering import build_column, build_time_column, describe_origin
from orders import policy, selectors, services
from orders.models import MAX_TRACKING, Order, OrderStatus

COLORS = {
    OrderStatus.PENDING.value: "warning",
    OrderStatus.PAID.value: "info",
    OrderStatus.SHIPPED.value: "info",
    OrderStatus.DELIVERED.value: "success",
    OrderStatus.CANCELLED.value: "default",
}


class TrackingForm(forms.Form):
    """What the customer needs to follow the parcel."""

    carrier = forms.CharField(max_length=MAX_TRACKING, widget=UnfoldAdminTextInputWidget)
    tracking_number = forms.CharField(max_length=MAX_TRACKING, widget=UnfoldAdminTextInputWidget)


def may_write(actor: Actor, order: Order) -> bool:
    return policy.may_write_orders_of(actor, order.user_id)


def may_ship(actor: Actor, _: Order) -> bool:
    return policy.may_ship_orders(actor)


def has_status(status: OrderStatus) -> Callable[[Order], bool]:
    return lambda order: order.status == status


@admin.register(Order)
class OrderAdmin(PolicyAdmin):
    """Orders, which the actions move from status to status. Nobody edits an order."""

    desk_actions: ClassVar = [
        Action(
            name="pay",
            label="Mark as paid",
            done="Paid",
            help="The order can then be shipped. It cannot be cancelled any more.",
            perform=perform_each(services.pay_order, "order_id"),
            is_permitted=may_write,
            is_offered=has_status(OrderStatus.PENDING),
        ),
        Action(
            name="ship",
            label="Ship",
            done="Shipped",
            help="Asks for the carrier and the tracking number, which the customer then sees.",
            perform=perform_each(services.ship_order, "order_id"),
            is_permitted=may_ship,
            is_offered=has_status(OrderStatus.PAID),
            form=TrackingForm,
        ),
        Action(
            name="deliver",
            label="Mark as delivered",
            done="Delivered",
            help="The customer has the parcel. This is the last status.",
            perform=perform_each(services.deliver_order, "order_id"),
            is_permitted=may_ship,
            is_offered=has_status(OrderStatus.SHIPPED),
        ),
        Action(
            name="cancel",
            label="Cancel",
            done="Cancelled",
            help="The order is kept, and cannot be paid any more.",
            perform=perform_each(services.cancel_order, "order_id"),
            is_permitted=may_write,
            is_offered=has_status(OrderStatus.PENDING),
            confirmed_from=1,
            is_dangerous=True,
        ),
    ]
    change_form_outer_after_template = "orders/states.html"

    list_display = ["id", "user", "show_status", "total", "show_created_at", "show_shipped_at", "show_delivered_at"]
    list_filter = [("status", ChoicesDropdownFilter)]
    list_lookups = frozenset({"status", "status__exact"})
    sortable_by = ["id"]
    search_fields = ["=id", "user__email__folded", "tracking_number__folded"]
    list_select_related = ["user"]
    ordering = ["-id"]
    may_open = staticmethod(policy.may_list_all_orders)
    select_rows = staticmethod(lambda actor: selectors.select_orders(actor).queryset())

    def describe_row(self, row: Order) -> str:
        return f"Of {row.user}"

    def may_see(self, actor: Actor, row: Order) -> bool:
        return policy.may_see_order(actor, row.user_id)

    def find_row(self, actor: Actor, row_id: str) -> Order | None:
        return selectors.select_order_by_id(actor, row_id).queryset().select_related("user").first()

    def build_form_context(self, request: HttpRequest, row: Order | None) -> dict[str, Any]:
        if row is None:
            return {}
        changes = selectors.list_state_changes(get_actor(request), str(row.pk))
        return {"states": [(change, describe_origin(change.person, change.origin)) for change in changes]}

    show_status = build_column("Status", lambda order: str(order.status), ordering="status", label=COLORS)
    show_shipped_at = build_time_column("shipped_at", "Shipped at")
    show_delivered_at = build_time_column("delivered_at", "Delivered at")
