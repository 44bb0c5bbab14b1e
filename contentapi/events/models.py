"""The tables of events. `contentapi.events.triggers` fills the outbox, `contentapi.events.relay` the log.

Tickets are of streams. The models of webhooks are in `contentapi.events.webhooks.models`.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from contentapi.events.webhooks.models import Attempt, Delivery, Webhook

__all__ = ["Attempt", "Delivery", "Event", "Log", "OutboxEvent", "Webhook"]


class EventColumns(models.Model):
    """What the outbox and the log state of an event.

    `is_public` says whether everybody could see the object before or after the change, `owner_ids` who else could: the
    authors of the post, or the user. `now` and `was` are states.
    """

    type = models.TextField()
    timestamp = models.DateTimeField()
    subject_id = models.BigIntegerField()
    parent_id = models.BigIntegerField(null=True, help_text="The id of the post of a comment.")
    version = models.BigIntegerField(null=True)
    was = models.TextField(null=True)  # noqa: DJ001 - null: it did not exist
    now = models.TextField(null=True)  # noqa: DJ001 - null: it does not exist
    changes = ArrayField(models.TextField(), default=list, db_default=[])
    actor_id = models.BigIntegerField(null=True)
    is_public = models.BooleanField(default=False, db_default=False)
    owner_ids = ArrayField(models.BigIntegerField(), default=list, db_default=[])

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.type} {self.subject_id}"


class OutboxEvent(EventColumns):
    """An event that has no position yet. It is deleted when it gets one."""

    shard_key, shard_default = "parent_id", "subject_id"
    id = models.BigAutoField(primary_key=True)
    timestamp = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "events_outbox"


class Event(EventColumns):
    """An event of the log. The table has a partition for each day on which the relay has moved events.

    The primary key of the table includes `day`. Positions alone are unique too: the relay takes them from `Log`.
    """

    position = models.BigIntegerField(primary_key=True)
    day = models.DateField()

    class Meta:
        db_table = "events_event"
        indexes = [models.Index(fields=["subject_id", "position"], name="events_event_subject")]


class Log(models.Model):
    """The one row that states how far the log is.

    `epoch` changes when positions may be given a second time: when the database becomes another one, after a restore or
    a failover. `server` identifies the database that `epoch` belongs to. `expired` is the last position that is not
    kept any more. All events of the outbox with ids up to `moved` are in the log; the others are of the relay.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    epoch = models.TextField()
    position = models.BigIntegerField(default=0, db_default=0)
    expired = models.BigIntegerField(default=0, db_default=0)
    server = models.TextField()
    moved = models.BigIntegerField(default=0, db_default=0)
    next_moved = models.BigIntegerField(default=0, db_default=0)
    next_xid = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        db_table = "events_log"

    def __str__(self) -> str:
        return f"{self.epoch}-{self.position}"


class Ticket(models.Model):
    """A secret that replaces a credential, to open one stream. See `contentapi.events.tickets`."""

    digest = models.CharField(primary_key=True, max_length=64, help_text="SHA-256 of the ticket.")
    credential = models.BinaryField(help_text="The credential that it replaces, encrypted.")
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "events_ticket"

    def __str__(self) -> str:
        return self.digest
