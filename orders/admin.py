from django.contrib import admin
from django.http import HttpRequest

from orders.models import Order


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    """Orders are looked at here. They move only by the API and the operators' commands, which keep their rules."""

    list_display = ["id", "user", "status", "total", "created_at", "shipped_at", "delivered_at"]
    list_filter = ["status"]
    search_fields = ["=id", "user__email", "tracking_number"]
    list_select_related = ["user"]
    ordering = ["-id"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Order | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Order | None = None) -> bool:
        return False
