from django.contrib import admin
from django.db.models import QuerySet
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from contentapi.core import policy
from contentapi.core.identity import Actor
from orders import selectors
from orders.models import Order, OrderStatus
from users.admin_bases import PolicyAdmin, render_time


@admin.register(Order)
class OrderAdmin(PolicyAdmin):
    """Orders are looked at here. They move only by the API and the operators' commands, which keep their rules."""

    list_display = ["id", "user", "show_status", "total", "show_created_at", "show_shipped_at", "show_delivered_at"]
    list_filter = [("status", ChoicesDropdownFilter)]
    list_lookups = frozenset({"status", "status__exact"})
    list_filter_submit = True
    sortable_by = ["id"]
    search_fields = ["=id", "user__email", "tracking_number"]
    list_select_related = ["user"]
    ordering = ["-id"]

    def may_open(self, actor: Actor) -> bool:
        return policy.may_list_everybodys_orders(actor)

    def select_rows(self, actor: Actor) -> QuerySet[Order]:
        return selectors.select_orders(actor)

    def may_see(self, actor: Actor, row: Order) -> bool:
        return policy.may_see_order(actor, row.user_id)

    @display(
        description="Status",
        ordering="status",
        label={
            OrderStatus.PENDING.value: "warning",
            OrderStatus.PAID.value: "info",
            OrderStatus.SHIPPED.value: "info",
            OrderStatus.DELIVERED.value: "success",
            OrderStatus.CANCELLED.value: "default",
        },
    )
    def show_status(self, order: Order) -> str:
        return str(order.status)

    @display(description="Created")
    def show_created_at(self, order: Order) -> SafeString | None:
        return render_time(order.created_at)

    @display(description="Shipped")
    def show_shipped_at(self, order: Order) -> SafeString | None:
        return render_time(order.shipped_at)

    @display(description="Delivered")
    def show_delivered_at(self, order: Order) -> SafeString | None:
        return render_time(order.delivered_at)
