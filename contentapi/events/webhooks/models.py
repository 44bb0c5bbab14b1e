"""The tables of webhooks. Deliveries and their attempts have a partition for each day, like the log of events."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from contentapi.core.identity import Scope
from contentapi.db.ids import SharedIdField

MAX_NAME = 150
MAX_URL = 2000
MAX_SELECTION = 8 * 1024
LONGEST_COALESCE = 300  # seconds
BATCH_TYPE = "events.batch"
NO_SUBJECT = 0  # of a delivery of many events; they are delivered one after the other, as those of one subject
PING = "webhook.ping"


class DisabledReason(models.TextChoices):
    """Why a webhook sends nothing."""

    PERSON = "person", "an admin has disabled it"
    GONE = "gone", "the receiver answered 410"
    FAILURES = "failures", "nothing but failures for five days"
    MAKER = "maker", "the user who created it is deleted or locked"


class Webhook(models.Model):
    """An address to which events are sent, with the rights of its maker, limited to its own scopes."""

    id = SharedIdField("ID", primary_key=True)
    name = models.CharField(max_length=MAX_NAME)
    url = models.CharField(max_length=MAX_URL)
    types = ArrayField(models.TextField())
    selection = models.TextField(default="", help_text="GraphQL fragments. Without any, data is that of REST.")
    coalesce = models.SmallIntegerField(default=0, help_text="Seconds; 0 sends each event.")
    scopes = ArrayField(models.CharField(max_length=32))
    # No constraint: servers of an earlier release, which do not know this table, delete users.
    maker = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    version = models.BigIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now)
    disabled_at = models.DateTimeField(null=True)
    disabled_reason = models.CharField(max_length=10, choices=DisabledReason.choices, default="", blank=True)
    failing_since = models.DateTimeField(null=True)  # the first failure after the last success
    secret = models.BinaryField(help_text="Encrypted.")
    previous_secret = models.BinaryField(null=True, help_text="Encrypted. It signs too until previous_until.")
    previous_until = models.DateTimeField(null=True)
    epoch = models.TextField(default="")  # of the log, to which the position belongs
    position = models.BigIntegerField(default=0)  # up to which the deliveries of events are planned
    planned_at = models.DateTimeField(null=True)  # the last delivery of many events (`coalesce`)
    due_at = models.DateTimeField(null=True)  # before which no delivery is due
    lease = models.UUIDField(null=True)  # names the sender that owns the webhook until `leased_until`
    leased_until = models.DateTimeField(null=True)

    class Meta:
        db_table = "events_webhook"
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="events_webhook_name_present"),
            models.CheckConstraint(
                condition=Q(coalesce__gte=0, coalesce__lte=LONGEST_COALESCE), name="events_webhook_coalesce_range"
            ),
            models.CheckConstraint(
                condition=Q(disabled_at__isnull=True, disabled_reason="")
                | Q(disabled_at__isnull=False) & ~Q(disabled_reason=""),
                name="events_webhook_reason_iff_disabled",
            ),
        ]
        indexes = [models.Index(fields=["created_at", "id"], name="events_webhook_created")]

    def __str__(self) -> str:
        return self.name

    @property
    def is_enabled(self) -> bool:
        return self.disabled_at is None

    @property
    def granted(self) -> frozenset[Scope]:
        """The scopes that are known in this release."""
        return frozenset(Scope(scope) for scope in self.scopes if scope in Scope.values)


class DeliveryState(models.TextChoices):
    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Delivery(models.Model):
    """An event for a webhook, or several (`batch`), or a ping. The primary key of the table includes `day`."""

    id = SharedIdField("ID", primary_key=True)
    day = models.DateField()
    webhook = models.ForeignKey(
        Webhook, on_delete=models.DO_NOTHING, related_name="deliveries", db_constraint=False, db_index=False
    )
    message_id = models.TextField()  # the `webhook-id` of all its attempts
    type = models.TextField()
    subject_id = models.BigIntegerField(null=True, help_text="0 for batches, null for pings.")
    position = models.BigIntegerField(null=True)  # of the last event; null for a ping
    batch = models.JSONField(null=True, help_text="The body of a delivery of several events.")
    state = models.TextField(choices=DeliveryState.choices, default=DeliveryState.WAITING, db_default="waiting")
    attempts = models.SmallIntegerField(default=0, db_default=0)
    # Of the attempts, those since it was planned or sent again: they decide when the next one is.
    tries = models.SmallIntegerField(default=0, db_default=0)
    due_at = models.DateTimeField(null=True)  # null while another one of its subject is before it
    created_at = models.DateTimeField(default=timezone.now, db_default=Now())
    finished_at = models.DateTimeField(null=True)
    status = models.SmallIntegerField(null=True, help_text="Of the last response.")
    error = models.TextField(default="", db_default="")

    class Meta:
        db_table = "events_delivery"
        indexes = [
            models.Index(fields=["webhook", "created_at", "id"], name="events_delivery_webhook"),
            models.Index(fields=["webhook", "position"], name="events_delivery_position"),
            models.Index(fields=["webhook", "due_at", "id"], name="events_delivery_due", condition=Q(state="waiting")),
            models.Index(
                fields=["webhook", "subject_id", "id"], name="events_delivery_subject", condition=Q(state="waiting")
            ),
            models.Index(
                fields=["webhook", "state", "created_at", "id"],
                name="events_delivery_state",
                condition=Q(state__in=["waiting", "failed", "cancelled"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.message_id}"

    @property
    def first(self) -> int | None:
        """The position of the first of several events."""
        return None if self.batch is None else int(self.batch["first"])


class Attempt(models.Model):
    """An attempt to send a delivery. `status` is null if there was no response: `error` says why."""

    id = SharedIdField("ID", primary_key=True)
    day = models.DateField()
    delivery = models.ForeignKey(
        Delivery, on_delete=models.DO_NOTHING, related_name="log", db_constraint=False, db_index=False
    )
    number = models.SmallIntegerField()
    started_at = models.DateTimeField()
    seconds = models.FloatField()
    status = models.SmallIntegerField(null=True)
    error = models.TextField(default="", db_default="")
    response = models.TextField(default="", db_default="", help_text="The first 4 KiB of its body.")

    class Meta:
        db_table = "events_attempt"
        indexes = [models.Index(fields=["delivery", "number"], name="events_attempt_delivery")]

    def __str__(self) -> str:
        return f"{self.number} of {self.delivery_id}"
