from __future__ import annotations

from decimal import Decimal

import pghistory
import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from contentapi.db.ids import SharedIdField
from contentapi.events.triggers import ACTOR_OF_CONTEXT, Announcement
from contentapi.monitoring.audit import AuditEvent

SMALLEST_TOTAL = Decimal("0.01")
LARGEST_TOTAL = Decimal("99999999.99")
MAX_TRACKING = 100


class OrderStatus(models.TextChoices):
    PENDING = "pending"
    PAID = "paid"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    CANCELLED = "cancelled"


class Audit(AuditEvent):
    ORDER_PAID = "order.paid"
    ORDER_CANCELLED = "order.cancelled"
    ORDER_SHIPPED = "order.shipped"
    ORDER_DELIVERED = "order.delivered"


class OrderAction(models.TextChoices):
    """What a caller can do with an order. Orders do not store it."""

    CANCEL = "cancel"
    PAY = "pay"
    TRACK = "track"


ON_THE_WAY = (OrderStatus.SHIPPED, OrderStatus.DELIVERED)
VERSIONS = {
    OrderStatus.PENDING: 1,
    OrderStatus.PAID: 2,
    OrderStatus.CANCELLED: 2,
    OrderStatus.SHIPPED: 3,
    OrderStatus.DELIVERED: 4,
}

WHEN = " ".join(f"WHEN '{status}' THEN {number}" for status, number in VERSIONS.items())
EVENT = {
    "kind": "order",
    "subject_id": "NEW.id",
    "version": f"CASE NEW.status {WHEN} END",
    "now": "NEW.status",
    "actor_id": ACTOR_OF_CONTEXT,
    "owner_ids": "ARRAY[NEW.user_id]",
}


class Order(models.Model):
    """An order of a user. It remains when the user is deleted."""

    shard_key = "id"
    id = SharedIdField("ID", primary_key=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="orders", db_index=False
    )
    status = models.CharField(max_length=10, choices=OrderStatus.choices, default=OrderStatus.PENDING)
    total = models.DecimalField(max_digits=10, decimal_places=2)
    carrier = models.CharField(max_length=MAX_TRACKING, blank=True)
    tracking_number = models.CharField(max_length=MAX_TRACKING, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    shipped_at = models.DateTimeField(null=True, blank=True)
    delivered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(status__in=OrderStatus.values), name="orders_order_status_known"),
            models.CheckConstraint(
                condition=Q(total__gte=SMALLEST_TOTAL, total__lte=LARGEST_TOTAL),
                name="orders_order_total_range",
                violation_error_message=f"The total must be from {SMALLEST_TOTAL} to {LARGEST_TOTAL:,}.",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=ON_THE_WAY)
                | ~Q(carrier="") & ~Q(tracking_number="") & Q(shipped_at__isnull=False),
                name="orders_order_shipped_has_tracking",
                violation_error_message="A shipped order needs a carrier, a tracking number and the time.",
            ),
            models.CheckConstraint(
                condition=Q(status=OrderStatus.DELIVERED, delivered_at__isnull=False)
                | ~Q(status=OrderStatus.DELIVERED) & Q(delivered_at__isnull=True),
                name="orders_order_delivered_at_iff_delivered",
                violation_error_message="A delivered order, and no other, has a time of delivery.",
            ),
        ]
        indexes = [
            models.Index("user", F("id").desc(), name="orders_order_user_newest"),
            models.Index(fields=["user", "created_at", "id"], name="orders_order_user_created"),
            models.Index(fields=["created_at", "id"], name="orders_order_created"),
        ]
        triggers = [
            Announcement("created", **EVENT, type="'order.created'"),
            Announcement(
                "updated",
                **EVENT,
                condition="OLD.status <> NEW.status",
                type="'order.' || NEW.status",
                was="OLD.status",
                changes="ARRAY['status']",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pk}: {self.total} ({self.status})"

    @property
    def version(self) -> int:
        """The number of statuses that the order has had. Only the status changes, and an old one never returns."""
        return VERSIONS[OrderStatus(self.status)]


class OrderState(
    pghistory.create_event_model(  # type: ignore[misc]  # a class that pghistory makes
        Order,
        pghistory.InsertEvent(),
        pghistory.UpdateEvent(condition=pgtrigger.AnyChange("status")),
        fields=["id", "status"],
        obj_field=None,
        context_field=pghistory.ContextJSONField(),
        context_id_field=None,
    )
):
    """A status that an order has had. A trigger writes it, regardless of who changed the order and how.

    `id` is the id of the order, `pgh_created_at` the time at which the status began. `pgh_context` has the person and
    the credential as `changed_by` and `changed_with`; it is null after a change in SQL or in the shell.
    """

    shard_key = "id"
    pgh_id = models.BigAutoField(primary_key=True)

    class Meta:
        indexes = [models.Index(fields=["id", "pgh_id"], name="orders_orderstate_order")]

    def __str__(self) -> str:
        return f"{self.id}: {self.status}"
